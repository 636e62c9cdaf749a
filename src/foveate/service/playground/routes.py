"""`/` and `/playground`: the page, its parts and the chart library, without a key.

The files are read once and looked up by name, so that no path of a request is ever opened. The page
gets its data from the public API, with the caller's own key.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from blake3 import blake3
from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from foveate.core.errors import MissingExtra
from foveate.core.stages.order import LOST_IN_THE_MIDDLE
from foveate.core.text.terms import STOP_WORDS
from foveate.core.zones import Budget
from foveate.pipeline.reason_messages import (
    COUNTERFACTUALS,
    REASON_SENTENCES,
    SINGULAR_PATTERN,
    STITCHED_SENTENCES,
)

_OWN_STYLE = re.compile(rb'getElementById\("([0-9a-f]{32,})"\)')


@lru_cache(maxsize=1)
def chart_library() -> bytes:
    """`plotly.min.js`; raises `MissingExtra` without the package."""
    try:
        import plotly
    except ImportError:
        raise MissingExtra("plotly", "serve") from None
    return (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_bytes()


@lru_cache(maxsize=1)
def page_data_json() -> bytes:
    """What the page knows of the package, as one JSON object: see `js/known.js`.

    `styles`: the ids under which plotly would put styles of its maps into the page, whose policy
    allows no inline styles; the page has no maps, and puts empty elements there.
    """
    styles = {found.decode() for found in _OWN_STYLE.findall(chart_library())}
    data = {
        "sentences": dict(REASON_SENTENCES),
        "stitched": STITCHED_SENTENCES,
        "counterfactuals": dict(COUNTERFACTUALS),
        "several": SINGULAR_PATTERN.pattern,
        "light": {language: sorted(words) for language, words in STOP_WORDS.items()},
        "zones": {field.name: field.default for field in fields(Budget)},
        "curve": LOST_IN_THE_MIDDLE,
        "styles": sorted(styles),
    }
    return json.dumps(data, ensure_ascii=False).encode()


MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
CHART_FILE = "plotly.min.js"
GZIP_MIN_BYTES = 1_024
"""Bytes below which packing is not worth the while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file as it is sent: plain, compressed (empty if that is not worthwhile), and its ETag."""

    content: bytes
    compressed: bytes
    media_type: str
    etag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The page, and its parts by their paths below it: `MARK/css/base.css`, …"""

    index: File
    parts: Mapping[str, File]
    charts: str


def find_file(name: str) -> File | None:
    """The file at this path below `/playground/`; raises `MissingExtra` without plotly."""
    page = load_page()
    if name in (CHART_FILE, page.charts):
        return load_charts()
    return page.parts.get(name) if name else page.index


@lru_cache(maxsize=1)
def load_page() -> Page:
    """The page without the chart library, which is large and loaded with the first chart.

    The path of each part has a mark of all parts, so that browsers may cache them for good and
    never mix two versions.
    """
    folder = files("foveate.service.playground") / "page"
    parts = dict(_read_folder(folder, ""))
    parts["known.json"] = _build_file("known.json", page_data_json())
    start = parts.pop("index.html").content.decode()
    marks = "".join(f"{name}{parts[name].etag}" for name in sorted(parts))
    mark = blake3(marks.encode() + chart_library()).hexdigest(6)
    for link in ('src="', 'href="'):
        for kind in ("css/", "js/", "mark.svg"):
            start = start.replace(f"{link}{kind}", f"{link}{mark}/{kind}")
    return Page(
        index=_build_file("index.html", start.encode()),
        parts={f"{mark}/{name}": part for name, part in parts.items()},
        charts=f"{mark}/{CHART_FILE}",
    )


@lru_cache(maxsize=1)
def load_charts() -> File:
    """The chart library, compressed once."""
    return _build_file(CHART_FILE, chart_library())


def _read_folder(folder: Traversable, prefix: str) -> Iterator[tuple[str, File]]:
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            yield from _read_folder(entry, f"{name}/")
        elif Path(entry.name).suffix in MEDIA_TYPES:
            yield name, _build_file(name, entry.read_bytes())


def _build_file(name: str, content: bytes) -> File:
    return File(
        content=content,
        compressed=gzip.compress(content, 6, mtime=0) if len(content) > GZIP_MIN_BYTES else b"",
        media_type=MEDIA_TYPES[Path(name).suffix],
        etag=f'"{blake3(content).hexdigest(16)}"',
    )


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
}
REVALIDATE = "no-cache"
IMMUTABLE = "public, max-age=31536000, immutable"
REDIRECT = {**HEADERS, "Location": "/playground/", "Cache-Control": REVALIDATE}

router = APIRouter(include_in_schema=False)


@router.get("/")
async def redirect_root() -> Response:
    """The page, for a browser at the bare address; a temporary redirect, as it may move."""
    return Response(status_code=307, headers=REDIRECT)


@router.get("/playground")
async def redirect_playground() -> Response:
    """The page's own folder, so that its relative links hold."""
    return Response(status_code=308, headers=REDIRECT)


@router.get("/playground/{name:path}")
async def get_file(name: str, request: Request) -> Response:
    """One of the files; names are looked up, never opened."""
    found = await asyncio.to_thread(find_file, name)
    if found is None:
        raise HTTPException(404)
    cache = IMMUTABLE if "/" in name else REVALIDATE
    headers = {**HEADERS, "ETag": found.etag, "Cache-Control": cache}
    if found.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    content = found.content
    if found.compressed and "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        content = found.compressed
    return Response(content, media_type=found.media_type, headers=headers)

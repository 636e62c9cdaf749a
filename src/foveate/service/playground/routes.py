"""`/` and `/playground`: the page, its parts and the chart library, without a key.

The files are read once and looked up by name, so that no path of a request is ever opened. The page
gets its data from the public API, with the caller's own key.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import fields
from functools import lru_cache
from pathlib import Path

from blake3 import blake3
from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
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


@lru_cache(maxsize=1)
def load_files() -> dict[str, bytes]:
    """Each file by its path below `/playground/`; the page's own is empty.

    The path of each part begins with a mark of all parts, so that browsers may cache them for good
    and never mix two versions. Raises `MissingExtra` without plotly.
    """
    folder = Path(__file__).with_name("page")
    found = sorted(path for path in folder.rglob("*") if path.suffix in MEDIA_TYPES)
    parts = {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}
    parts |= {"known.json": page_data_json(), "plotly.min.js": chart_library()}
    start = parts.pop("index.html").decode()
    mark = blake3(b"\0".join((*map(str.encode, parts), *parts.values()))).hexdigest(6)
    page = re.sub(r'((?:src|href)=")(?=css/|js/|mark\.svg)', rf"\g<1>{mark}/", start)
    return {"": page.encode()} | {f"{mark}/{name}": part for name, part in parts.items()}


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
IMMUTABLE = "public, max-age=31536000, immutable"

router = APIRouter(include_in_schema=False)


@router.get("/")
async def redirect_root() -> Response:
    """The page, for a browser at the bare address; a temporary redirect, as it may move."""
    return RedirectResponse("/playground/", 307, headers=HEADERS)


@router.get("/playground")
async def redirect_playground() -> Response:
    """The page's own folder, so that its relative links hold."""
    return RedirectResponse("/playground/", 308, headers=HEADERS)


@router.get("/playground/{name:path}")
async def get_file(name: str, request: Request) -> Response:
    """One of the files; names are looked up, never opened."""
    content = (await asyncio.to_thread(load_files)).get(name)
    if content is None:
        raise HTTPException(404)
    if name:
        headers = {**HEADERS, "Cache-Control": IMMUTABLE}
        return Response(content, media_type=MEDIA_TYPES[Path(name).suffix], headers=headers)
    headers = {**HEADERS, "ETag": f'"{blake3(content).hexdigest(16)}"'}
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=MEDIA_TYPES[".html"], headers=headers)

"""The page's files by name: read once, so that no path of a request is ever opened."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from blake3 import blake3

from foveate.service.playground.charts import chart_library
from foveate.service.playground.page_data import page_data_json

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
    """What is sent: as it is, packed (empty: not worth it), and its mark."""

    content: bytes
    compressed: bytes
    media_type: str
    etag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The page, and its parts by their addresses below it: `MARK/css/base.css`, …"""

    index: File
    parts: Mapping[str, File]
    charts: str


def find_file(name: str) -> File | None:
    """The file of this name below `/playground/`; None where there is none.

    Raises `MissingExtra` where the chart library's package is not there.
    """
    found = load_page()
    if name in (CHART_FILE, found.charts):
        return load_charts()
    return found.parts.get(name) if name else found.index


@lru_cache(maxsize=1)
def load_page() -> Page:
    """All of it but the chart library, which is large and comes when a chart is looked at.

    A mark of all parts stands in the address of each, so that browsers may keep them for good and
    never mix those of two versions.
    """
    folder = files("foveate.service.playground") / "page"
    parts = {
        **dict(_read_folder(folder, "")),
        "known.json": _build_file("known.json", page_data_json()),
    }
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
    """The chart library, packed once."""
    return _build_file(CHART_FILE, chart_library())


def _read_folder(folder: Traversable, prefix: str) -> list[tuple[str, File]]:
    found = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            found += _read_folder(entry, f"{name}/")
        elif Path(entry.name).suffix in MEDIA_TYPES:
            found.append((name, _build_file(name, entry.read_bytes())))
    return found


def _build_file(name: str, content: bytes) -> File:
    packed = gzip.compress(content, 6, mtime=0) if len(content) > GZIP_MIN_BYTES else b""
    mark = f'"{blake3(content).hexdigest(16)}"'
    return File(
        content=content, compressed=packed, media_type=MEDIA_TYPES[Path(name).suffix], etag=mark
    )

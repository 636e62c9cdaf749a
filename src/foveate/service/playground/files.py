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
from foveate.service.playground.known import known

MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
CHARTS = "plotly.min.js"
SMALL = 1_024
"""Bytes below which packing is not worth the while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """What is sent: as it is, packed (empty: not worth it), and its mark."""

    content: bytes
    packed: bytes
    media: str
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The page, and its parts by their addresses below it: `MARK/css/base.css`, …"""

    start: File
    parts: Mapping[str, File]
    charts: str


def named(name: str) -> File | None:
    """The file of this name below `/playground/`; None where there is none.

    Raises `MissingExtra` where the chart library's package is not there.
    """
    found = page()
    if name in (CHARTS, found.charts):
        return charts()
    return found.parts.get(name) if name else found.start


@lru_cache(maxsize=1)
def page() -> Page:
    """All of it but the chart library, which is large and comes when a chart is looked at.

    A mark of all parts stands in the address of each, so that browsers may keep them for good and
    never mix those of two versions.
    """
    folder = files("foveate.service.playground") / "page"
    parts = {**dict(_below(folder, "")), "known.json": _file("known.json", known())}
    start = parts.pop("index.html").content.decode()
    marks = "".join(f"{name}{parts[name].mark}" for name in sorted(parts))
    mark = blake3(marks.encode() + chart_library()).hexdigest(6)
    for link in ('src="', 'href="'):
        for kind in ("css/", "js/", "mark.svg"):
            start = start.replace(f"{link}{kind}", f"{link}{mark}/{kind}")
    return Page(
        start=_file("index.html", start.encode()),
        parts={f"{mark}/{name}": part for name, part in parts.items()},
        charts=f"{mark}/{CHARTS}",
    )


@lru_cache(maxsize=1)
def charts() -> File:
    """The chart library, packed once."""
    return _file(CHARTS, chart_library())


def _below(folder: Traversable, prefix: str) -> list[tuple[str, File]]:
    found = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            found += _below(entry, f"{name}/")
        elif Path(entry.name).suffix in MEDIA:
            found.append((name, _file(name, entry.read_bytes())))
    return found


def _file(name: str, content: bytes) -> File:
    packed = gzip.compress(content, 6, mtime=0) if len(content) > SMALL else b""
    mark = f'"{blake3(content).hexdigest(16)}"'
    return File(content=content, packed=packed, media=MEDIA[Path(name).suffix], mark=mark)

"""Reads EPUB books: the chapters in the order of the spine, read as HTML, with their headings.

Nothing but the package, the chapters and the list of what is encrypted is opened. A chapter that
the spine names twice is read once.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from foveate.core.errors import BadInput
from foveate.ingest.loaders.archive import Archive, Properties, properties_from_texts
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.decode import declared_encoding, decode
from foveate.ingest.loaders.html_formulas import write_formulas
from foveate.ingest.loaders.html_tables import merge_cells
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.page import read_page
from foveate.ingest.loaders.tags import parse_tags
from foveate.ingest.loaders.text import sections_from_headings
from foveate.ports import LoadedDocument

_CHAPTERS = ("application/xhtml+xml", "text/html")
_MAX_LENGTH = 1_000
_ALONE = re.compile(r"<([A-Za-z][\w:-]*+)([^<>]*)/>")  # an element that HTML would leave open


def load_epub(data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS) -> tuple[LoadedDocument]:
    """The book as one document; raises `BadInput` if it is damaged, protected or over a limit."""
    archive = Archive(data, limits)
    properties, chapters = _read_package(archive, _package_part(archive))
    limits.check_bound("pages", len(chapters), "chapters")
    protected = _encrypted_parts(archive)
    blocks, pictures = Blocks(limits), set[str]()
    for part in chapters:
        if part in protected:
            raise BadInput("encrypted: its chapters are protected against copying")
        if archive.has(part):
            pictures |= _add_chapter(archive.read(part), blocks)
    blocks.leave_out("pictures", len(pictures))
    text = blocks.text()
    sections = sections_from_headings(text, blocks.headings)
    return (properties.document(blocks, path.stem, sections),)


def _add_chapter(data: bytes, blocks: Blocks) -> set[str]:
    """Write the chapter; its pictures."""
    source = decode(data, declared_encoding(data))
    source = _ALONE.sub(r"<\1\2></\1>", source)
    page, text = read_page(lambda: merge_cells(write_formulas(parse_tags(source))))
    start = blocks.add_paragraph(text)
    blocks.headings += [(at + start, level, name) for at, level, name in page.headings]
    return page.pictures


def _package_part(archive: Archive) -> str:
    for name, given in archive.starts("META-INF/container.xml"):
        if name == "rootfile" and archive.has(given.get("full-path", "")):
            return given["full-path"]
    raise BadInput("a zip archive, but not an EPUB book: it names no package")


def _read_package(archive: Archive, part: str) -> tuple[Properties, list[str]]:
    """The book's properties, and the chapters' parts in the order of the spine."""
    values: dict[str, str] = {}
    chapters: list[str] = []
    parts: dict[str, str] = {}
    inside = ""
    for kind, name, given in archive.events(part):
        if kind == "text":
            if inside and len(values.get(inside, "")) < _MAX_LENGTH:
                values[inside] = values.get(inside, "") + name
            continue
        inside = "" if kind == "end" else _property(name, given, values)
        if kind == "start" and name == "item" and given.get("media-type") in _CHAPTERS:
            parts[given.get("id", "")] = _part_name(part, given.get("href", ""))
        elif kind == "start" and name == "itemref":
            chapters.append(parts.pop(given.get("idref", ""), ""))
    said = (values.get(name, "") for name in ("title", "creator", "modified"))
    return properties_from_texts(*said), [each for each in chapters if each]


def _property(name: str, given: Mapping[str, str], known: Mapping[str, str]) -> str:
    """The property whose value the element holds, or empty; of several the first counts."""
    if name == "meta" and given.get("property") == "dcterms:modified":
        name = "modified"
    return name if name in ("title", "creator", "modified") and name not in known else ""


def _part_name(package: str, href: str) -> str:
    """The part that a reference of the package leads to."""
    there = unquote(href.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(package), there)).lstrip("/")


def _encrypted_parts(archive: Archive) -> frozenset[str]:
    """The parts that need a key; fonts, which are often hidden, among them."""
    return frozenset(
        unquote(given.get("URI", ""))
        for name, given in archive.starts("META-INF/encryption.xml")
        if name == "CipherReference"
    )

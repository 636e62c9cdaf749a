r"""Reads Word files: headings as sections, lists with their marks, tables as rows.

There are no page numbers before layout. Notes appear in brackets at their reference. Left out:
headers, footers, comments, deleted and hidden text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from foveate.ingest.loaders.archive import Archive, Properties, read_properties
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.loaders.text import sections_from_headings
from foveate.ingest.loaders.word_styles import (
    REFERENCES,
    Numbering,
    Style,
    read_notes,
    read_numbering,
    read_styles,
)
from foveate.ports import LoadedDocument

_SKIPPED_ELEMENTS = frozenset(
    {"Fallback", "del", "delText", "instrText", "moveFrom"} | {"pPrChange", "rPrChange"}
)
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_FALSE_VALUES = ("0", "false", "off")


def load_docx(data: bytes, path: Path, *, limits: Limits | None = None) -> tuple[LoadedDocument]:
    """The file as one document, titled by its properties, its title paragraph or its name."""
    bounds = limits or Limits()
    archive = Archive(data, bounds)
    part = archive.main_part("document")
    body = _Body(
        Blocks(bounds),
        read_styles(archive, archive.related_part(part, "styles")),
        read_numbering(archive, archive.related_part(part, "numbering")),
        read_notes(archive, part, bounds),
    )
    for kind, name, given in archive.events(part):
        body.handle_event(kind, name, given)
    told = read_properties(archive)
    return (_build_document(body, told, path),)


def _build_document(body: _Body, told: Properties, path: Path) -> LoadedDocument:
    text = body.blocks.text()
    first = next((title for _, level, title in body.blocks.headings if level == 1), path.stem)
    return LoadedDocument(
        text=text,
        title=told.title or body.title or first,
        sections=sections_from_headings(text, body.blocks.headings),
        metadata={"author": told.author} if told.author else {},
        modified_at=told.modified_at,
        lines=False,
    )


@dataclass(slots=True)
class _Paragraph:
    parts: list[str] = field(default_factory=list)
    style: str = ""
    level: int | None = None
    number: str | None = None
    depth: int = 0
    hidden: bool = False


@dataclass(slots=True)
class _Body:
    """The document's state; text boxes and table cells contain paragraphs of their own."""

    blocks: Blocks
    styles: dict[str, Style]
    numbering: Numbering
    notes: dict[tuple[str, str], str]
    title: str = ""
    _open: list[_Paragraph] = field(default_factory=list)
    _cells: list[list[str]] = field(default_factory=list)
    _tables: int = 0
    _skipped: int = 0
    _in_properties: bool = False
    _in_text: bool = False

    def handle_event(self, kind: str, name: str, given: dict[str, str]) -> None:
        """One event of the main part."""
        if kind == "text":
            if self._in_text and not self._skipped and self._open and not self._open[-1].hidden:
                self._open[-1].parts.append(name)
        elif name in _SKIPPED_ELEMENTS:
            self._skipped += 1 if kind == "start" else -1
        elif not self._skipped:
            (self._start if kind == "start" else self._end)(name, given)

    def _start(self, name: str, given: dict[str, str]) -> None:
        if name == "p":
            self._open.append(_Paragraph())
        elif name == "t":
            self._in_text = True
        elif name in ("pPr", "rPr"):
            self._in_properties = True
        elif name == "tbl":
            self._tables += 1
        elif name == "tr" and self._tables == 1:
            self._cells.append([])
        elif name == "tc" and self._tables == 1 and self._cells:
            self._cells[-1].append("")
        elif self._open and self._in_properties:
            self._set_property(name, given.get("val", ""))
        elif self._open and name == "r":
            self._open[-1].hidden = False
        elif self._open:
            self._open[-1].parts.append(_SIGNS.get(name, "") or self._take_note(name, given))

    def _take_note(self, name: str, given: dict[str, str]) -> str:
        """Take the note once: a long one may be referred to a million times."""
        note = self.notes.pop((REFERENCES.get(name, ""), given.get("id", "")), "")
        return f" [{note}]" if note else ""

    def _set_property(self, name: str, value: str) -> None:
        paragraph = self._open[-1]
        if name == "pStyle":
            paragraph.style = value
        elif name == "outlineLvl" and value.isdecimal():
            paragraph.level = int(value) + 1 if int(value) < 9 else None
        elif name == "numId":
            paragraph.number = value
        elif name == "ilvl" and value.isdecimal():
            paragraph.depth = min(int(value), 9)
        elif name == "vanish":
            paragraph.hidden = value not in _FALSE_VALUES

    def _end(self, name: str, _: dict[str, str]) -> None:
        if name == "t":
            self._in_text = False
        elif name == "pPr" and self._open:
            self._in_properties = self._open[-1].hidden = False
        elif name == "rPr":
            self._in_properties = False
        elif name == "p" and self._open:
            self._end_paragraph(self._open.pop())
        elif name == "tbl":
            self._tables -= 1
            self.blocks.end_group()
        elif name == "tr" and self._tables == 1 and self._cells:
            self.blocks.add_row(self._cells.pop())

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        text = "".join(paragraph.parts)
        if self._cells and self._cells[-1]:
            self._cells[-1][-1] += f" {text}"
            return
        style = self.styles.get(paragraph.style, Style())
        level = paragraph.level if paragraph.level is not None else style.level
        number = paragraph.number if paragraph.number is not None else style.numbered
        if not text.strip():
            return
        if level == 0:
            self.title = self.title or " ".join(text.split())
            self.blocks.add_heading(1, text, counts=False)
        elif level is not None:
            self.blocks.add_heading(level, text)
        elif number not in ("", "0"):
            self.blocks.add_item(
                paragraph.depth, self.numbering.next_mark(number, paragraph.depth), text
            )
        else:
            self.blocks.add_paragraph(text)

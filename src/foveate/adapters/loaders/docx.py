"""Word: headings as sections, lists with their marks, tables as rows. No page numbers.

A Word file has no pages until it is laid out, so there are none to cite. Footnotes and endnotes
stand in brackets where they are referred to. Left out: headers and footers, comments, what a
tracked change deleted, and text that is formatted as hidden.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from foveate.adapters.loaders.archive import Archive
from foveate.adapters.loaders.blocks import Blocks
from foveate.adapters.loaders.headings import sections
from foveate.adapters.loaders.limits import Limits
from foveate.adapters.loaders.office import Properties, properties
from foveate.adapters.loaders.word_notes import REFERENCES, notes
from foveate.adapters.loaders.word_styles import Numbering, Style, numbering, styles
from foveate.ports import Loaded

__all__ = ["load_docx"]

_LEFT_OUT = frozenset(
    {"Fallback", "del", "delText", "instrText", "moveFrom"} | {"pPrChange", "rPrChange"}
)
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_NO = ("0", "false", "off")


def load_docx(data: bytes, path: Path, *, limits: Limits | None = None) -> tuple[Loaded]:
    """The file as one document, titled by its properties, its title paragraph or its name."""
    bounds = limits or Limits()
    archive = Archive(data, bounds)
    part = archive.main("document")
    body = _Body(
        Blocks(bounds),
        styles(archive, archive.kin(part, "styles")),
        numbering(archive, archive.kin(part, "numbering")),
        notes(archive, part, bounds),
    )
    for kind, name, given in archive.events(part):
        body.take(kind, name, given)
    told = properties(archive)
    return (_loaded(body, told, path),)


def _loaded(body: _Body, told: Properties, path: Path) -> Loaded:
    text = body.blocks.text()
    first = next((title for _, level, title in body.blocks.headings if level == 1), path.stem)
    return Loaded(
        text=text,
        title=told.title or body.title or first,
        sections=sections(text, body.blocks.headings),
        metadata={"author": told.author} if told.author else {},
        modified_at=told.modified_at,
        lines=False,
    )


@dataclass(slots=True)
class _Paragraph:
    """A paragraph that is open: its text so far, and what its properties say."""

    parts: list[str] = field(default_factory=list)
    style: str = ""
    level: int | None = None
    number: str | None = None
    depth: int = 0
    hidden: bool = False


@dataclass(slots=True)
class _Body:
    """The document as it goes by. Text boxes are paragraphs in paragraphs, tables in cells too."""

    blocks: Blocks
    styles: dict[str, Style]
    numbering: Numbering
    notes: dict[tuple[str, str], str]
    title: str = ""
    _open: list[_Paragraph] = field(default_factory=list)
    _cells: list[list[str]] = field(default_factory=list)
    _tables: int = 0
    _skipped: int = 0
    _told: bool = False
    _speaks: bool = False

    def take(self, kind: str, name: str, given: dict[str, str]) -> None:
        """One event of the main part."""
        if kind == "text":
            if self._speaks and not self._skipped and self._open and not self._open[-1].hidden:
                self._open[-1].parts.append(name)
        elif name in _LEFT_OUT:
            self._skipped += 1 if kind == "start" else -1
        elif not self._skipped:
            (self._start if kind == "start" else self._end)(name, given)

    def _start(self, name: str, given: dict[str, str]) -> None:
        if name == "p":
            self._open.append(_Paragraph())
        elif name == "t":
            self._speaks = True
        elif name in ("pPr", "rPr"):
            self._told = True
        elif name == "tbl":
            self._tables += 1
        elif name == "tr" and self._tables == 1:
            self._cells.append([])
        elif name == "tc" and self._tables == 1 and self._cells:
            self._cells[-1].append("")
        elif self._open and self._told:
            self._property(name, given.get("val", ""))
        elif self._open and name == "r":
            self._open[-1].hidden = False
        elif self._open:
            self._open[-1].parts.append(_SIGNS.get(name, "") or self._note(name, given))

    def _note(self, name: str, given: dict[str, str]) -> str:
        """The note that is referred to, once: a long one may be referred to a million times."""
        note = self.notes.pop((REFERENCES.get(name, ""), given.get("id", "")), "")
        return f" [{note}]" if note else ""

    def _property(self, name: str, value: str) -> None:
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
            paragraph.hidden = value not in _NO

    def _end(self, name: str, _: dict[str, str]) -> None:
        if name == "t":
            self._speaks = False
        elif name == "pPr" and self._open:
            self._told = self._open[-1].hidden = False
        elif name == "rPr":
            self._told = False
        elif name == "p" and self._open:
            self._put(self._open.pop())
        elif name == "tbl":
            self._tables -= 1
            self.blocks.apart()
        elif name == "tr" and self._tables == 1 and self._cells:
            self.blocks.row(self._cells.pop())

    def _put(self, paragraph: _Paragraph) -> None:
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
            self.blocks.heading(1, text, counts=False)
        elif level is not None:
            self.blocks.heading(level, text)
        elif number not in ("", "0"):
            self.blocks.item(paragraph.depth, self.numbering.mark(number, paragraph.depth), text)
        else:
            self.blocks.paragraph(text)

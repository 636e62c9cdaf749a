"""Reads Word files: headings as sections, lists with their marks, tables as rows.

A paragraph of the style Title titles the document, and headings of level 1 stand below it.

There are no page numbers before layout. Notes appear in brackets at their reference. Left out:
headers, footers, comments, deleted and hidden text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from foveate.ingest.loaders.archive import Archive, read_properties
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.merged_cells import Cell, MergedCells
from foveate.ingest.loaders.pictures import Pictures, drawn_images
from foveate.ingest.loaders.text import sections_from_headings
from foveate.ports import LoadedDocument

_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_MAX_BASE_STYLES = 32  # styles based on styles


@dataclass(slots=True)
class Style:
    """A paragraph style: `level` is 1 for the highest heading, 0 for the title."""

    level: int | None = None
    numbered: str = ""
    based_on: str = ""


def read_styles(archive: Archive, part: str) -> dict[str, Style]:
    """The paragraph styles by id, each with what it takes over from the one it is based on."""
    found: dict[str, Style] = {}
    style = Style()
    for name, given in archive.starts(part):
        value = given.get("val", "")
        if name == "style":
            style = found[given.get("styleId", "")] = Style()
        elif name == "name" and style.level is None:
            style.level = _heading_level(value)
        elif name == "basedOn":
            style.based_on = value
        elif name == "outlineLvl" and value.isdigit() and int(value) < 9:
            style.level = int(value) + 1
        elif name == "numId":
            style.numbered = value
    for each in found.values():
        _inherit(each, found)
    return found


def _heading_level(name: str) -> int | None:
    match = _HEADING.fullmatch(name)
    return int(match[1]) if match else 0 if name.lower() == "title" else None


def _inherit(style: Style, known: dict[str, Style]) -> None:
    base = style.based_on
    for _ in range(_MAX_BASE_STYLES):
        parent = known.get(base)
        if parent is None:
            return
        if style.level is None and parent.level:
            style.level = parent.level
        style.numbered = style.numbered or parent.numbered
        base = parent.based_on


@dataclass(slots=True)
class Numbering:
    """Which lists count, by (list, depth), and how far they have come."""

    counting: set[tuple[str, int]] = field(default_factory=set)
    _reached: dict[tuple[str, int], int] = field(default_factory=dict)

    def next_mark(self, number: str, depth: int) -> str:
        """The mark of the list's next item: `-`, or `1.` if it counts."""
        for deeper in [key for key in self._reached if key[0] == number and key[1] > depth]:
            del self._reached[deeper]
        if (number, depth) not in self.counting:
            return "-"
        reached = self._reached.get((number, depth), 0) + 1
        self._reached[number, depth] = reached
        return f"{reached}."


def read_numbering(archive: Archive, part: str) -> Numbering:
    """The lists of the file."""
    counting: dict[str, set[int]] = {}
    kind_of: dict[str, str] = {}
    abstract = number = ""
    depth = 0
    for name, given in archive.starts(part):
        value = given.get("val", "")
        if name == "abstractNum":
            abstract = given.get("abstractNumId", "")
        elif name == "lvl":
            depth = _parse_number(given.get("ilvl", ""))
        elif name == "numFmt" and value not in ("bullet", "none"):
            counting.setdefault(abstract, set()).add(depth)
        elif name == "num":
            number = given.get("numId", "")
        elif name == "abstractNumId":
            kind_of[number] = value
    pairs = {(num, deep) for num, base in kind_of.items() for deep in counting.get(base, ())}
    return Numbering(counting=pairs)


def _parse_number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 4 else 0


REFERENCES = {"footnoteReference": "footnote", "endnoteReference": "endnote"}


def read_notes(archive: Archive, part: str, limits: Limits) -> dict[tuple[str, str], str]:
    """The notes by kind and id; what separates them from the page has no text."""
    found: dict[tuple[str, str], str] = {}
    size = 0
    for note in ("footnote", "endnote"):
        number, parts, speaks = "", list[str](), False
        for kind, name, given in archive.events(archive.related_part(part, f"{note}s")):
            if kind == "text":
                parts += [name] if speaks else []
                size += len(name)
                limits.check_bound("text_chars", size, "characters of notes")
                continue
            speaks = kind == "start" and name == "t"
            if name == note and kind == "start":
                number, parts = given.get("id", ""), []
            elif name == note:
                found[note, number] = " ".join("".join(parts).split())
            elif name == "p":
                parts.append(" ")
    return found


_SKIPPED_ELEMENTS = frozenset(
    {"Fallback", "del", "delText", "instrText", "moveFrom", "pPrChange", "rPrChange"}
    | {"tblPrChange", "tcPrChange", "trPrChange"}
)
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_TICKS = {
    "Wingdings": {"F0FC": "✓", "F0FB": "✗", "F0FE": "☑", "F0FD": "☒", "F0A8": "☐", "F06C": "●"},
    "Wingdings 2": {"F050": "✓", "F04F": "✗", "F052": "☑", "F053": "☒", "F0A3": "☐"},
}
"""What characters of fonts of signs stand for, by their code in the file."""
_FALSE_VALUES = ("0", "false", "off")


def load_docx(
    data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS, images: bool = False
) -> tuple[LoadedDocument]:
    """The file as one document, titled by its properties, its title paragraph or its name.

    `images`: whether the images in its text are read too.
    """
    archive = Archive(data, limits)
    part = archive.main_part("document")
    body = _Body(
        Blocks(limits),
        read_styles(archive, archive.related_part(part, "styles")),
        read_numbering(archive, archive.related_part(part, "numbering")),
        read_notes(archive, part, limits),
    )
    drawn = iter(drawn_images(archive, part) if images else ())
    pictures = Pictures(limits)
    for kind, name, given in archive.events(part):
        body.handle_event(kind, name, given)
        if images and (kind, name) == ("start", "blip"):
            found = next(drawn, None)
            if found is not None and not body.is_skipping:
                at = body.blocks.size
                pictures.add(archive.read(found[0]), at, at, caption=found[1])
    text, headings = body.blocks.text(), body.blocks.headings
    title = body.title or next((name for _, level, name in headings if level == 1), path.stem)
    sections = sections_from_headings(text, headings)
    loaded = read_properties(archive).document(text, title, sections)
    return (replace(loaded, images=tuple(pictures.found.values())),)


def _sign(name: str, given: dict[str, str]) -> str:
    """What an element stands for inside of a paragraph."""
    if name == "sym":
        return _TICKS.get(given.get("font", ""), {}).get(given.get("char", "").upper(), "")
    return _SIGNS.get(name, "")


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
    _cells: list[list[Cell]] = field(default_factory=list)
    _merged: MergedCells = field(default_factory=MergedCells)  # of the open table
    _tables: int = 0
    _skipped: int = 0
    _in_properties: bool = False
    _in_text: bool = False

    @property
    def is_skipping(self) -> bool:
        """Whether what comes is deleted or a second version."""
        return self._skipped > 0

    def handle_event(self, kind: str, name: str, given: dict[str, str]) -> None:
        """One event of the main part."""
        if kind == "text":
            if self._in_text and not self._skipped and self._open and not self._open[-1].hidden:
                self._open[-1].parts.append(name)
        elif name in _SKIPPED_ELEMENTS:
            self._skipped += 1 if kind == "start" else -1
        elif self._skipped:
            return
        elif name in ("gridSpan", "vMerge") and kind == "start":
            self._span(name, given.get("val", ""))
        else:
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
            self._cells[-1].append(Cell(""))
        elif self._open and self._in_properties:
            self._set_property(name, given.get("val", ""))
        elif self._open and name == "r":
            self._open[-1].hidden = False
        elif self._open:
            self._open[-1].parts.append(_sign(name, given) or self._take_note(name, given))

    def _span(self, name: str, value: str) -> None:
        """The open cell covers columns, or goes on with the one above."""
        cells = self._cells[-1] if self._cells and self._tables == 1 else []
        if cells and name == "gridSpan":
            cells[-1] = cells[-1]._replace(columns=max(_parse_number(value), 1))
        elif cells and value != "restart":
            cells[-1] = cells[-1]._replace(rows=0)

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
            if not self._tables:
                self.blocks.add_rows(self._merged.finish(), is_layout=self._merged.count == 1)
                self._merged = MergedCells(self._merged.allowance)
            self.blocks.end_group()
        elif name == "tr" and self._tables == 1 and self._cells:
            self.blocks.add_rows(self._merged.add(self._cells.pop()))

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        text = "".join(paragraph.parts)
        if self._cells and self._cells[-1]:
            cell = self._cells[-1][-1]
            self._cells[-1][-1] = cell._replace(text=f"{cell.text} {text}")
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
            self.blocks.add_heading(level, text, below_title=bool(self.title))
        elif number not in ("", "0"):
            self.blocks.add_item(
                paragraph.depth, self.numbering.next_mark(number, paragraph.depth), text
            )
        else:
            self.blocks.add_paragraph(text)

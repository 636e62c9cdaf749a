"""Reads Word files: headings as sections, lists with their marks, tables and charts as rows.

A paragraph of the style Title titles the document, and headings of level 1 stand below it.

There are no page numbers before layout. Notes appear in brackets at their reference. Left out:
headers, footers, comments, deleted and hidden text.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from foveate.ingest.loaders.archive import Archive, read_properties
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.drawings import DRAWN, Drawings
from foveate.ingest.loaders.formulas import Formula
from foveate.ingest.loaders.inline import PLAIN, Inline, Look, read_look
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.merged_cells import Cell, MergedCells
from foveate.ingest.loaders.pictures import DrawnPictures, Pictures, picture_words
from foveate.ingest.loaders.symbol_fonts import read_sign
from foveate.ingest.loaders.text import sections_from_headings
from foveate.ingest.loaders.word_styles import (
    Numbering,
    Style,
    parse_number,
    read_numbering,
    read_styles,
)
from foveate.ports import LoadedDocument

REFERENCES = {"footnoteReference": "footnote", "endnoteReference": "endnote"}


_SKIPPED_ELEMENTS = frozenset(
    {"Fallback", "del", "delText", "instrText", "moveFrom", "pPrChange", "rPrChange"}
    | {"tblPrChange", "tcPrChange", "trPrChange"}
)
_FALSE_VALUES = ("0", "false", "off")
_FIELDS = frozenset({"checkBox", "default", "checked", "ddList", "result", "listEntry"})
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def load_docx(
    data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS, images: bool = False
) -> tuple[LoadedDocument]:
    """The file as one document, titled by its properties, its title paragraph or its name.

    `images`: whether the images in its text are read too.
    """
    archive = Archive(data, limits)
    part = archive.main_part("document")
    styles = read_styles(archive, archive.related_part(part, "styles"))
    numbering = read_numbering(archive, archive.related_part(part, "numbering"))
    notes = _read_notes(archive, part, styles, numbering, limits)
    body = _Body(Blocks(limits), styles, numbering, notes)
    pictures, shown = Pictures(limits, images), DrawnPictures(archive, part)
    drawings, drawn = Drawings(archive, part), list[tuple[str, dict[str, str]]]()
    for kind, name, given in archive.events(part):
        body.handle_event(kind, name, given)
        if kind == "start" and shown.begins(name, given) and not body.is_skipping:
            at = body.blocks.size
            pictures.add(*shown.target(given), at, at, caption=shown.caption)
            body.add_text(picture_words(shown.caption))
        elif kind == "start" and name in DRAWN and not body.is_skipping:
            drawn.append((name, given))
        elif drawn and body.is_between:
            drawings.write(drawn, body.blocks)
            drawn.clear()
    drawings.write(drawn, body.blocks)
    text, headings = body.blocks.text(), body.blocks.headings
    title = body.title or next((name for _, level, name in headings if level == 1), path.stem)
    sections = sections_from_headings(text, headings)
    return (pictures.finish(read_properties(archive).document(body.blocks, title, sections)),)


def _read_notes(
    archive: Archive, part: str, styles: dict[str, Style], numbering: Numbering, limits: Limits
) -> dict[tuple[str, str], str]:
    """The notes by kind and id; what separates them from the page has no text."""
    found: dict[tuple[str, str], str] = {}
    size = 0
    for note in ("footnote", "endnote"):
        key, body = (note, ""), _Body(Blocks(limits), styles, numbering)
        for kind, name, given in archive.events(archive.related_part(part, f"{note}s")):
            if name == note and kind == "start":
                key, body = (note, given.get("id", "")), _Body(Blocks(limits), styles, numbering)
            elif name == note and kind == "end":
                found[key] = " ".join(body.blocks.text().split())
                size += len(found[key])
                limits.check_bound("text_chars", size, "characters of notes")
            else:
                body.handle_event(kind, name, given)
    return found


@dataclass(slots=True)
class _Paragraph:
    """A paragraph and its open run, check box and formula."""

    line: Inline = field(default_factory=Inline)
    style: Style = field(default_factory=Style)
    style_name: str = ""
    level: int | None = None
    number: str | None = None
    depth: int | None = None
    look: Look = PLAIN
    formula: Formula | None = None
    choice: list[str] | None = None

    def add(self, text: str) -> None:
        """Text of the open run."""
        self.line.add(text, self.look.over(self.style.look))

    def add_sign(self, font: str, code: str) -> None:
        """A sign of a font, at the height of the open run."""
        look = replace(self.look.over(self.style.look), font="")
        self.line.add(read_sign(font, code), look)

    def read_field(self, kind: str, name: str, given: dict[str, str]) -> None:
        """Part of a form field: a check box as it stands, the entry of a list that is chosen."""
        value = given.get("val", "")
        if kind == "start" and name == "ddList":
            self.choice = [""]
        elif kind == "start" and name == "checkBox":
            self.choice = ["☐"]
        elif self.choice is None:
            return
        elif kind == "start" and name in ("default", "checked", "result"):
            is_list = self.choice[0] not in ("☐", "☒")
            self.choice[0] = value if is_list else "☐" if value in _FALSE_VALUES else "☒"
        elif kind == "start" and name == "listEntry":
            self.choice.append(value)
        elif kind == "end" and name in ("checkBox", "ddList"):
            chosen = parse_number(self.choice[0]) + 1
            shown = self.choice[0] if name == "checkBox" else "".join(self.choice[chosen:][:1])
            self.line.add(shown)
            self.choice = None


@dataclass(slots=True)
class _Body:
    """The document's state; text boxes and table cells contain paragraphs of their own."""

    blocks: Blocks
    styles: dict[str, Style]
    numbering: Numbering
    notes: dict[tuple[str, str], str] = field(default_factory=dict)
    title: str = ""
    _open: list[_Paragraph] = field(default_factory=list)
    _cells: list[list[Cell]] = field(default_factory=list)
    _merged: MergedCells = field(default_factory=MergedCells)  # of the open table
    _tables: int = 0
    _skipped: int = 0
    _gap: str = " "  # before the next paragraph of the cell
    _in_properties: bool = False
    _in_text: bool = False

    @property
    def is_skipping(self) -> bool:
        """Whether what comes is deleted or a second version."""
        return self._skipped > 0

    @property
    def is_between(self) -> bool:
        """Whether neither a paragraph nor a table is open."""
        return not self._open and not self._tables

    def add_text(self, text: str) -> None:
        """Text of the innermost paragraph."""
        if self._open:
            self._open[-1].line.add(text)

    def handle_event(self, kind: str, name: str, given: dict[str, str]) -> None:
        """One event of the main part."""
        paragraph = self._open[-1] if self._open else None
        if name in _SKIPPED_ELEMENTS and kind != "text":
            self._skipped += 1 if kind == "start" else -1
        elif self._skipped:
            return
        elif paragraph is not None and (paragraph.formula is not None or name == "oMath"):
            _read_formula(paragraph, kind, name, given)
        elif kind == "text":
            if self._in_text and paragraph is not None:
                paragraph.add(name)
        elif name in ("gridSpan", "vMerge") and kind == "start":
            self._span(name, given.get("val", ""))
        elif name in _FIELDS and paragraph is not None:
            paragraph.read_field(kind, name, given)
        else:
            (self._start if kind == "start" else self._end)(name, given)

    def _start(self, name: str, given: dict[str, str]) -> None:
        if name == "p":
            self._open.append(_Paragraph())
        elif name == "t":
            self._in_text = True
        elif name in ("pPr", "rPr"):
            self._in_properties = True
        elif name in ("tbl", "tr", "tc"):
            self._start_table(name)
        elif self._open and self._in_properties:
            self._set_property(name, given)
        elif self._open and name == "r":
            self._open[-1].look = PLAIN
        elif self._open and name == "sym":
            self._open[-1].add_sign(given.get("font", ""), given.get("char", ""))
        elif self._open:
            self._open[-1].line.add(_SIGNS.get(name) or self._take_note(name, given))

    def _start_table(self, name: str) -> None:
        """A table, a row or a cell begins; those of a table in a cell are text of that."""
        if name == "tbl":
            self._tables += 1
        elif self._tables > 1:
            self._gap = "; "
        elif name == "tr":
            self._cells.append([])
        elif self._cells:
            self._cells[-1].append(Cell(""))

    def _span(self, name: str, value: str) -> None:
        """The open cell covers columns, or goes on with the one above."""
        cells = self._cells[-1] if self._cells and self._tables == 1 else []
        if cells and name == "gridSpan":
            cells[-1] = cells[-1]._replace(columns=max(parse_number(value), 1))
        elif cells and value != "restart":
            cells[-1] = cells[-1]._replace(rows=0)

    def _take_note(self, name: str, given: dict[str, str]) -> str:
        """Take the note once: a long one may be referred to a million times."""
        note = self.notes.pop((REFERENCES.get(name, ""), given.get("id", "")), "")
        return f" [{note}]" if note else ""

    def _set_property(self, name: str, given: dict[str, str]) -> None:
        paragraph, value = self._open[-1], given.get("val", "")
        if name == "pStyle":
            paragraph.style = self.styles.get(value, Style())
            paragraph.style_name = value
        elif name == "rStyle":
            paragraph.look = paragraph.look.over(self.styles.get(value, Style()).look)
        elif name == "outlineLvl" and value.isdecimal():
            paragraph.level = int(value) + 1 if int(value) < 9 else None
        elif name == "numId":
            paragraph.number = value
        elif name == "ilvl" and value.isdecimal():
            paragraph.depth = min(parse_number(value), 9)
        else:
            paragraph.look = read_look(name, given).over(paragraph.look)

    def _end(self, name: str, _: dict[str, str]) -> None:
        if name == "t":
            self._in_text = False
        elif name == "pPr" and self._open:
            self._in_properties = False
            self._open[-1].look = PLAIN  # that of its mark
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
        text = paragraph.line.text()
        self.blocks.leave_out("struck-out texts", paragraph.line.struck)
        style = paragraph.style
        level = paragraph.level if paragraph.level is not None else style.level
        depth, mark = self._mark(paragraph)
        if not text.strip():
            return
        if self._cells and self._cells[-1]:
            cell = self._cells[-1][-1]
            said = f"{mark} {text}" if mark not in ("", "-") else text
            gap, self._gap = self._gap if cell.text.strip() else " ", " "
            self._cells[-1][-1] = cell._replace(text=f"{cell.text}{gap}{said}")
        elif level == 0:
            self.title = self.title or " ".join(text.split())
            self.blocks.add_heading(1, text, counts=False)
        elif level is not None:
            said = f"{mark} {text}" if mark not in ("", "-") else text
            self.blocks.add_heading(level, said, below_title=bool(self.title))
        elif mark:
            self.blocks.add_item(depth, mark, text)
        else:
            self.blocks.add_paragraph(text)

    def _mark(self, paragraph: _Paragraph) -> tuple[int, str]:
        """The depth in its list and its number there, which an empty one has too."""
        style = paragraph.style
        number = paragraph.number if paragraph.number is not None else style.numbered
        if number in ("", "0"):
            return 0, ""
        depth = paragraph.depth if paragraph.depth is not None else style.depth
        if depth is None:
            depth = self.numbering.depth_of(number, paragraph.style_name)
        return depth, self.numbering.next_mark(number, depth)


def _read_formula(paragraph: _Paragraph, kind: str, name: str, given: dict[str, str]) -> None:
    """An element of a formula, its first and its last one included."""
    formula = paragraph.formula
    if formula is None:
        paragraph.formula = Formula() if kind == "start" else None
    elif (kind, name) == ("end", "oMath"):
        paragraph.line.add_formula(formula.text())
        paragraph.formula = None
    else:
        formula.read(kind, name, given)

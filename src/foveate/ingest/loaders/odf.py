"""Reads OpenDocument texts and spreadsheets (`.odt`, `.ods`).

Of a text: headings as sections, lists, tables as rows, notes in brackets where they are referred
to. Of a spreadsheet: a record for each row, as its cells show it. Left out: comments and what
tracked changes have deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from foveate.core.errors import BadInput
from foveate.ingest.loaders.archive import Archive, read_properties
from foveate.ingest.loaders.blocks import MAX_COLUMNS, Blocks
from foveate.ingest.loaders.formulas import Formula
from foveate.ingest.loaders.inline import PLAIN, Inline, Look
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.merged_cells import Cell, MergedCells, MergedRanges
from foveate.ingest.loaders.odf_styles import OUTLINE, Styles, parse_count, read_styles
from foveate.ingest.loaders.pictures import picture_words
from foveate.ingest.loaders.records import Records
from foveate.ingest.loaders.text import sections_from_headings
from foveate.ports import LoadedDocument

_CONTENT = "content.xml"
_SKIPPED = frozenset(
    {"annotation", "tracked-changes", "note-citation", "forms", "ruby-text", "number"}
)
_MAX_SPACES = 100
_STORED = ("value", "date-value", "time-value", "boolean-value", "string-value")


def load_odt(data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS) -> tuple[LoadedDocument]:
    """The text as one document; raises `BadInput` if it is damaged, encrypted or over a limit."""
    archive = _open(data, limits, "text", "an OpenDocument text")
    body = _Text(Blocks(limits), read_styles(archive))
    body.blocks.leave_out("pictures", _read(archive, body))
    sections = sections_from_headings(body.blocks.text(), body.blocks.headings)
    first = next((name for _, level, name in body.blocks.headings if level == 1), path.stem)
    return (read_properties(archive, "meta.xml", "date").document(body.blocks, first, sections),)


def load_ods(data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS) -> tuple[LoadedDocument]:
    """The spreadsheet as one document; raises `BadInput` as `load_odt` does."""
    archive = _open(data, limits, "spreadsheet", "an OpenDocument spreadsheet")
    sheet = _Sheet(Records(limits, Blocks(limits)), read_styles(archive))
    records = sheet.records
    records.blocks.leave_out("pictures", _read(archive, sheet))
    return (
        read_properties(archive, "meta.xml", "date").document(
            records.blocks, path.stem, records.sections
        ),
    )


def _open(data: bytes, limits: Limits, kind: str, what: str) -> Archive:
    archive = Archive(data, limits)
    if any(name == "encryption-data" for name, _ in archive.starts("META-INF/manifest.xml")):
        raise BadInput("encrypted: save it without a password")
    names = (name for name, _ in archive.starts(_CONTENT))
    if "body" in names and next(names, "") == kind:
        return archive
    raise BadInput(f"a zip archive, but not {what}; give it the right suffix")


def _read(archive: Archive, body: _Text | _Sheet) -> int:
    """Read all of it; the number of its pictures."""
    skipped, seen, pictures = 0, set[str](), _FramePictures()
    for kind, name, given in archive.events(_CONTENT):
        formula = body.formula
        if kind != "text" and name in _SKIPPED:
            skipped += 1 if kind == "start" else -1
        elif skipped or pictures.read(kind, name, given, body):
            continue
        elif (kind, name) == ("end", "math"):
            body.formula = None
            body.add_formula(formula.text() if formula else "")
        elif formula is not None:
            formula.read(kind, name, given)
        elif (kind, name) == ("start", "math"):
            body.formula = Formula()
        elif (kind, name) == ("start", "object"):
            place = given.get("href", "")
            body.add_formula("" if place in seen else _read_object(archive, place))
            seen.add(place)
        elif kind == "text":
            body.add_text(name)
        elif kind == "start":
            body.start(name, given)
        else:
            body.end(name)
    return len(pictures.found)


@dataclass(slots=True)
class _FramePictures:
    """The pictures of the frames, by their parts; one beside an object only stands for that."""

    found: set[str] = field(default_factory=set)
    _image: str = ""
    _has_object: bool = False
    _is_open: bool = False  # and not its text box
    _inside: str = ""  # `title` or `desc`
    _words: dict[str, str] = field(default_factory=dict)

    def read(self, kind: str, name: str, given: Mapping[str, str], body: _Text | _Sheet) -> bool:
        """Read what an element says of a frame, if it does."""
        if kind == "text":
            if self._inside:
                self._words[self._inside] = self._words.get(self._inside, "") + name
        elif name in ("title", "desc") and self._is_open:
            self._inside = name if kind == "start" else ""
            return True
        elif name == "frame":
            if self._image and kind == "end":
                self.found.add(self._image)
                words = self._words.get("desc") or self._words.get("title", "")
                body.add_text(picture_words(words))
            self._is_open = kind == "start"
            self._image, self._has_object, self._words = "", False, {}
        elif name == "text-box":
            self._is_open = kind == "end"
        elif name in ("object", "object-ole"):
            self._has_object = True
        elif name == "image" and kind == "start" and not self._has_object:
            self._image = given.get("href", "-")
        return bool(self._inside)


def _read_object(archive: Archive, place: str) -> str:
    """The formula of an object that is a part of its own; empty if it is none."""
    formula: Formula | None = None
    for kind, name, given in archive.events(f"{place.removeprefix('./')}/{_CONTENT}"):
        if formula is None and name != "math":
            return ""
        if formula is not None:
            formula.read(kind, name, given)
        formula = formula or Formula()
    return formula.text() if formula is not None else ""


def _sign(name: str, given: Mapping[str, str]) -> str:
    """What an element stands for inside of a paragraph."""
    if name == "s":
        return " " * min(parse_count(given.get("c", "")), _MAX_SPACES)
    return {"tab": "\t", "line-break": "\n"}.get(name, "")


def _spans(given: Mapping[str, str]) -> tuple[int, int]:
    """How many columns and rows a cell covers."""
    columns, rows = (given.get(f"number-{what}-spanned", "") for what in ("columns", "rows"))
    return max(parse_count(columns), 1), max(parse_count(rows), 1)


@dataclass(slots=True)
class _Paragraph:
    """An open paragraph. `level`: of a heading, else 0; `looks`: of its open spans."""

    level: int
    looks: list[Look]
    mark: str = ""
    line: Inline = field(default_factory=Inline)


@dataclass(slots=True)
class _List:
    """A list with those in it: the numbers that its items have reached, by depth from 1."""

    style: str
    numbers: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Text:
    """The state of a text; text boxes, notes and cells hold paragraphs of their own."""

    blocks: Blocks
    styles: Styles
    formula: Formula | None = None
    _open: list[_Paragraph] = field(default_factory=list)
    _lists: list[_List] = field(default_factory=list)  # the open ones
    _known: dict[str, _List] = field(default_factory=dict)  # by id and by style
    _outline: _List = field(default_factory=lambda: _List(OUTLINE))
    _mark: str = ""  # of the item that has begun
    _notes: int = 0
    _tables: int = 0
    _merged: MergedCells = field(default_factory=MergedCells)  # of the open table
    _cells: list[Cell] | None = None
    _gap: str = " "  # before the next paragraph of the cell

    def add_text(self, text: str) -> None:
        """Text of the innermost paragraph."""
        if self._open:
            self._open[-1].line.add(text, self._open[-1].looks[-1])

    def add_formula(self, text: str) -> None:
        """A formula of the innermost paragraph; what is none is counted."""
        if self._open and text:
            self._open[-1].line.add_formula(text)
        else:
            self.blocks.leave_out("embedded objects")

    def start(self, name: str, given: Mapping[str, str]) -> None:
        """An element begins."""
        if name in ("p", "h"):
            self._start_paragraph(name, given)
        elif name == "span" and self._open:
            looks = self._open[-1].looks
            looks.append(self.styles.look("text", given.get("style-name", "")).over(looks[-1]))
        elif name == "note":
            self._notes += 1
        elif name == "list":
            self._start_list(given)
        elif name in ("list-item", "list-header") and self._lists:
            self._mark = self._next_mark(given) if name == "list-item" else ""
        elif name in ("table", "table-row", "table-cell"):
            self._start_table(name, given)
        elif sign := _sign(name, given):
            self.add_text(sign)

    def _start_table(self, name: str, given: Mapping[str, str]) -> None:
        """A table, a row or a cell begins; those of a table in a cell are text of that."""
        if name == "table":
            self._tables += 1
        elif self._tables > 1:
            self._gap = "; "
        elif name == "table-row":
            self._cells = []
        elif self._cells is not None and len(self._cells) < MAX_COLUMNS:
            self._cells.append(Cell("", *_spans(given)))

    def _start_paragraph(self, name: str, given: Mapping[str, str]) -> None:
        style = given.get("style-name", "")
        level = min(parse_count(given.get("outline-level", "")), 9) if name == "h" else 0
        mark, self._mark = self._mark, ""
        if level and not self._lists and self.styles.has_numbers(style):
            mark = (
                ""
                if given.get("is-list-header") == "true"
                else self._count(self._outline, level, given)
            )
        self._open.append(_Paragraph(level, [self.styles.look("paragraph", style)], mark))

    def _start_list(self, given: Mapping[str, str]) -> None:
        style = given.get("style-name", self._lists[-1].style if self._lists else "")
        goes_on = given.get("continue-numbering") == "true" or "continue-list" in given
        if self._lists:
            root = self._lists[0]
            if not goes_on:
                root.numbers.pop(len(self._lists) + 1, None)
            found = _List(style, root.numbers)
        else:
            before = self._known.get(given.get("continue-list", style)) if goes_on else None
            found = _List(style, before.numbers if before else {})
            self._known[style] = self._known[given.get("id", style)] = found
        self._lists.append(found)

    def _next_mark(self, given: Mapping[str, str]) -> str:
        return self._count(self._lists[-1], len(self._lists), given)

    def _count(self, counted: _List, depth: int, given: Mapping[str, str]) -> str:
        """Count an item at that depth; its mark."""
        numbers, start = counted.numbers, self.styles.start(counted.style, depth)
        following = numbers.get(depth, start - 1) + 1
        numbers[depth] = parse_count(given.get("start-value", ""), following)
        for deeper in [each for each in numbers if each > depth]:
            del numbers[deeper]
        return self.styles.mark(counted.style, depth, numbers)

    def end(self, name: str) -> None:
        """An element ends."""
        if name in ("p", "h") and self._open:
            self._end_paragraph(self._open.pop())
        elif name == "span" and self._open and len(self._open[-1].looks) > 1:
            self._open[-1].looks.pop()
        elif name == "note":
            self._notes -= 1
        elif name == "list" and self._lists:
            self._lists.pop()
            if not self._lists:
                self.blocks.end_group()
        elif name == "table":
            self._tables -= 1
            if not self._tables:
                self.blocks.add_rows(self._merged.finish(), is_layout=self._merged.count == 1)
                self._merged = MergedCells(self._merged.allowance)
            self.blocks.end_group()
        elif name == "table-row" and self._tables == 1 and self._cells is not None:
            self.blocks.add_rows(self._merged.add(self._cells))
            self._cells = None

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        text = paragraph.line.text()
        mark = paragraph.mark
        self.blocks.leave_out("struck-out texts", paragraph.line.struck)
        said = f"{mark} {text}" if mark not in ("", "-") else text
        if self._notes and self._open:
            self.add_text(f" [{' '.join(text.split())}]" if text.strip() else "")
        elif self._cells:
            cell = self._cells[-1]
            gap, self._gap = self._gap if cell.text.strip() else " ", " "
            self._cells[-1] = cell._replace(
                text=f"{cell.text}{gap}{said}" if text.strip() else cell.text
            )
        elif paragraph.level and text.strip():
            self.blocks.add_heading(paragraph.level, said)
        elif mark:
            self.blocks.add_item(len(self._lists) - 1, mark, text)
        else:
            self.blocks.add_paragraph(text)


@dataclass(slots=True)
class _Sheet:
    """The state of a spreadsheet: the row and the cell that are open."""

    records: Records
    styles: Styles
    formula: Formula | None = None
    _row: int = 0
    _rows: int = 1  # how many times the open row is repeated
    _times: int = 1  # how many times the open cell is
    _cells: dict[int, str] = field(default_factory=dict)
    _column: int = 0  # of the open cell
    _merged: MergedRanges = field(default_factory=MergedRanges)
    _cell: Inline | None = None
    _begun: bool = False  # whether the cell has a paragraph
    _stored: str = ""  # the value of the cell, which may have no text
    _looks: list[Look] = field(default_factory=lambda: [PLAIN])  # of its open spans

    def add_text(self, text: str) -> None:
        """Text of the open cell."""
        if self._cell is not None:
            self._cell.add(text, self._looks[-1])

    def add_formula(self, _: str) -> None:
        """An object of a sheet, such as a chart of its values, has no place in its rows."""
        self.records.blocks.leave_out("embedded objects")

    def start(self, name: str, given: Mapping[str, str]) -> None:
        """An element begins."""
        if name == "table":
            self._row, self._merged = 0, MergedRanges()
            self.records.begin_sheet(given.get("name", ""))
        elif name == "table-row":
            self._rows = parse_count(given.get("number-rows-repeated", ""))
            self._cells, self._column = {}, 0
        elif name in ("table-cell", "covered-table-cell"):
            self._times = parse_count(given.get("number-columns-repeated", ""))
            self._cell, self._looks, self._begun = Inline(), [PLAIN], False
            self._stored = next(filter(None, map(given.get, _STORED)), "")
            columns, rows = _spans(given)
            if columns > 1 or rows > 1:
                row, column = self._row + 1, self._column
                self._merged.add(row, row + rows - 1, column, column + columns - 1)
        elif name == "p" and self._cell is not None:
            self._cell.add(" " if self._begun else "")
            self._begun = True
        elif name == "span":
            look = self.styles.look("text", given.get("style-name", ""))
            self._looks.append(look.over(self._looks[-1]))
        elif sign := _sign(name, given):
            self.add_text(sign)

    def end(self, name: str) -> None:
        """An element ends."""
        if name in ("table-cell", "covered-table-cell") and self._cell is not None:
            text, first = self._cell.text() or self._stored, self._column
            self.records.blocks.leave_out("struck-out texts", self._cell.struck)
            self._cell = None
            self._column += self._times
            if text.strip():  # else up to the edge of the sheet, if no other follows
                if self._column > MAX_COLUMNS:
                    raise BadInput(f"row {self._row + 1} has more than {MAX_COLUMNS} cells")
                self._cells.update(dict.fromkeys(range(first, self._column), text))
        elif name == "span" and len(self._looks) > 1:
            self._looks.pop()
        elif name == "table-row":
            for number in range(self._rows if self._cells else 0):
                row = self._row + number + 1
                filled = self._merged.fill(row, self._cells)
                self.records.add_row(row, filled, is_wide=self._merged.is_wide)
            self._row += self._rows
        elif name == "table":
            self.records.end_sheet()

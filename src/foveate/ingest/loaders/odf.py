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
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.merged_cells import Cell, MergedCells, MergedRanges
from foveate.ingest.loaders.records import Records
from foveate.ingest.loaders.text import sections_from_headings
from foveate.ports import LoadedDocument

_CONTENT = "content.xml"
_SKIPPED = frozenset({"annotation", "tracked-changes", "note-citation", "forms", "ruby-text"})
_MAX_SPACES = 100


def load_odt(data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS) -> tuple[LoadedDocument]:
    """The text as one document; raises `BadInput` if it is damaged, encrypted or over a limit."""
    archive = _open(data, limits, "text", "an OpenDocument text")
    body = _Text(Blocks(limits))
    _read(archive, body)
    text = body.blocks.text()
    sections = sections_from_headings(text, body.blocks.headings)
    first = next((name for _, level, name in body.blocks.headings if level == 1), path.stem)
    return (read_properties(archive, "meta.xml", "date").document(text, first, sections),)


def load_ods(data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS) -> tuple[LoadedDocument]:
    """The spreadsheet as one document; raises `BadInput` as `load_odt` does."""
    archive = _open(data, limits, "spreadsheet", "an OpenDocument spreadsheet")
    sheet = _Sheet(Records(limits, Blocks(limits)))
    _read(archive, sheet)
    records = sheet.records
    text = records.blocks.text()
    return (
        read_properties(archive, "meta.xml", "date").document(text, path.stem, records.sections),
    )


def _open(data: bytes, limits: Limits, kind: str, what: str) -> Archive:
    archive = Archive(data, limits)
    if any(name == "encryption-data" for name, _ in archive.starts("META-INF/manifest.xml")):
        raise BadInput("encrypted: save it without a password")
    names = (name for name, _ in archive.starts(_CONTENT))
    if "body" in names and next(names, "") == kind:
        return archive
    raise BadInput(f"a zip archive, but not {what}; give it the right suffix")


def _read(archive: Archive, body: _Text | _Sheet) -> None:
    skipped = 0
    for kind, name, given in archive.events(_CONTENT):
        if kind != "text" and name in _SKIPPED:
            skipped += 1 if kind == "start" else -1
        elif skipped:
            continue
        elif kind == "text":
            body.add_text(name)
        elif kind == "start":
            body.start(name, given)
        else:
            body.end(name)


def _sign(name: str, given: Mapping[str, str]) -> str:
    """What an element stands for inside of a paragraph."""
    if name == "s":
        return " " * min(_number(given.get("c", "")), _MAX_SPACES)
    return {"tab": "\t", "line-break": "\n"}.get(name, "")


def _spans(given: Mapping[str, str]) -> tuple[int, int]:
    """How many columns and rows a cell covers."""
    columns, rows = (given.get(f"number-{what}-spanned", "") for what in ("columns", "rows"))
    return max(_number(columns), 1), max(_number(rows), 1)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else 1


@dataclass(slots=True)
class _Text:
    """The state of a text; text boxes, notes and cells hold paragraphs of their own."""

    blocks: Blocks
    _open: list[tuple[list[str], int]] = field(default_factory=list)  # parts, level of a heading
    _lists: list[int] = field(default_factory=list)  # how many items each open list has
    _notes: int = 0
    _tables: int = 0
    _merged: MergedCells = field(default_factory=MergedCells)  # of the open table
    _cells: list[Cell] | None = None

    def add_text(self, text: str) -> None:
        """Text of the innermost paragraph."""
        if self._open:
            self._open[-1][0].append(text)

    def start(self, name: str, given: Mapping[str, str]) -> None:
        """An element begins."""
        if name in ("p", "h"):
            level = _number(given.get("outline-level", "")) if name == "h" else 0
            self._open.append(([], min(level, 9)))
        elif name == "note":
            self._notes += 1
        elif name == "list":
            self._lists.append(0)
        elif name == "table":
            self._tables += 1
        elif name == "table-row" and self._tables == 1:
            self._cells = []
        elif name == "table-cell" and self._tables == 1:
            if self._cells is not None and len(self._cells) < MAX_COLUMNS:
                self._cells.append(Cell("", *_spans(given)))
        elif sign := _sign(name, given):
            self.add_text(sign)

    def end(self, name: str) -> None:
        """An element ends."""
        if name in ("p", "h") and self._open:
            self._end_paragraph(*self._open.pop())
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

    def _end_paragraph(self, parts: list[str], level: int) -> None:
        text = "".join(parts)
        if self._notes and self._open:
            self.add_text(f" [{' '.join(text.split())}]" if text.strip() else "")
        elif self._cells:
            cell = self._cells[-1]
            self._cells[-1] = cell._replace(text=f"{cell.text} {text}")
        elif level:
            self.blocks.add_heading(level, text)
        elif self._lists:
            self.blocks.add_item(len(self._lists) - 1, "-", text)
        else:
            self.blocks.add_paragraph(text)


@dataclass(slots=True)
class _Sheet:
    """The state of a spreadsheet: the row and the cell that are open."""

    records: Records
    _row: int = 0
    _rows: int = 1  # how many times the open row is repeated
    _times: int = 1  # how many times the open cell is
    _cells: dict[int, str] = field(default_factory=dict)
    _column: int = 0  # of the open cell
    _merged: MergedRanges = field(default_factory=MergedRanges)
    _cell: list[str] | None = None

    def add_text(self, text: str) -> None:
        """Text of the open cell."""
        if self._cell is not None:
            self._cell.append(text)

    def start(self, name: str, given: Mapping[str, str]) -> None:
        """An element begins."""
        if name == "table":
            self._row, self._merged = 0, MergedRanges()
            self.records.begin_sheet(given.get("name", ""))
        elif name == "table-row":
            self._rows = _number(given.get("number-rows-repeated", ""))
            self._cells, self._column = {}, 0
        elif name in ("table-cell", "covered-table-cell"):
            self._times = _number(given.get("number-columns-repeated", ""))
            self._cell = []
            columns, rows = _spans(given)
            if columns > 1 or rows > 1:
                row, column = self._row + 1, self._column
                self._merged.add(row, row + rows - 1, column, column + columns - 1)
        elif name == "p" and self._cell:
            self._cell.append(" ")
        elif sign := _sign(name, given):
            self.add_text(sign)

    def end(self, name: str) -> None:
        """An element ends."""
        if name in ("table-cell", "covered-table-cell") and self._cell is not None:
            text, first = "".join(self._cell), self._column
            self._cell = None
            self._column += self._times
            if text.strip():  # else up to the edge of the sheet, if no other follows
                if self._column > MAX_COLUMNS:
                    raise BadInput(f"row {self._row + 1} has more than {MAX_COLUMNS} cells")
                self._cells.update(dict.fromkeys(range(first, self._column), text))
        elif name == "table-row":
            for number in range(self._rows if self._cells else 0):
                row = self._row + number + 1
                filled = self._merged.fill(row, self._cells)
                self.records.add_row(row, filled, is_wide=self._merged.is_wide)
            self._row += self._rows
        elif name == "table":
            self.records.end_sheet()

"""Excel: a sheet is a section, a row a record, every value as the sheet shows it.

Formulas are read as the values that were computed last, and as they are written if none was, as in
files that no spreadsheet program has saved. Hidden sheets are left out, as the page
of an HTML file is without what it hides; hidden rows and columns are read, since filters hide them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from foveate.core.errors import BadInput
from foveate.ingest.loaders.archive import Archive, read_properties
from foveate.ingest.loaders.blocks import MAX_COLUMNS, Blocks
from foveate.ingest.loaders.inline import PLAIN, Inline, Look, read_look
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.list_numbers import parse_number
from foveate.ingest.loaders.merged_cells import MergedRanges
from foveate.ingest.loaders.number_formats import (
    BUILT_IN,
    format_number,
    format_stored,
    format_text,
)
from foveate.ingest.loaders.records import Records
from foveate.ports import LoadedDocument

_RANGE = re.compile(r"([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})")
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_TRUTH = {"0": "FALSE", "1": "TRUE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CellValues:
    """What cells point to: shared texts by number, format codes by style."""

    strings: list[str]
    formats: list[str]
    left_out: Counter[str]
    since_1904: bool = False

    def display_text(self, kind: str, style: str, value: str) -> str:
        """The text that a cell of this kind shows."""
        if kind == "b":
            return _TRUTH.get(value, value)
        if kind == "d":
            return value.removesuffix("T00:00:00")
        at = parse_number(style)
        code = self.formats[at] if at < len(self.formats) else ""
        if kind == "s":
            at = parse_number(value, -1)
            if not 0 <= at < len(self.strings):
                raise BadInput(f"damaged: there is no shared text {value[:20]!r}")
            return format_text(self.strings[at], code)
        if kind in ("str", "inlineStr", "e"):
            return value if kind == "e" else format_text(_unescape(value), code)
        text = format_number(value, code, since_1904=self.since_1904) if value else ""
        if text is None:
            self.left_out["number formats"] += 1
            return format_stored(value)
        return text


def _unescape(text: str) -> str:
    """The text, in which `_x000D_` is the sign of that number."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def read_strings(archive: Archive, part: str, blocks: Blocks) -> list[str]:
    """The shared texts; what is struck out in them is counted as left out."""
    found: list[str] = []
    rich, size = _RichText(), 0
    for kind, name, given in archive.events(part):
        if name == "si" and kind == "end":
            found.append(_unescape(rich.line.text()))
            size += len(found[-1])
            blocks.limits.check_bound("text_chars", size, "characters of text")
            blocks.leave_out("struck-out texts", rich.line.struck)
            rich = _RichText()
        else:
            rich.handle_event(kind, name, given)
    return found


@dataclass(slots=True)
class _RichText:
    """A text of runs; how it is spoken (`rPh`) is no part of it."""

    line: Inline = field(default_factory=Inline)
    _look: Look = PLAIN
    _speaks: bool = False
    _spoken: int = 0

    def handle_event(self, kind: str, name: str, given: Mapping[str, str]) -> None:
        """One event inside of the text."""
        if kind == "text":
            if self._speaks and not self._spoken:
                self.line.add(name, self._look)
        elif name == "t":
            self._speaks = kind == "start"
        elif name == "rPh":
            self._spoken += 1 if kind == "start" else -1
        elif name == "r" and kind == "start":
            self._look = PLAIN
        elif kind == "start":
            self._look = read_look(name, given).over(self._look)


def read_formats(archive: Archive, part: str) -> list[str]:
    """The format code of each cell style."""
    own: dict[str, str] = {}
    found: list[str] = []
    inside = False
    for kind, name, given in archive.events(part):
        if name == "cellXfs":
            inside = kind == "start"
        elif kind == "start" and name == "numFmt":
            own[given.get("numFmtId", "")] = given.get("formatCode", "")
        elif kind == "start" and name == "xf" and inside:
            at = given.get("numFmtId", "0")
            code = own.get(at)
            found.append(BUILT_IN.get(parse_number(at), "") if code is None else code)
    return found


def read_rows(
    archive: Archive, part: str, values: CellValues, limits: Limits
) -> Iterator[tuple[int, dict[int, str]]]:
    """The rows that have cells: their numbers, and what each of these columns shows."""
    row = _Row(values, limits)
    for kind, name, given in archive.events(part):
        if kind == "text":
            row.add_text(name)
        elif kind == "start":
            row.open(name, given)
        elif row.close(name):
            yield row.number, row.cells


def read_merged(archive: Archive, part: str) -> MergedRanges:
    """The merged cells of a sheet; the file has them behind its rows."""
    merged = MergedRanges()
    if not archive.mentions(part, b"mergeCell"):
        return merged
    for name, given in archive.starts(part):
        found = _RANGE.fullmatch(given.get("ref", "")) if name == "mergeCell" else None
        if found:
            left, first, right, last = found.groups()
            merged.add(int(first), int(last), _column_index(left, 0), _column_index(right, 0))
    return merged


@dataclass(slots=True)
class _Row:
    """The row that is open, and the cell that is open in it."""

    values: CellValues
    limits: Limits
    number: int = 0
    cells: dict[int, str] = field(default_factory=dict)
    _texts: list[str] = field(default_factory=list)
    _size: int = 0
    _column: int = 0
    _kind: str = ""
    _style: str = ""
    _inside: str = ""  # `v`, `t` or `f`: a value, a text, a formula
    _formula: list[str] = field(default_factory=list)
    _rich: _RichText | None = None

    def open(self, name: str, given: dict[str, str]) -> None:
        """An element begins."""
        if name == "row":
            self.number, self.cells = parse_number(given.get("r", ""), self.number + 1), {}
        elif name == "c":
            self._kind, self._style = given.get("t", "n"), given.get("s", "0")
            self._column = _column_index(given.get("r", ""), next(reversed(self.cells), -1) + 1)
            self._texts, self._formula, self._size = [], [], 0
        elif name == "is":
            self._rich = _RichText()
        elif self._rich is not None:
            self._rich.handle_event("start", name, given)
        self._inside = name if name in ("v", "t", "f") else ""

    def add_text(self, text: str) -> None:
        """A text, of which that of values and formulas counts."""
        if self._rich is not None:
            self._rich.handle_event("text", text, {})
        elif self._inside:
            (self._formula if self._inside == "f" else self._texts).append(text)
        if self._inside:
            self._size += len(text)
            what = f"characters in a cell of row {self.number}"
            self.limits.check_bound("cell_chars", self._size, what)

    def close(self, name: str) -> bool:
        """An element ends; whether that was a row with cells."""
        self._inside = ""
        if name == "is" and self._rich is not None:
            text, self._rich = self._rich.line.text(), None
            self._texts += [text] if text else []
        elif self._rich is not None:
            self._rich.handle_event("end", name, {})
        elif name == "c" and self._texts:
            text = self.values.display_text(self._kind, self._style, "".join(self._texts))
            self.cells[self._column] = text
        elif name == "c" and self._formula and self._kind == "n":  # others were computed: no text
            self.cells[self._column] = f"={''.join(self._formula)}"
        return name == "row" and bool(self.cells)


def _column_index(place: str, following: int) -> int:
    """The column of a place such as `BC12`, counted from 0."""
    column = 0
    for char in place[:4]:
        if not "A" <= char <= "Z":
            break
        column = 26 * column + ord(char) - ord("A") + 1
    if column > MAX_COLUMNS:
        raise BadInput(f"damaged: there is no cell {place[:20]!r}")
    return max(column - 1 if column else following, following)


def load_xlsx(data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS) -> tuple[LoadedDocument]:
    """The file as one document, titled by its properties or its name."""
    archive = Archive(data, limits)
    part = archive.main_part("workbook")
    blocks = Blocks(limits)
    values = CellValues(
        strings=read_strings(archive, archive.related_part(part, "sharedStrings"), blocks),
        formats=read_formats(archive, archive.related_part(part, "styles")),
        since_1904=_has_1904_dates(archive, part),
        left_out=blocks.left_out,
    )
    records = Records(limits, blocks)
    for name, sheet in _visible_sheets(archive, part):
        records.begin_sheet(name)
        merged = read_merged(archive, sheet)
        for row, cells in read_rows(archive, sheet, values, limits):
            filled = merged.fill(row, cells)
            records.add_row(row, filled, is_wide=merged.is_wide)
        records.end_sheet()
    return (read_properties(archive).document(blocks, path.stem, records.sections),)


def _visible_sheets(archive: Archive, part: str) -> Iterator[tuple[str, str]]:
    """The names and parts of the sheets that are shown, in their order, each part once."""
    known = archive.relations(part)
    seen: set[str] = set()
    for name, given in archive.starts(part):
        if name == "sheet" and given.get("state", "visible") == "visible":
            relation, target = known.get(given.get("r:id", ""), ("", ""))
            if relation == "worksheet" and target not in seen:
                seen.add(target)
                yield " ".join(given.get("name", "").split()), target


def _has_1904_dates(archive: Archive, part: str) -> bool:
    given = (given for name, given in archive.starts(part) if name == "workbookPr")
    return any(each.get("date1904") in ("1", "true") for each in given)

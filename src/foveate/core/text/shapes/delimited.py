"""CSV, TSV and their like: rows of cells between commas, tabs, semicolons or pipes.

A row is a unit, line breaks inside of quotes included, and leans on the row of names. Whether the
first row has names is read from the others: a column of values with digits whose first cell has
none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder, line_end

NAMES = {"\t": "tsv", ",": "csv"}
"""Of shapes by their delimiter; the others have it in their name."""

DELIMITERS = "\t,;|"
FEWEST_ROWS = 3
LOOKED_AT = 12
"""Rows from which delimiter and header are read."""
MAX_SPACED = 0.34
"""Commas of prose have a space behind them, those of tables have none; up to that share may.

Pipes stand in tables alone, and mostly have spaces.
"""
MAX_CELL = 80
"""Characters of a cell on average; longer ones are sentences."""
MAX_NAME = 60
PAIR = 2

_QUOTED = re.compile(r'"[^"]*+(?:""[^"]*+)*+"')
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\s*+[-+(]?(?=[.,' ]*+\d)[\d.,' ]++%?\)?\s*+")
_VALUE = re.compile(r"\s*[-+($€£]?\d+[.,]\d+\W?|\d{4}-\d\d-\d\d")
"""A decimal number or a date, which names no column."""
_YEAR = re.compile(r"[^\d_#-]{0,9}(?:19|20)\d\d[^\d_-]{0,9}")


def opens_table(text: str, start: int, end: int) -> str:
    """The delimiter by which `text[start:end]` and the next line may be rows; empty for none."""
    line, following = text[start:end], ""
    bare = _QUOTED.sub("", line) if (quoted := '"' in line) else line
    for delimiter in DELIMITERS:
        count = bare.count(delimiter)
        if count:
            following = following or text[end + 1 : line_end(text, end + 1)]
            if following.count(delimiter) < count and f'{delimiter}"' not in bare:
                continue
            spaced = bare.count(delimiter + " ") if delimiter in ",;" else 0
            if spaced < count or quoted:
                return delimiter
    return ""


def read_delimited(text: str, start: int, delimiter: str) -> ReadResult:
    """The rows from here on that have as many cells as the first."""
    rows = Rows(text, delimiter)
    first = rows.at(start)
    found, at = [first], first.end
    while len(found) < LOOKED_AT and at < len(text):
        row = rows.at(at)
        if len(row.cells) != len(first.cells):
            break
        found.append(row)
        at = row.end
    if len(first.cells) < 2 or not _is_table(found, delimiter):
        return ReadResult(None, max(first.end, start + 1))
    builder = ShapeBuilder()
    names, columns = names_row([row.cells for row in found]), len(first.cells)
    head = builder.add(first.start) if names >= 0 else -1
    body = found[names + 1 :]
    while at < len(text) and rows.holds(row := rows.at(at), columns):
        body.append(row)
        at = row.end
    spans = [(row.start, row.stop) for row in body]
    for a, _ in spans:
        builder.add(a, head)
    builder.counted.append(("rows", spans))
    name = NAMES.get(delimiter, f"rows by {delimiter}")
    shape = builder.shape(text, name, spans[-1][1], head=head, columns=columns)
    return ReadResult(shape, at)


class Row:
    """Cells from `start` up to `stop`; the next row begins at `end`."""

    __slots__ = ("cells", "end", "start", "stop")

    def __init__(self, start: int, stop: int, end: int, cells: list[str]) -> None:
        self.start, self.stop, self.end, self.cells = start, stop, end, cells


class Rows:
    """Rows of a text by where they begin."""

    def __init__(self, text: str, delimiter: str) -> None:
        self._text = text
        self._delimiter = delimiter
        self._cell = re.compile(rf"[^{re.escape(delimiter)}\n]*+")
        self._closes = True  # whether there may be a closing quotation mark further on

    def at(self, start: int) -> Row:
        """The row that begins here; without cells for a blank line."""
        stop = line_end(self._text, start)
        line = self._text[start:stop]
        if '"' not in line:
            body = line.rstrip("\r")
            cells = body.split(self._delimiter) if body.strip() else []
            return Row(start, start + len(body), stop + 1, cells)
        return self._quoted(start)

    def holds(self, row: Row, columns: int) -> bool:
        """Whether the row is one of a table of so many columns.

        It has as many cells, or the next one has, or the text was cut inside of it.
        """
        if not row.cells or len(row.cells) == columns:
            return bool(row.cells)
        if row.end < len(self._text):
            return len(self.at(row.end).cells) == columns
        part = self._text[row.start :]
        closed = f'{part}"' if part.count('"') % 2 else part
        return row.end > len(self._text) and is_part_of_row(closed, self._delimiter, columns)

    def _quoted(self, start: int) -> Row:
        text, at, cells = self._text, start, list[str]()
        while True:
            quoted = _QUOTED.match(text, at) if self._closes and text.startswith('"', at) else None
            if quoted is None and text.startswith('"', at):
                self._closes = text.find('"', at + 1) >= 0 and self._closes
            after = quoted.end() if quoted else at
            rest = self._cell.match(text, after)
            stop = rest.end() if rest else after
            cells.append(text[at:stop].strip('"\r'))
            if stop < len(text) and text[stop] == self._delimiter:
                at = stop + 1
                continue
            trimmed = stop - (text[stop - 1 : stop] == "\r")
            return Row(start, trimmed, stop + 1, cells)


def is_part_of_row(part: str, delimiter: str, columns: int) -> bool:
    """Whether this may be the beginning or the end of a row of so many cells, and is no prose.

    Every quoted cell in it has both of its quotation marks.
    """
    bare = _QUOTED.sub("", part)
    count = bare.count(delimiter)
    if "\n" in bare or count >= columns:
        return False
    if count:
        return delimiter not in ",;" or f"{delimiter} " not in bare
    is_torn = bare[:1].islower() or bare[:1] in ",;.)" or " " not in bare
    return bare != part or (is_torn and len(bare) <= MAX_CELL)


def _is_table(rows: Sequence[Row], delimiter: str) -> bool:
    if len(rows) < FEWEST_ROWS or not any(row.cells[-1].strip() for row in rows):
        return False
    if len(rows[0].cells) == PAIR and delimiter in ",|" and not _is_named_pair(rows):
        return False
    cells = [cell for row in rows for cell in row.cells]
    if delimiter in ",;":
        inner = [cell for row in rows for cell in row.cells[1:]]
        if sum(cell.startswith(" ") for cell in inner) > MAX_SPACED * len(inner):
            return False
    return sum(map(len, cells)) <= MAX_CELL * len(cells)


def _is_named_pair(rows: Sequence[Row]) -> bool:
    """Whether two columns are more than decimal commas, lines of an argument or of a grammar."""
    names = rows[0].cells
    return all(name.strip('" ').isidentifier() for name in names) and not names_row(
        [row.cells for row in rows]
    )


def names_row(rows: Sequence[Sequence[str]]) -> int:
    """Which of these has the names of the columns, -1 if none has.

    Above it may be titles of the whole table, if the values below it show that it has names.
    """
    width, at = usual_width(rows), 0
    while at < len(rows) - 1 and width > PAIR and not any(map(str.strip, rows[at][1:])):
        at += 1
    names, values = rows[at], rows[at + 1 :]
    if not values or any(len(name) > MAX_NAME for name in names):
        return -1
    differ = not at and len({name.strip() for name in names}) == len(names)
    return at if _are_years(names, values) or _are_names(names, values, differ=differ) else -1


def usual_width(rows: Sequence[Sequence[str]]) -> int:
    """How many cells most of the rows have; a title may be one cell over all columns."""
    return max(Counter(map(len, rows)).items(), key=lambda found: (found[1], found[0]))[0]


def _are_names(names: Sequence[str], values: Sequence[Sequence[str]], *, differ: bool) -> bool:
    """Whether the values below show that these are their names, or if not, that `differ`."""
    if any(_VALUE.fullmatch(name) for name in names):
        return False
    telling = False
    for n, name in enumerate(names):
        below = [row[n] for row in values if n < len(row) and row[n].strip()]
        digits = sum(bool(_DIGIT.search(value)) for value in below)
        if 2 * digits > len(values):
            if not _DIGIT.search(name) or (
                name[:1].isalpha() and all(map(_NUMBER.fullmatch, below))
            ):
                telling = True
            elif not any(c.isalpha() for c in name) or digits == len(values):
                return telling
    return telling or differ


def _are_years(names: Sequence[str], values: Sequence[Sequence[str]]) -> bool:
    """Whether all numbers in a row of names are years, and what is below them is none.

    The first cell is a label, and may hold an identifier that looks like one.
    """
    years = [n for n, name in enumerate(names) if n and _YEAR.fullmatch(name)]
    if not years or any(_NUMBER.fullmatch(name) for n, name in enumerate(names) if n not in years):
        return False
    return not any(_YEAR.fullmatch(row[n]) for row in values for n in years if n < len(row))

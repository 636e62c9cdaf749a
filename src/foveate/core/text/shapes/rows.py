"""Rows of cells: CSV, TSV and their like, tables between pipes, and columns of ids.

A row is a unit, line breaks inside of quotes included, and leans on the row of names. Whether the
first row has names is read from the others: a column of values with digits whose first cell has
none. `add_rows` makes units of the rows of HTML tables too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder, line_end
from foveate.core.text.words import UNSPACED

NAMES = {"\t": "tsv", ",": "csv"}
"""Of shapes by their delimiter; the others have it in their name."""
OPENS = r"[^\n,;|\t]*+(?:[\t|]|[,;](?! )|(?<=\"),)"
"""The first delimiter of a line, which may be a row."""
OPENS_PIPES = r"[ \t]*+\|"
OPENS_COLUMN = rf"[^\s{UNSPACED}]{{1,80}}+(?=\r?(?:\n|\Z))"
"""A line of one word; in scripts without spaces, a sentence looks like one."""

FEWEST_ROWS = 3
FEWEST_PIPED = 2
FEWEST_LINES = 8
LEAST_SHARE = 0.8
"""Of the lines of a column, those that have a digit; else they are words."""
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
_RULE = re.compile(r"[ \t]*+\|(?:[ \t]*+:?+-++:?+[ \t]*+\|?+)++[ \t]*+\r?\Z")
"""The line below the names of a Markdown table."""
_WORD = re.compile(OPENS_COLUMN)


class Row(NamedTuple):
    """Cells from `start` up to `stop`; without cells for a blank line."""

    start: int
    stop: int
    cells: Sequence[str]


def add_rows(
    builder: ShapeBuilder, rows: Sequence[Row], is_named: Sequence[bool], *, guesses: bool
) -> tuple[int, int]:
    """Add a unit for the rows of names, and one that leans on it for each other row.

    `is_named`: of the first rows, which have names for certain. `guesses`: whether other rows may
    have names, by the values below them. The number of the last row of names, -1 for none, and how
    many columns there are.
    """
    cells = [row.cells for row in rows[:LOOKED_AT]]
    names = _names_row(cells) if guesses else -1
    is_title = len(rows) > PAIR and sum(map(bool, map(str.strip, rows[0].cells))) == 1
    last = next((n for n, known in enumerate(is_named) if known), len(rows))
    if last <= is_title:  # right at the top, or below a title
        while any(is_named[last + 1 : last + 2]) and len(rows[last + 1].cells) >= PAIR:
            last += 1
        names = max(names, last) if last + 1 < len(rows) else names
    head = builder.add(rows[0].start) if names >= 0 else -1
    body = rows[names + 1 :]
    for row in body:
        builder.add(row.start, head)
    builder.counted.append(("rows", [(row.start, row.stop) for row in body]))
    return names, max(Counter(map(len, cells)).items(), key=lambda found: (found[1], found[0]))[0]


def read_delimited(text: str, start: int) -> ReadResult:
    """The rows from here on that have as many cells as the first."""
    end = line_end(text, start)
    delimiter = _delimiter(text[start:end], text[end + 1 : line_end(text, end + 1)])
    if not delimiter:
        return ReadResult(None, end + 1)
    coming = _rows(text, start, delimiter)
    first, found, torn = next(coming), list[Row](), False
    if len(first.cells) < PAIR:
        return ReadResult(None, max(first.stop, start) + 1)
    row: Row | None = first
    while row is not None and row.cells and len(row.cells) == len(first.cells):
        found.append(row)
        row = next(coming, None)
        if len(found) == LOOKED_AT and not _is_table(found, delimiter):
            break
        if row is not None and row.cells and len(row.cells) != len(first.cells):
            following = next(coming, None)  # a row may have other cells than all others
            torn = following is None and _is_torn(
                text[slice(*row[:2])], delimiter, len(first.cells)
            )
            if torn or (following is not None and len(following.cells) == len(first.cells)):
                found.append(row)
                row = following
    if not _is_table(found[:LOOKED_AT], delimiter):
        return ReadResult(None, max(first.stop, start) + 1)
    builder = ShapeBuilder()
    names, columns = add_rows(builder, found, (), guesses=True)
    name = NAMES.get(delimiter, f"rows by {delimiter}")
    stop = found[-1].stop
    shape = builder.shape(text, name, stop, head=min(names, 0), columns=columns)
    return ReadResult(shape, stop + 1)


def _delimiter(line: str, following: str) -> str:
    """The delimiter by which these two lines may be rows; empty for none."""
    bare = _QUOTED.sub("", line)
    for delimiter in "\t,;|":
        count = bare.count(delimiter)
        if not count or (following.count(delimiter) < count and f'{delimiter}"' not in bare):
            continue
        if delimiter in "\t|" or bare.count(delimiter + " ") < count or '"' in line:
            return delimiter
    return ""


@lru_cache(maxsize=8)
def _patterns(delimiter: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A row, and a cell behind its delimiter."""
    cell = rf"(?:{_QUOTED.pattern}(?=[{delimiter}\r\n]|\Z)|[^{delimiter}\n]*+)"
    return (
        re.compile(rf"{cell}(?:[{delimiter}]{cell})*+"),
        re.compile(rf"[{delimiter}]({cell})"),
    )


def _rows(text: str, at: int, delimiter: str) -> Iterator[Row]:
    row_at, cells_of = _patterns(delimiter)
    while at < len(text):
        stop = line_end(text, at)
        if text.find('"', at, stop) >= 0 and (row := row_at.match(text, at)):
            line, stop = row[0].rstrip("\r"), row.end()
            cells = [cell.strip('"') for cell in cells_of.findall(delimiter + line)]
        else:
            line = text[at:stop].rstrip("\r")
            cells = line.split(delimiter) if line.strip() else []
        yield Row(at, at + len(line), cells)
        at = stop + 1


def _is_torn(part: str, delimiter: str, columns: int) -> bool:
    """Whether the last line of the text may be the beginning of a row, and is no prose."""
    bare = _QUOTED.sub("", f'{part}"' if part.count('"') % 2 else part)
    count = bare.count(delimiter)
    is_prose = f"{delimiter} " in bare and delimiter in ",;"
    return count < columns and not is_prose and (count > 0 or bare != part or " " not in bare)


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
    return all(name.strip('" ').isidentifier() for name in names) and not _names_row(
        [row.cells for row in rows]
    )


def read_pipe_table(text: str, start: int) -> ReadResult:
    """The lines from here on that begin with a pipe."""
    rows: list[Row] = []
    at = start
    while at < len(text):
        end = line_end(text, at)
        line = text[at:end].lstrip()
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        rows.append(Row(end - len(line), end, cells))
        at = end + 1
    if not start and len(rows) > FEWEST_PIPED and text.count("|", *rows[0][:2]) == 1:
        del rows[0]  # the last pipe of a row that was cut
    rules = [n for n, (a, b, _) in enumerate(rows[:2]) if _RULE.match(text, a, b)]
    if len(rows) < FEWEST_PIPED or (not rules and text.count("|", *rows[0][:2]) < FEWEST_PIPED):
        return ReadResult(None, max(at, start + 1))
    is_named = rules == [1] or not (rules or rows[0].cells[0])  # else their corner may be free
    if rules == [1]:
        del rows[1]
    builder = ShapeBuilder()
    names, columns = add_rows(builder, rows, (is_named,), guesses=rules != [0])
    shape = builder.shape(text, "markdown table", at - 1, head=min(names, 0), columns=columns)
    return ReadResult(shape, max(at, start + 1))


def read_column(text: str, start: int) -> ReadResult:
    """The lines from here on that are one word each, if most of them have a digit."""
    rows, at, digits = list[Row](), start, 0
    while at < len(text) and (word := _WORD.match(text, at)):
        rows.append(Row(at, line_end(text, at), (word[0],)))
        digits += _DIGIT.search(word[0]) is not None
        at = rows[-1].stop + 1
        if digits + PAIR < len(rows) < FEWEST_LINES:
            break  # words, as in most lists
    if len(rows) < FEWEST_LINES or digits < LEAST_SHARE * len(rows):
        return ReadResult(None, max(at, start + 1))
    builder = ShapeBuilder()
    names, _ = add_rows(builder, rows, (), guesses=True)
    shape = builder.shape(text, "column", rows[-1].stop, head=min(names, 0))
    return ReadResult(shape, max(at, start + 1))


def _names_row(rows: Sequence[Sequence[str]]) -> int:
    """Which of these has the names of the columns, -1 if none has.

    Above it may be titles of the whole table, if the values below it show that it has names.
    """
    width, at = max(map(len, rows)), 0
    while at < len(rows) - 1 and width > PAIR and not any(map(str.strip, rows[at][1:])):
        at += 1
    names, values = rows[at], rows[at + 1 :]
    if not values or any(len(name) > MAX_NAME for name in names):
        return -1
    differ = not at and len({name.strip() for name in names}) == len(names) > 1
    return at if _are_years(names, values) or _are_names(names, values, differ=differ) else -1


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

"""INSERT statements of an SQL dump: one row a statement, or many rows below the head of one.

A backslash escapes a quotation mark in MySQL alone, so before one that ends a value it is read as
no escape, unless the rows can be read in no other way. No row goes on over a line that begins
another statement, so a statement that does not end hides none of the next.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from foveate.core.text.shapes.shape import ReadResult, Shape, ShapeBuilder
from foveate.core.types import Span

FEWEST_ROWS = 2
FEWEST_TORN = 3
"""Rows with which the rest of a statement that was cut begins."""
_BEGINS = r"\ufeff?+(?:INSERT|REPLACE)\s++(?:\w++\s++){0,3}?INTO\s++"
_BREAK = rf"\n(?![^\S\n]*+{_BEGINS})"
"""The end of a line that is in a row: the next line begins no statement."""
OPENS = re.compile(
    rf"""{_BEGINS}[^();'\n]{{1,200}}(?:\([^()']*+\))?\s*+
    (?:OVERRIDING\s++\w++\s++VALUE\s++)?VALUES\s*+(?=\()""",
    re.IGNORECASE | re.VERBOSE,
)


class _Patterns(NamedTuple):
    """A row, and what may have commas in it that divide no values."""

    row: re.Pattern[str]
    nested: re.Pattern[str]


def _patterns(escaped: str) -> _Patterns:
    """`escaped`: a quotation mark behind a backslash that does not end its value."""
    string = rf"""'(?: [^'\\\n]++ | {_BREAK} | '' | \\[^'\n] | {escaped} | \\ )*+'"""
    atom = rf"""{string} | {string.replace("'", '"')} | `[^`\n]*+`"""
    plain = rf"""[^()'"`;\n]++ | {_BREAK} | {atom}"""
    call = rf"\( (?: {plain} )*+ \)"
    row, nested = rf"\( (?: {plain} | {call} )*+ \)", rf"{atom} | {call}"
    flags = re.IGNORECASE | re.VERBOSE
    return _Patterns(re.compile(row, flags), re.compile(nested, flags))


_DIALECTS = (_patterns(r"\\'(?!\s*+[,)])"), _patterns(r"\\'"))
_COMMA = re.compile(r"\s*+,\s*+(?=\()")
_END = re.compile(
    rf"""(?: \s++(?:AS|ON|RETURNING)\b (?: [^;'"`\n]++ | {_BREAK} | '[^'\n]*+' | "[^"\n]*+" )*+ )?
    \s*+[;,]\s*+ | \s++""",
    re.IGNORECASE | re.VERBOSE,
)


def read_sql(text: str, start: int) -> ReadResult:
    """The statements of one row each from here on, or one of many rows."""
    opening = OPENS.match(text, start)
    if opening is None:
        return ReadResult(None, start + 1)
    rows, widths = _rows(text, opening.end())
    if len(rows) == 1:
        return _read_statements(text, opening)
    if len(rows) < FEWEST_ROWS:
        return ReadResult(None, opening.end())
    return ReadResult(_rows_shape(text, rows, widths[0], start), rows[-1][1])


def read_more_rows(text: str, start: int) -> Shape | None:
    """The rows of a statement that begins before the text, each behind a bare comma or on a line.

    All have the same number of columns, and more than one; else these are words in parentheses.
    """
    rows, widths = _rows(text, start)
    between = (text[a:b] for (_, a), (b, _) in pairwise(rows))
    is_torn = len(set(widths)) == 1 < widths[0] and len(rows) >= FEWEST_TORN
    if is_torn and all(gap == "," or "\n" in gap for gap in between):
        return _rows_shape(text, rows, widths[0])
    return None


def _rows_shape(text: str, rows: list[Span], columns: int, start: int = -1) -> Shape:
    """The rows as units; `start`: where their statement begins, -1 if that is not in the text."""
    builder = ShapeBuilder()
    head = builder.add(start) if start >= 0 else -1
    for row, _ in rows:
        builder.add(row, head)
    builder.counted.append(("rows", rows))
    end = _statement_end(text, rows[-1])
    return builder.shape(text, "sql rows", end, head=head, columns=columns)


def _read_statements(text: str, opening: re.Match[str] | None) -> ReadResult:
    """The statements of one row each, if there are some; one of many is a shape of its own."""
    builder, found, end = ShapeBuilder(), list[Span](), 0
    while opening:
        rows, _ = _rows(text, opening.end())
        if len(rows) != 1:
            break
        builder.add(opening.start())
        found.append((opening.start(), rows[0][1]))
        end = _statement_end(text, rows[0])
        opening = OPENS.match(text, end)
    builder.counted.append(("rows", found))
    shape = builder.shape(text, "sql", end) if len(found) >= FEWEST_ROWS else None
    return ReadResult(shape, end)


def _rows(text: str, start: int) -> tuple[list[Span], list[int]]:
    """The rows from here on, with commas between, and how many columns each has.

    They are those up to the end of the statement, if one of the dialects comes to it.
    """
    found: list[tuple[list[Span], list[int]]] = []
    for patterns in _DIALECTS:
        rows, widths, at = list[Span](), list[int](), start
        while row := patterns.row.match(text, at):
            rows.append(row.span())
            widths.append(patterns.nested.sub("", row[0][1:-1]).count(",") + 1)
            comma = _COMMA.match(text, row.end())
            if comma is None:
                return rows, widths
            at = comma.end()
        found.append((rows, widths))
    return max(found, key=lambda one: len(one[0]))


def _statement_end(text: str, row: Span) -> int:
    """Where what is behind the statement begins; `row`: its last."""
    end = _END.match(text, row[1])
    return end.end() if end else row[1]

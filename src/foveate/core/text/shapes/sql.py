"""INSERT statements of an SQL dump: one row a statement, or many rows below the head of one.

A backslash escapes a quotation mark in MySQL alone; before one that ends a value it does not.
"""

from __future__ import annotations

import re

from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder
from foveate.core.types import Span

FEWEST_ROWS = 2
FEWEST_TORN = 3
"""Rows, one a line, with which the rest of a statement that was cut begins."""
_STRING = r"""'(?: [^'\\]++ | '' | \\[^'] | \\'(?!\s*+[,)]) | \\ )*+'"""
_ATOM = rf"""{_STRING} | {_STRING.replace("'", '"')} | `[^`]*+`"""
_CALL = rf"""\( (?: [^()'"`;]++ | {_ATOM} )*+ \)"""
_ROW = re.compile(rf"""\( (?: [^()'"`;]++ | {_ATOM} | {_CALL} )*+ \)""", re.VERBOSE)
_NESTED = re.compile(rf"{_ATOM} | {_CALL}", re.VERBOSE)
"""What may have commas in it that divide no values."""
OPENS = re.compile(
    r"""(?:INSERT|REPLACE)\s++(?:(?:IGNORE|OR\s++\w++)\s++)?INTO\s++[^();'\n]{1,200}
    (?:\([^()']*+\))?\s*+VALUES\s*+(?=\()""",
    re.IGNORECASE | re.VERBOSE,
)
_COMMA = re.compile(r"\s*+,\s*+(?=\()")
_END = re.compile(r"(?:(?:\s*+ON\s[^;'\n]*+)?\s*+[;,])?\s*+")


def read_sql(text: str, start: int) -> ReadResult:
    """The statements of one row each from here on; or one of many rows, or the rest of one."""
    opening = OPENS.match(text, start)
    rows, stop = _rows(text, opening.end() if opening else start)
    if opening and len(rows) == 1:
        return _read_statements(text, opening)
    is_torn = opening is None and text.count("\n", start, stop) + 1 >= len(rows) >= FEWEST_TORN
    if len(rows) < FEWEST_ROWS or not (opening or is_torn):
        return ReadResult(None, stop)
    builder = ShapeBuilder()
    head = builder.add(start) if opening else -1
    for row, _ in rows:
        builder.add(row, head)
    builder.counted.append(("rows", rows))
    columns = _NESTED.sub("", text[rows[0][0] + 1 : rows[0][1] - 1]).count(",") + 1
    end = _statement_end(text, rows[-1])
    shape = builder.shape(text, "sql rows", end, head=head, columns=columns)
    return ReadResult(shape, max(stop, end))


def _read_statements(text: str, opening: re.Match[str] | None) -> ReadResult:
    """The statements of one row each, if there are some; one of many is a shape of its own."""
    builder, found, end, stop = ShapeBuilder(), list[Span](), 0, 0
    while opening:
        rows, stop = _rows(text, opening.end())
        if len(rows) != 1:
            break
        builder.add(opening.start())
        found.append((opening.start(), rows[0][1]))
        end = _statement_end(text, rows[0])
        opening = OPENS.match(text, end)
    builder.counted.append(("rows", found))
    shape = builder.shape(text, "sql", end) if len(found) >= FEWEST_ROWS else None
    return ReadResult(shape, end if opening is None or rows else stop)


def _rows(text: str, at: int) -> tuple[list[Span], int]:
    """The rows from here on, with commas between, and up to where they were looked for."""
    found = list[Span]()
    while row := _ROW.match(text, at):
        found.append(row.span())
        comma = _COMMA.match(text, row.end())
        if comma is None:
            return found, row.end()
        at = comma.end()
    return found, len(text)


def _statement_end(text: str, row: Span) -> int:
    """Where what is behind the statement begins; `row`: its last."""
    end = _END.match(text, row[1])
    return end.end() if end else row[1]

"""A table of finished cells, and how it is written down: in Markdown, in HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from foveate.evals.bootstrap import Interval

BETTER, WORSE = "▲", "▼"
EMPTY_CELL = "-"

_MARKUP = re.compile(r"[\\<|]|&(?=[#\w])|(?<=\])\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Finished cells; every row is as long as the head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def format_difference(found: Interval) -> str:
    """Value, interval, and a mark where it leaves out 0."""
    mark = {"better": f" {BETTER}", "worse": f" {WORSE}", "": ""}[found.verdict]
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]{mark}"


def format_count(count: int, noun: str) -> str:
    """The count with its noun."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def literal(text: str) -> str:
    r"""A text that Markdown shows as it is: on one line, without tags, entities and links.

    >>> literal("<b> [x](y)")
    '\\<b> [x]\\(y)'
    """
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def table_to_markdown(table: Table) -> str:
    """The table in Markdown, its columns aligned so that it reads as plain text too."""
    lines = [table.head, *table.rows]
    escaped = [[literal(cell) for cell in line] for line in lines]
    widths = [max(3, *(len(line[i]) for line in escaped)) for i in range(len(table.head))]
    shown = [_format_line(line, widths) for line in escaped]
    rule = "|".join("-" * (width + 2) for width in widths)
    return "\n".join([shown[0], f"|{rule}|", *shown[1:]])


def _format_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"


def table_to_html(table: Table) -> str:
    """The table in HTML."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.head)
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows
    )
    return f"<table>\n<tr>{head}</tr>\n{rows}\n</table>"

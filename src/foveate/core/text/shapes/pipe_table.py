"""Markdown tables: lines between pipes. A row leans on the row of names."""

from __future__ import annotations

import re

from foveate.core.text.shapes.delimited import LOOKED_AT, names_row, usual_width
from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder, line_end

RULE = re.compile(r"[ \t]*+\|(?:[ \t]*+:?+-++:?+[ \t]*+\|?+)++[ \t]*+\r?\Z")
"""The line below the names of a Markdown table."""
FEWEST_ROWS = 2


def read_pipe_table(text: str, start: int) -> ReadResult:
    """The lines from here on that begin with a pipe."""
    lines: list[tuple[int, int]] = []
    at = start
    while at < len(text):
        end = line_end(text, at)
        if not text[at:end].lstrip().startswith("|"):
            break
        lines.append((at + len(text[at:end]) - len(text[at:end].lstrip()), end))
        at = end + 1
    if not start and len(lines) > FEWEST_ROWS and text.count("|", *lines[0]) == 1:
        del lines[0]  # the last pipe of a row that was cut
    rules = [n for n, (a, b) in enumerate(lines[:2]) if RULE.match(text, a, b)]
    if len(lines) < FEWEST_ROWS or (not rules and text.count("|", *lines[0]) < FEWEST_ROWS):
        return ReadResult(None, max(at, start + 1))
    builder = ShapeBuilder()
    ruled = rules == [1]
    cells = [_cells(text, *one) for one in lines]
    if ruled:
        del cells[1]
    names = -1 if rules and not ruled else names_row(cells[:LOOKED_AT])
    if ruled or not (rules or cells[0][0]):  # without a rule, their corner may be free
        names = max(names, 0)
    head = builder.add(lines[0][0]) if names >= 0 else -1
    rows = lines[names + 1 + ruled :]
    columns = usual_width(cells[:LOOKED_AT])
    for a, _ in rows:
        builder.add(a, head)
    builder.counted.append(("rows", rows))
    shape = builder.shape(text, "markdown table", lines[-1][1], head=head, columns=columns)
    return ReadResult(shape, max(at, start + 1))


def _cells(text: str, start: int, end: int) -> list[str]:
    return [cell.strip() for cell in text[start:end].strip().strip("|").split("|")]

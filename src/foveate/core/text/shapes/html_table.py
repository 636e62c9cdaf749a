"""HTML tables: a row is a unit and leans on the row of names; missing end tags are no errors.

A table inside of a cell belongs to the row that it stands in.
"""

from __future__ import annotations

import re
from itertools import pairwise

from foveate.core.text.shapes.delimited import LOOKED_AT, PAIR, names_row
from foveate.core.text.shapes.qualifiers import add_rows, is_measure_line, usual_width
from foveate.core.text.shapes.shape import Draft, Reading, torn_tag_end

FIRST = re.compile(r"<(?:table|thead|tbody|tr)\b", re.IGNORECASE)
_TAG = re.compile(r"<(/?)(table|thead|tbody|tfoot|tr|th|td)\b[^<>]*+>?", re.IGNORECASE)
_CELL = re.compile(r"<t[hd]\b[^<>]*+>?", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*+>?")
_BOLD = re.compile(r"\s*+<(?:b|strong)\b", re.IGNORECASE)
_CELL_STOP = re.compile(r"[<\n]|\Z")
FEWEST_ROWS = 2


def read_html_table(text: str, start: int) -> Reading:
    """The table that begins with the tag here, or the rest of one that begins with a row."""
    depth = 0
    rows: list[tuple[int, bool]] = []  # where each begins, and whether all its cells are names
    nested: list[tuple[int, bool]] = []
    whole, is_open, end, has_cells = False, False, start, False
    for tag in _TAG.finditer(text, start):
        closing, name = bool(tag.group(1)), tag.group(2).lower()
        if name == "table":
            depth += -1 if closing else 1
            whole = whole or not closing
            if closing and depth <= 0:
                end = tag.end()
                break
        elif name == "tr" and not closing:
            (rows if depth <= 1 else nested).append((tag.start(), False))
            has_cells = has_cells and depth > 1
        elif name in ("td", "th") and depth <= 1 and rows and not closing:
            at, names = rows[-1]
            rows[-1] = (at, name == "th" and (names or not has_cells))
            has_cells = True
        end, is_open = tag.end(), not closing
    if depth > 0 or not whole:  # it was cut, in a cell or in a tag
        stop = _CELL_STOP.search(text, end) if is_open else None
        end = torn_tag_end(text, stop.start() if stop else end)
    if depth > 1:  # tables that do not end: what looks nested may as well follow
        rows = sorted(rows + nested)
    if len(rows) < FEWEST_ROWS:
        return Reading(None, max(end, start + 1))
    if len(rows) > FEWEST_ROWS and _is_above_names(text, rows[:3]):
        del rows[0]  # it is a part of their unit
    above = _names_in_cells(text, rows, end) if whole and not rows[0][1] else -1
    del rows[: max(above, 0)]
    draft = Draft()
    named = rows[0][1] or above >= 0
    head = draft.add(start) if named else -1
    bodies = rows[1:] if named else rows
    starts = [at for at, _ in bodies]
    spans = list(zip(starts, [*starts[1:], end], strict=True))
    firsts = starts if named else [start, *starts[1:]]
    cells = [_cells(text[a:b]) for a, b in spans]
    columns = usual_width(cells)
    head, units = add_rows(draft, head, firsts, cells, columns)
    draft.counted.append(("rows", spans[units:]))
    shape = draft.shape(text, "html table", end, head=head, columns=columns, broken=depth > 0)
    return Reading(shape, max(end, start + 1))


def _names_in_cells(text: str, rows: list[tuple[int, bool]], end: int) -> int:
    """Which row has the names of the columns in cells like those of the others, -1 if none has.

    It is read from the values, or is the first row in bold. Rows of two cells that are not bold may
    each have the name of their own value.
    """
    starts = [at for at, _ in rows[:LOOKED_AT]]
    bounds = [*starts, rows[LOOKED_AT][0] if len(rows) > LOOKED_AT else end]
    written = [text[a:b] for a, b in pairwise(bounds)]
    bold = [[bool(_BOLD.match(cell)) for cell in _CELL.split(row)[1:]] for row in written[:PAIR]]
    if bold[0] and all(bold[0]) and not all(bold[1]):
        return 0
    cells = [_cells(row) for row in written]
    return names_row(cells) if usual_width(cells) > PAIR else -1


def _is_above_names(text: str, rows: list[tuple[int, bool]]) -> bool:
    """Whether the first row is a title or a measure for the names in the second."""
    (first, _), (second, is_names), (third, _) = rows
    above = [cell for cell in _cells(text[first:second]) if cell]
    return len(above) == 1 and (
        is_measure_line(above[0]) or (is_names and len(_cells(text[second:third])) > 1)
    )


def _cells(row: str) -> list[str]:
    """The texts of a row's cells."""
    return [_ANY_TAG.sub("", cell).strip() for cell in _CELL.split(row)[1:]]

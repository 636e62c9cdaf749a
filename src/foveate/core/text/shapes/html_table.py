"""HTML tables: a row is a unit and leans on the row of names; missing end tags are no errors.

A table in a cell of another is a table of its own, whose rows are read as such: the outer one may
lay out a page. It ends there, and goes on behind the inner one as the rest of a table.
"""

from __future__ import annotations

import re
from itertools import pairwise

from foveate.core.text.shapes.delimited import LOOKED_AT, PAIR, names_row, usual_width
from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder, torn_tag_end

FIRST = re.compile(r"<(?:table|thead|tbody|tr)\b", re.IGNORECASE)
_TAG = re.compile(r"<(/?)(table|thead|tbody|tfoot|tr|th|td)\b[^<>]*+>?", re.IGNORECASE)
_CELL = re.compile(r"<t[hd]\b[^<>]*+>?", re.IGNORECASE)
_ROWSPAN = re.compile(r"<t[hd]\b[^<>]*?\browspan\s*+=\s*+[\"']?(\d{1,6})", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*+>?")
_BOLD = re.compile(r"\s*+<(?:b|strong)\b", re.IGNORECASE)
_CELL_STOP = re.compile(r"[<\n]|\Z")
FEWEST_ROWS = 2


def read_html_table(text: str, start: int) -> ReadResult:
    """The table that begins with the tag here, or the rest of one that begins with a row."""
    rows, end, is_cut = _scan(text, start)
    if len(rows) < FEWEST_ROWS:
        return ReadResult(None, max(end, start + 1))
    whole = text[start : start + len("<table")].lower() == "<table"
    if len(rows) > FEWEST_ROWS and _is_above_names(text, rows[:3]):
        del rows[0]  # it is a part of their unit
    above = _names_in_cells(text, rows, end) if whole and not rows[0][1] else -1
    del rows[: max(above, 0)]
    builder = ShapeBuilder()
    named = rows[0][1] or above >= 0
    head = builder.add(start) if named else -1
    if named and _has_two_lines(text, rows[:3]):
        head = builder.add(rows.pop(1)[0], head)
    bodies = rows[1:] if named else rows
    starts = [at for at, _ in bodies]
    spans = list(zip(starts, [*starts[1:], end], strict=True))
    firsts = starts if named else [start, *starts[1:]]
    cells = [_cells(text[a:b]) for a, b in spans]
    columns = usual_width(cells)
    for at in firsts:
        builder.add(at, head)
    _lean_on_spans(builder, [text[a:b] for a, b in spans])
    builder.counted.append(("rows", spans))
    shape = builder.shape(
        text, "html table", end, head=head, columns=columns, broken=whole and is_cut
    )
    return ReadResult(shape, max(end, start + 1))


def _scan(text: str, start: int) -> tuple[list[tuple[int, bool]], int, bool]:
    """The rows up to the end of the table, to the next table, or to the end of the text.

    Of each where it begins, and whether all its cells are names; where the table ends, and whether
    its end tag is missing.
    """
    rows: list[tuple[int, bool]] = []
    end, is_open, has_cells = start, True, False
    for tag in _TAG.finditer(text, start):
        closing, name = bool(tag.group(1)), tag.group(2).lower()
        if name == "table" and closing:
            return rows, tag.end(), False
        if name == "table" and tag.start() > start:
            break
        if name == "tr" and not closing:
            rows.append((tag.start(), False))
            has_cells = False
        elif name in ("td", "th") and not closing and rows:
            row, only_names = rows[-1]
            rows[-1] = row, name == "th" and (only_names or not has_cells)
            has_cells = True
        end, is_open = tag.end(), not closing
    stop = _CELL_STOP.search(text, end) if is_open else None
    return rows, torn_tag_end(text, stop.start() if stop else end), True


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


def _has_two_lines(text: str, rows: list[tuple[int, bool]]) -> bool:
    """Whether the second row alone has names too, and is not the title of a group."""
    if [is_names for _, is_names in rows] != [True, True, False]:
        return False
    return len(_cells(text[rows[1][0] : rows[2][0]])) > 1


def _lean_on_spans(builder: ShapeBuilder, rows: list[str]) -> None:
    """Let the rows, which are the last units, lean on the nearest one with a cell that covers them.

    What that one leans on is shown with them.
    """
    first = len(builder.leans) - len(rows)
    open_spans: list[tuple[int, int]] = []  # the last row that is covered, and the unit that covers
    for n, row in enumerate(rows):
        while open_spans and open_spans[-1][0] < n:
            open_spans.pop()
        if open_spans:
            builder.leans[first + n] = open_spans[-1][1]
        covered = max(map(int, _ROWSPAN.findall(row)), default=1)
        if covered > 1:
            open_spans.append((n + covered - 1, first + n))


def _is_above_names(text: str, rows: list[tuple[int, bool]]) -> bool:
    """Whether the first row is a title above the names in the second."""
    (first, _), (second, is_names), (third, _) = rows
    above = [cell for cell in _cells(text[first:second]) if cell]
    return len(above) == 1 and is_names and len(_cells(text[second:third])) > 1


def _cells(row: str) -> list[str]:
    """The texts of a row's cells."""
    return [_ANY_TAG.sub("", cell).strip() for cell in _CELL.split(row)[1:]]

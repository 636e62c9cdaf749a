"""Rows that qualify others: units of measure, titles of groups, and totals of them.

A row of units leans on the names, and every row below it leans on the units. A row that has a text
in its first cell alone titles the rows below it, up to their total or to the next title.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foveate.core.text.shapes.shape import Draft

_UNIT = re.compile(
    r"""[(\[]?(?:in[ ]|per[ ])?(?:
        %|°[CF]?|[€$£¥]
      | AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|INR|JPY|KRW|MXN|NOK|NZD|PLN|SEK|SGD|TRY|USD|ZAR
      | (?:US)?[$€£]?[ ]?[mM](?:illions?|io\.?|rd\.?)?|thousands?|billions?
      | [kKMGm]?(?:g|l|L|m[²³23]?|W|Wh|V|A|Hz|B|Pa|J|N|s)|t|cm[²³]?|h|d|min|bar|ha|pcs|units?
    )(?:/\w{1,4})?[)\]]?
    |[(\[][^\d()\[\]]{1,24}[)\]]""",
    re.VERBOSE,
)
_TOTAL = re.compile(
    r"(?:sub-?|grand[ ])?"
    r"(?:totals?|sum|summe|gesamt|insgesamt|totaal|suma|合計|小計|总计|合计)\b",
    re.IGNORECASE,
)


def add_rows(
    draft: Draft, head: int, starts: Sequence[int], rows: Sequence[Sequence[str]]
) -> tuple[int, int]:
    """Units for the rows, which lean on `head` or on what qualifies them.

    The unit that later rows lean on, and how many rows are units of measure.
    """
    title = -1
    first = 1 if rows and head >= 0 and is_unit_row(*rows) else 0
    if first:
        head = draft.add(starts[0], head)
    for start, cells in zip(starts[first:], rows[first:], strict=True):
        is_title = head >= 0 and is_title_row(cells)
        own = draft.add(start, head if is_title or title < 0 else title)
        if is_title:
            title = own
        elif is_total_row(cells):
            title = -1
    return head, first


def is_unit_row(cells: Sequence[str], *following: Sequence[str]) -> bool:
    """Whether the cells are units of measure; the first may be anything without digits.

    The first of the following rows with a value where a unit is has mostly numbers there, so a `m`
    below `sex` is no metre.
    """
    first, *others = [cell.strip(" *") for cell in cells] or [""]
    units = [n for n, cell in enumerate(others, 1) if cell]
    if not units or any(c.isdigit() for c in first) or not all(is_unit(cells[n]) for n in units):
        return False
    for row in following:
        values = [row[n] for n in units if n < len(row) and row[n].strip()]
        if values:
            return 2 * sum(any(c.isdigit() for c in value) for value in values) >= len(values)
    return False


def is_unit(cell: str) -> bool:
    """Whether the cell is a unit of measure, such as `EUR`, `(in kg)` or `%`."""
    return _UNIT.fullmatch(cell.strip(" *")) is not None


def is_title_row(cells: Sequence[str]) -> bool:
    """Whether the first of three or more cells alone has a text; one of two may lack its value."""
    return len(cells) > 2 and bool(cells[0].strip()) and not any(c.strip() for c in cells[1:])


def is_total_row(cells: Sequence[str]) -> bool:
    """Whether the row sums up those before it."""
    return bool(cells) and _TOTAL.match(cells[0].strip(" *")) is not None

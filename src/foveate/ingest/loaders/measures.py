"""Cells and lines of sheets that qualify figures: units of measure, and totals of groups."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
MAX_MEASURE = 100
"""Characters of a line that says how a table is measured."""
_MEASURE = re.compile(
    r"""%|[$€£¥]|eur|usd|gbp|chf|jpy|cny|aud|cad|sek|nok|dkk|pln|inr|brl|teur|t€|[mk]€|€[mk]|euros?
      |dollars?|pounds?|francs?|franken|yen|percent|prozent|thousands?|millions?|billions?
      |tausend|tsd|mio|mrd|milliers|milliards?|millones|miles|duizend(?:en)?|miljoen(?:en)?
      |migliaia|milioni""",
    re.VERBOSE,
)
_FILLER_WORDS = (
    "in en of de d von van di us u.s '000 000 1000 1,000 all amounts amount figures values data "
    "numbers are stated expressed shown unless otherwise except for per "
    "alle beträge angaben werte "  # codespell:ignore alle
    "montants bedragen importes cifras valori"
)
_FILLERS = frozenset(_FILLER_WORDS.split())
_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]+)[)\]]\Z")


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


def is_measure_line(line: str) -> bool:
    """Whether the line says how a table is measured, as `in thousands of EUR` does.

    It says nothing else, or ends with it in brackets.
    """
    line = line.strip(" \t\r\n|,;*_:.")
    if not line or len(line) > MAX_MEASURE or line.startswith("#"):
        return False
    ends = _IN_BRACKETS.search(line) if line[-1] in ")]" else None
    is_said = False
    said = (ends[1] if ends else line).lower().replace("per share", "per")
    for part in said.split():  # of prose the first word or two
        word = part.strip(".,:;'’")
        if _MEASURE.fullmatch(word):
            is_said = True
        elif word not in _FILLERS:
            return False
    return is_said


def is_total_row(label: str) -> bool:
    """Whether a row whose first cell is this sums up those before it."""
    return _TOTAL.match(label.strip(" *")) is not None

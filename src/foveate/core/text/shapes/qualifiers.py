"""Rows that qualify others: units of measure, titles of groups, and totals of them.

A row of units leans on the names, and every row below it leans on the units. A line above the names
that says how all is measured ("in thousands of EUR") is read with them. A row that has a text in
its first cell alone titles the rows below it, up to their total or to the next title.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from foveate.core.text.shapes.shape import ShapeBuilder

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
_IDENTIFIER = re.compile(
    r"""(?<![\w,.])(?![^\W\d_]{0,9}(?:19|20)\d\d(?:[^\W\d_]\d?)?\b)(?:[^\W\d]*\d){3}  # no year
      | \A[^\W\d_]\S*[-_]\d\S*\Z | \S@\S | ://""",
    re.VERBOSE,
)
"""What has the identifier of a record, as `0027`, `A-2` or an address; it titles no others."""

LOOKED_AT = 40
"""Rows from which it is read whether a table has figures."""
_FIGURE = re.compile(r"\W*+\d[\d.,:/' -]*+\W*+[^\W\d]{0,3}\W*+")
MAX_TITLE = 100
"""Characters of a group's title."""
MAX_SHORT = 2
"""Characters of a word that says nothing of a group."""
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


def add_rows(
    builder: ShapeBuilder,
    head: int,
    starts: Sequence[int],
    rows: Sequence[Sequence[str]],
    columns: int,
) -> tuple[int, int]:
    """Units for the rows, which lean on `head` or on what qualifies them.

    The unit that later rows lean on, and how many rows are units of measure.
    """
    title, goes_on, group = -1, True, ""
    first = 0
    if rows and head >= 0 and is_unit_row(*rows):
        head, first = builder.add(starts[0], head), 1
    may_title = head >= 0  # the row below the names, and any behind a title or a total
    has_figures: bool | None = None  # not read for each title again, for the rows may be wide
    for start, cells in zip(starts[first:], rows[first:], strict=True):
        is_title = is_title_row(cells, columns)
        if is_title and not may_title:
            is_title = has_figures = _has_figures(rows) if has_figures is None else has_figures
        own = builder.add(start, head if is_title or title < 0 else title)
        builder.untitled += goes_on and not is_title
        if is_title or is_total_row(cells, group):
            title, goes_on, group = (own, False, cells[0]) if is_title else (-1, False, "")
        may_title = not goes_on
    builder.title = title
    return head, first


def _has_figures(rows: Sequence[Sequence[str]]) -> bool:
    """Whether most cells behind the first are numbers, as in tables whose rows have titles.

    Elsewhere a text alone is the name of a record that lacks its other values.
    """
    values = [cell for row in rows[:LOOKED_AT] for cell in row[1:] if cell.strip(" *-")]
    return 2 * sum(_FIGURE.fullmatch(cell) is not None for cell in values) > len(values)


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


def is_title_row(cells: Sequence[str], columns: int) -> bool:
    """Whether the first of three or more cells alone has a text; one of two may lack its value.

    A record whose other values are missing has an identifier there.
    """
    if columns < 3 or not cells or any(cell.strip() for cell in cells[1:]):
        return False
    title = cells[0].strip(" *")
    if not 0 < len(title) <= MAX_TITLE or is_total_row(cells):
        return False
    return _IDENTIFIER.search(title) is None


def usual_width(rows: Sequence[Sequence[str]]) -> int:
    """How many cells most of the rows have; a title may be one cell over all columns."""
    return max(Counter(map(len, rows)).items(), key=lambda found: (found[1], found[0]))[0]


def is_total_row(cells: Sequence[str], group: str = "") -> bool:
    """Whether the row sums up those before it.

    `group`: the title of these, if it is known. `Total Assets` says something of it again, and
    `Total Energies` is the name of a row.
    """
    label = cells[0].strip(" *") if cells else ""
    found = _TOTAL.match(label)
    of = label[found.end() :].split() if found else []
    if found is None or not group or not of or not of[0][0].isupper():
        return found is not None
    words = [word.strip(".,:;()").lower().removesuffix("s") for word in of]
    return any(len(word) > MAX_SHORT and word in group.lower() for word in words)

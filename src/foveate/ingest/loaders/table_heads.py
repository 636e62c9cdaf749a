"""Tells names of columns from the rows of a table and from what is written above it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from foveate.ingest.loaders.column_names import join_names, names_go_on
from foveate.ingest.loaders.measures import is_measure_line

MAX_NAME_LENGTH = 100
"""Characters of a name, or of a title."""
_NUMBER = re.compile(
    r"[-+(−]{0,2}(?:[$€£¥]|[A-Z]{3})? ?[\d.,:/ \'’-]*\d[\d.,:/ \'’-]*(?:E[+-]?\d+)? ?[%€$£¥]?\)?"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_BLANK_MARKS = frozenset({"-", "–", "—", "n/a", "na", "n.a.", "none", "null", "nil", "nan", "tbd"})
_MARKS = frozenset({"?", "x", "k.a.", "…", "...", "#n/a", "#div/0!", "#ref!", "#value!"})

Cells = Mapping[int, str]
"""The cells of a row that are not empty, by column."""
Row = tuple[int, Cells]
"""A row by its number in the file."""


def is_figure(text: str) -> bool:
    """Whether the cell has a number, an amount, a date or a time.

    >>> is_figure("(1,234.50)"), is_figure("12 %"), is_figure("2024-03-01"), is_figure("A-12")
    (True, True, True, False)
    """
    return _NUMBER.fullmatch(text) is not None


def is_blank_mark(text: str) -> bool:
    """Whether the cell says that there is no value."""
    return text.lower() in _BLANK_MARKS or text.lower() in _MARKS


def figure_columns(rows: Sequence[Cells]) -> set[int]:
    """The columns that have figures alone."""
    found: dict[int, bool] = {}
    for filled in rows:
        for column, text in filled.items():
            if not is_blank_mark(text):
                found[column] = found.get(column, True) and is_figure(text)
    return {column for column, is_one in found.items() if is_one}


def contrast(names: Cells, following: Cells) -> set[int]:
    """The columns in which figures are below texts."""
    return {
        column
        for column, name in names.items()
        if is_figure(following.get(column, "")) and not is_figure(name)
    }


def end_of_part(rows: Sequence[Row]) -> int:
    """How many rows there are up to the first empty one."""
    gaps = (n for n in range(1, len(rows)) if rows[n][0] > rows[n - 1][0] + 1)
    return next(gaps, len(rows))


def leading_titles(rows: Sequence[Row]) -> int:
    """How many rows of one cell come first; none if there are no others."""
    return next((n for n, (_, filled) in enumerate(rows) if len(filled) > 1), 0)


def rows_above_names(rows: Sequence[Row]) -> int:
    """How many rows are above the names: titles, who made the table, when, and how it is measured.

    They have one cell, or are a list of labels with their values that is narrower than the names.
    """
    lead = leading_titles(rows)
    for n in range(lead + 1, len(rows) - 1):
        is_wider = len(rows[n][1]) > max(len(filled) for _, filled in rows[lead:n])
        is_apart = rows[n][0] > rows[n - 1][0] + 1 or contrast(rows[n][1], rows[n + 1][1])
        if is_wider and is_apart and is_header(rows[n][1], rows[n + 1][1]):
            return lead if is_table(rows[lead:n]) else n
    return lead


def is_table(rows: Sequence[Row]) -> bool:
    """Whether these are no labels with their values: they have three columns, or figures alone."""
    part = [filled for _, filled in rows[: end_of_part(rows)]]
    if len(part[0]) > 2:
        return len(part) > 1
    below = figure_columns(part[1:]) if len(part) > 2 else set()
    return any(not any(map(str.isdigit, part[0].get(column, "0"))) for column in below)


def with_joined_names(rows: Sequence[Row], wide: set[int]) -> list[Row]:
    """The rows, of which the first has the names of all lines, such as `2024 Q1`, if these name.

    `wide`: the rows with a cell over several columns.
    """
    found = [*rows]
    while len(found) > 2 and found[0][0] in wide:
        (_, upper), (row, lower) = found[:2]
        columns = range(min(*upper, *lower), max(*upper, *lower) + 1)
        lines = [[cells.get(column, "") for column in columns] for cells in (upper, lower)]
        if not names_go_on(*lines):
            break
        joined = map(join_names, *lines)
        names = {column: name for column, name in zip(columns, joined, strict=True) if name}
        found = [(row, names), *found[2:]]
    return found if len(found) > 1 and is_header(found[0][1], found[1][1]) else [*rows]


def measure(filled: Cells) -> str:
    """What the cells say of how all figures are measured; empty where they say anything else."""
    text = ", ".join(filled.values())
    return text if is_measure_line(text) else ""


def has_own_measure(filled: Cells) -> bool:
    """Whether the row is measured in its own way: as a share of a hundred."""
    return any(text.endswith(("%", "%)")) for text in filled.values())


def is_header(names: Cells, following: Cells) -> bool:
    """Whether this row has names; years are some if those below them are none.

    One name may be there several times if figures are below texts; labels have a colon.
    """
    texts = list(names.values())
    if any(len(name) > MAX_NAME_LENGTH for name in texts) or texts[0].endswith(":"):
        return False
    if len({*texts}) < len(texts) and (len({*texts}) < 2 or not contrast(names, following)):
        return False
    numbers = {column for column, name in names.items() if is_figure(name)}
    if len(numbers) == len(names) and not min(following) < min(names):
        return False
    years = all(_YEAR.fullmatch(names[column]) for column in numbers)
    return years and not any(_YEAR.fullmatch(following.get(column, "")) for column in numbers)


def number_names(names: Cells) -> dict[int, str]:
    """The names, of which one that comes again has its number: `value (2)`.

    >>> number_names({0: "name", 1: "value", 2: "value"})
    {0: 'name', 1: 'value', 2: 'value (2)'}
    """
    counts: Counter[str] = Counter()
    found: dict[int, str] = {}
    for column, name in names.items():
        counts[name] += 1
        found[column] = name if counts[name] == 1 else f"{name} ({counts[name]})"
    return found


def has_figures(rows: Sequence[Row], left: int) -> bool:
    """Whether most cells behind the first column are numbers, as in tables that have groups."""
    values = [text for _, filled in rows for column, text in filled.items() if column > left]
    return 2 * sum(map(is_figure, values)) > len(values)

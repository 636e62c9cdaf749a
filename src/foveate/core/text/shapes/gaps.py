"""Marks where text is left out, with the numbers of what was counted there.

A mark is a function of the text and of the place of the gap, so that what an extract says it left
out can be checked against the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import itemgetter

from foveate.core.text.shapes.shape import Counted
from foveate.core.types import Span

ELISION = " […] "
"""The mark between two pieces where nothing is counted."""
END_MARK = "…"
"""Where a text goes on before or behind what is shown; shorter, for every extract may have two."""
PATTERN = re.compile(r"\[…(?: \d+(?: of \d+)? [a-z]+(?:, \d+(?: of \d+)? [a-z]+)*)?\]")
"""Every mark, without the white space around it."""
UNCOUNTED = ""
"""In place of a noun: lines that are too few for a number, which would cost more than it says."""
MOST_COUNTS = 3
"""In a mark; where more tables, lists or logs are left out, their counts are added up by noun."""


def gap_mark(
    text: str, start: int, end: int, counted: Sequence[Counted], *, is_apart: bool = False
) -> str:
    """The mark for `text[start:end]`, which is left out; empty if that is white space alone.

    On a line of its own where line breaks are left out with what is counted, or with lines that are
    too few for it. `is_apart`: what is left out at this end of the text is another chunk, which
    needs no mark.
    """
    found, space = [], " "
    for noun, spans in counted:
        number = len(spans_within(spans, start, end))
        if number:
            found.append((noun, number, len(spans)))
            space = "\n" if "\n" in text[start:end] else " "
    found = [one for one in found if one[0] != UNCOUNTED]
    if len(found) > MOST_COUNTS:
        found = _add_up(found)
    told = ", ".join(
        f"{number} of {total} {noun}" if number < total else f"{total} {noun}"
        for noun, number, total in found
    )
    mark = f"[… {told}]" if found else ELISION.strip()
    if not found and (start == 0 or end == len(text)):
        is_blank = is_apart or not text[start:end].strip()
        mark, space = "" if is_blank else END_MARK, " "
    return mark and f"{space if start > 0 else ''}{mark}{space if end < len(text) else ''}"


def _add_up(found: Sequence[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """By noun, how many are left out, and of how many."""
    sums: dict[str, tuple[int, int]] = {}
    for noun, number, total in found:
        numbers, totals = sums.get(noun, (0, 0))
        sums[noun] = numbers + number, totals + total
    return [(noun, *both) for noun, both in sums.items()]


def spans_within(spans: tuple[Span, ...], start: int, end: int) -> tuple[Span, ...]:
    """Those of the spans, which are in order and apart, that lie in the range as a whole."""
    first = bisect_left(spans, start, key=itemgetter(0))
    return spans[first : bisect_right(spans, end, first, key=itemgetter(1))]

"""Marks where text is left out, with the numbers of what was counted there.

A mark is a function of the text and of the place of the gap, so that what an extract says it left
out can be checked against the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from foveate.core.text.shapes.shape import Counted

ELISION = " […] "
"""The mark between two pieces where nothing is counted."""
PATTERN = re.compile(r"\[…(?: \d+ of \d+ [a-z]+(?:, \d+ of \d+ [a-z]+)*)?\]")
"""Every mark, without the white space around it."""


def gap_mark(text: str, start: int, end: int, counted: Sequence[Counted]) -> str:
    """The mark for `text[start:end]`, which is left out; empty at an end where nothing is counted.

    On a line of its own where line breaks are left out with what is counted.
    """
    inner = 0 < start and end < len(text)
    found = []
    for noun, spans in counted:
        number = count_within(spans, start, end)
        if number:
            found.append(f" {number} of {len(spans)} {noun}")
    if not found:
        return ELISION if inner else ""
    mark, space = f"[…{','.join(found)}]", "\n" if "\n" in text[start:end] else " "
    return f"{space if start > 0 else ''}{mark}{space if end < len(text) else ''}"


def count_within(spans: Sequence[tuple[int, int]], start: int, end: int) -> int:
    """How many of these, in order and apart, lie in the range as a whole."""
    first = bisect_left(spans, start, key=lambda span: span[0])
    return max(bisect_right(spans, end, key=lambda span: span[1]) - first, 0)

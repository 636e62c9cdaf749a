"""A column of ids, one a line: each is a unit, below the column's name."""

from __future__ import annotations

import re

from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder, line_end
from foveate.core.text.words import UNSPACED

FEWEST_LINES = 8
LEAST_SHARE = 0.8
"""Of the lines, those that have a digit; else they are words."""
_WORD = re.compile(rf"[^\s{UNSPACED}]{{1,80}}+(?=\r?(?:\n|\Z))")
"""In scripts without spaces, a sentence looks like one word."""
_DIGIT = re.compile(r"\d")


def read_column(text: str, start: int) -> ReadResult:
    """The lines from here on that are one word each, if most of them have a digit."""
    starts, at, digits = list[int](), start, 0
    while at < len(text) and (word := _WORD.match(text, at)):
        digits += _DIGIT.search(word.group()) is not None
        starts.append(at)
        at = line_end(text, at) + 1
    end = min(at - 1, len(text)) if starts else start
    if len(starts) < FEWEST_LINES or digits < LEAST_SHARE * len(starts):
        return ReadResult(None, max(at, start + 1))
    builder = ShapeBuilder()
    named = not _DIGIT.search(text, starts[0], starts[1])
    head = builder.add(start) if named else -1
    for place in starts[named:]:
        builder.add(place, head)
    builder.counted.append(("lines", [(a, line_end(text, a)) for a in starts[named:]]))
    return ReadResult(builder.shape(text, "column", end), max(at, start + 1))

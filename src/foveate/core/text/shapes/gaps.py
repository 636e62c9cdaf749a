"""Marks where text is left out, with the numbers of what was counted there.

A mark is a function of the text and of the place of the gap, so that what an extract says it left
out can be checked against the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import itemgetter

from foveate.core.text.shapes.shape import CHARACTERS, Counted
from foveate.core.types import Span

ELISION = " […] "
"""The mark between two pieces where nothing is counted."""
END_MARK = "…"
"""Where a text goes on before or behind what is shown; shorter, for every extract may have two."""
_COUNT = rf" \d+(?: of \d+)? (?:\w+ {CHARACTERS}|[a-z]+)"
PATTERN = re.compile(rf"\[…(?:{_COUNT}(?:,{_COUNT})*)?\]")
"""Every mark, without the white space around it."""
_BLOCK = re.compile(r"(?:#{1,6}|[-*+]|\d{1,3}[.)])[ \t]|\||```")
"""How a heading, an item, a row or a fence begins in Markdown: at the beginning of a line."""
_INDENT = 16
"""Characters; what is behind more white space is no beginning of a line."""
UNCOUNTED = ""
"""In place of a noun: lines that are too few for a number, which would cost more than it says."""
MOST_COUNTS = 3
"""In a mark; where more tables, lists or logs are left out, their counts are added up by noun."""


def gap_mark(
    text: str, start: int, end: int, counted: Sequence[Counted], *, is_apart: bool = False
) -> str:
    """The mark for `text[start:end]`, which is left out; empty if that is white space alone.

    On a line of its own where line breaks are left out with what is counted, or with lines that are
    too few for it, and before what must begin a line. `is_apart`: what is left out at this end of
    the text is another chunk, which needs no mark.
    """
    found, space = [], "\n" if _begins_block(text, end) else " "
    for noun, spans in counted:
        if own := spans_within(spans, start, end):
            found.append((noun, amount(noun, own), amount(noun, spans)))
            space = "\n" if "\n" in text[start:end] else space
    found = [one for one in found if one[0] != UNCOUNTED]
    if len(found) > MOST_COUNTS:
        found = _add_up(found)
    counts = ", ".join(
        f"{number} of {total} {noun}" if number < total else f"{total} {noun}"
        for noun, number, total in found
    )
    mark = f"[… {counts}]" if found else ELISION.strip()
    if not found and (start == 0 or end == len(text)):
        is_blank = is_apart or not text[start:end].strip()
        mark = "" if is_blank else END_MARK
        space = " " if end == len(text) else space
    return mark and f"{space if start > 0 else ''}{mark}{space if end < len(text) else ''}"


def amount(noun: str, spans: Sequence[Span]) -> int:
    """How many there are of what is counted; of a blob, its characters."""
    return sum([b - a for a, b in spans]) if noun.endswith(CHARACTERS) else len(spans)


def _begins_block(text: str, at: int) -> bool:
    """Whether a block of Markdown begins there, which is none behind other text in its line."""
    if _BLOCK.match(text, at) is None:
        return False
    line = text[max(at - _INDENT, 0) : at].rpartition("\n")
    return not line[2].strip() and (bool(line[1]) or at < _INDENT)


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


def join_spans(
    text: str,
    spans: Sequence[Span],
    counted: Sequence[Counted] = (),
    whole: Span | None = None,
) -> tuple[str, tuple[Span, ...]]:
    r"""The spans as one text: neighbours keep what is between them, gaps and cut ends get a mark.

    `counted`: what of the text is counted where it is left out, at both ends of the text too.
    `whole`: from where to where the text would not be cut at its ends; without it, all of it.

    >>> text = "The pot is hot. It is full.\n- blue\n- red\n- green"
    >>> print(join_spans(text, [(0, 15), (41, 48)])[0])
    The pot is hot.
    […]
    - green
    """
    merged: list[list[int]] = []
    for start, end in spans:
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])
    ranges = tuple((start, end) for start, end in merged)
    ends = [0, *(end for _, end in ranges)]
    starts = [*(start for start, _ in ranges), len(text)]
    begin, end = whole or (0, len(text))
    apart = {0: not text[begin : starts[0]].strip(), len(ranges): not text[ends[-1] : end].strip()}
    gaps = [
        gap_mark(text, *gap, counted, is_apart=apart.get(n, False))
        for n, gap in enumerate(zip(ends, starts, strict=True))
    ]
    shown = [text[start:end] + gap for (start, end), gap in zip(ranges, gaps[1:], strict=True)]
    return gaps[0] + "".join(shown), ranges

"""Sentences without an end are cut at sensible places: lines, clauses, words, graphemes (SPEC U4).

Lists, tables and addresses that were taken out of a page have no full stops, and some scripts no
spaces. Sentences of usual length are never cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foveate.core.text.blocks import trim_span
from foveate.core.text.graphemes import last_grapheme_boundary
from foveate.core.types import Span

LONGEST = 800
"""Characters; a longer sentence is cut."""
PIECE = (150, 400)
"""Characters of a piece: it ends at the last sensible place between these."""
_PLACES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\n\s*",
        r"[;\u037e\uff1b\u3002\uff01\uff1f\u0964]\s*|\s[\u2013\u2014\u2022|]\s",
        r"[,:\uff0c\uff1a\u3001\u060c]\s*",
        r"\s+",
    )
)


def cut_long(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans, and the pieces of those that are too long, in order and trimmed."""
    if all(b - a <= LONGEST for a, b in spans):
        return list(spans)
    return [
        piece for a, b in spans for piece in (_pieces(text, a, b) if b - a > LONGEST else [(a, b)])
    ]


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > PIECE[1]:
        cut = _place(text, start)
        yield trim_span(text, start, cut)
        start = trim_span(text, cut, end)[0]
    if end > start:
        yield (start, end)


def _place(text: str, start: int) -> int:
    """The end of the last sensible place in reach; of the first kind of which there is one."""
    least, most = start + PIECE[0], start + PIECE[1]
    for places in _PLACES:
        found = [match.end() for match in places.finditer(text, least, most)]
        if found:
            return found[-1]
    cut = last_grapheme_boundary(text, most, start)
    return cut if cut > start else most  # marks alone, as no script writes them

"""What of a text may stand in an extract, and what else each piece of it needs beside it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from foveate.core.text.blocks import block_spans
from foveate.core.text.facts import polarity_mark
from foveate.core.text.shapes.shape import Shape
from foveate.core.text.units import BOUND, units_of
from foveate.core.text.words import split_words
from foveate.core.types import Span

_CONTRAST = re.compile(
    r"\W{0,8}+(?:but|however|instead|otherwise|aber|jedoch|dennoch|mais|cependant|pero|sin embargo"
    r"|maar|echter|[\u4f46])",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


def units_and_needs(
    text: str, language: str, shapes: Sequence[Shape]
) -> tuple[list[Span], dict[int, list[int]]]:
    """The units of a text for an extract, and by unit those that it is never shown without.

    That is what it leans on, and a sentence that turns it: "However", "This does not hold". Code
    between fences is one unit.
    """
    units = units_of(text, language, shapes)
    blocks = block_spans(text) if _FENCE.search(text) else ()
    fences = [span for span, kind in blocks if kind == "code" and _FENCE.match(text, span[0])]
    spans: list[Span] = []
    places: list[int] = []
    for span in units.spans:
        n = bisect_left(fences, (span[0] + 1,)) - 1
        whole = fences[n] if n >= 0 and span[0] < fences[n][1] else span
        if not spans or span[0] >= spans[-1][1]:
            spans.append((whole[0], max(whole[1], span[1])))
        places.append(len(spans) - 1)
    needs: dict[int, list[int]] = {}
    for unit, lean in enumerate(units.leans):
        one, other = places[unit], places[lean]
        if one != other:
            needs.setdefault(one, []).append(other)
        if other == one - 1 and _turns(text[slice(*spans[one])]):
            needs.setdefault(other, []).append(one)
    return spans, needs


def _turns(sentence: str) -> bool:
    """Whether a sentence that refers to the one before limits it or takes it back."""
    if BOUND.match(sentence) is None:
        return False
    return _CONTRAST.match(sentence) is not None or any(map(polarity_mark, split_words(sentence)))

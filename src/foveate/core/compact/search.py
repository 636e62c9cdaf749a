"""Originals found by what is asked, without a handle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate
from math import inf

from foveate.core.compact.piece_order import identified_pieces, matching_words
from foveate.core.compact.shorten import guard_notes, shorten_result
from foveate.core.json_strings import unescape

MOST_FOUND = 5
"""Originals that are shown of a search."""


def search_originals(
    texts: Mapping[str, str], query: str, tokens: int, count: Callable[[str], int]
) -> str:
    """Of the originals, by handle, what answers the query best, each under its handle.

    A long one gets half of the room while others wait. Empty where none has a word of the query, or
    nothing fits.
    """
    shown, left = list[str](), tokens
    found = _rank(texts, query)[:MOST_FOUND]
    for handle in found:
        head = f"[handle {handle}]\n"
        room = left - count(head) - 2
        text = guard_notes(texts[handle])
        if count(text) > room:
            most = room // 2 if handle != found[-1] else room
            text, parts, _ = shorten_result(texts[handle], query, most, count)
            if not parts or count(text) > room:
                continue
        shown.append(head + text)
        left = room - count(text)
    return "\n\n".join(shown)


def _rank(texts: Mapping[str, str], query: str) -> list[str]:
    """The handles of texts with the query's identifiers, or else its words, rare ones first.

    Texts that say as much stand as they came.
    """
    said = [f"{unescape(text)}\n" for text in texts.values()]
    ends = list(accumulate(map(len, said)))
    spans = list(zip([0, *ends], ends, strict=False))
    named = identified_pieces("".join(said), spans, query, few=inf)
    match = matching_words("".join(said), spans, query)
    order = sorted(range(len(said)), key=lambda n: (-named[n], -match[n]))
    handles = list(texts)
    return [handles[n] for n in order if (named[n] if named else match[n])]

"""Originals found by what is asked, where nobody has a handle."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from foveate.core.compact.shorten import guard_notes, shorten_result
from foveate.core.json_strings import unescape
from foveate.core.stages.compress.unit_pool import rarity
from foveate.core.text.terms import fold, keys, query_terms
from foveate.core.text.words import identifier_pattern, query_identifiers

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
    """The handles of texts with words of the query, those with its identifiers and rare ones first.

    Texts that say as much stand as they came.
    """
    terms = dict.fromkeys(keys(query_terms(query)))
    named = query_identifiers(query)
    pattern = identifier_pattern(named) if named else None
    held: dict[str, tuple[int, list[str]]] = {}
    for handle, text in texts.items():
        said = unescape(text)
        folded = fold(said)
        found = set(pattern.findall(said)) if pattern else ()
        held[handle] = len(found), [term for term in terms if term in folded]
    holders = {term: sum(term in own for _, own in held.values()) for term in terms}
    rare = {term: rarity(number, len(held)) for term, number in holders.items()}
    scores = {h: (n, sum(rare[term] for term in own)) for h, (n, own) in held.items() if n or own}
    return sorted(scores, key=scores.__getitem__, reverse=True)

"""Says which identifiers of the query were found but do not fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from foveate.core.blocks import rendition_text
from foveate.core.text.words import identifier_pattern, query_identifiers
from foveate.core.types import Candidate, Decision, Number

IDENTIFIER_LEFT_OUT = "identifier_left_out"
"""The note of a question that names an identifier which no text holds that fits."""
_NO_ROOM = frozenset({"over_budget", "document_over_budget", "after_stop"})


def note_identifiers_left_out(
    query: str,
    candidates: Sequence[Candidate],
    shown: Sequence[Candidate],
    left_out: Iterable[Decision],
    *,
    in_tokens: bool,
) -> Mapping[str, Number]:
    """The note, if there is one: each identifier, and how many tokens more would show it.

    Any text that holds it will do, so the number is the least that one of them lacks. There is none
    where more likely texts come first, where a text is shown without the part that holds it, and
    for a budget that is not of tokens alone (`in_tokens`).
    """
    names = query_identifiers(query)
    if not names:
        return {}
    visible = [_with_header(c, rendition_text(c).text) for c in shown]
    lacks = {d.chunk_id: d.numbers.get("short_by", 0) for d in left_out if d.reason in _NO_ROOM}
    hidden = [(_with_header(c, c.chunk.text), 0) for c in shown]
    hidden += [
        (_with_header(c, rendition_text(c).text), int(lacks[c.chunk.id]) * in_tokens)
        for c in candidates
        if c.chunk.id in lacks
    ]
    notes = []
    for name in names:
        pattern = identifier_pattern([name])
        if any(map(pattern.search, visible)):
            continue
        lacking = [tokens for text, tokens in hidden if pattern.search(text)]
        if lacking:
            least = min(filter(None, lacking), default=0)
            more = f"{least:,} tokens more" if least else "a larger budget"
            notes.append(f"{name} was found, but does not fit; {more} would show it")
    return {IDENTIFIER_LEFT_OUT: "; ".join(notes)} if notes else {}


def _with_header(candidate: Candidate, text: str) -> str:
    """All that may show an identifier."""
    chunk = candidate.chunk
    return f"{text}\n{chunk.source}\n{chunk.title}\n{chunk.section}"

"""Says which identifiers of the query were found but do not fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from foveate.core.blocks import rendition_text
from foveate.core.text.words import identifier_pattern, query_identifiers
from foveate.core.types import Candidate, Decision, Number

IDENTIFIER_LEFT_OUT = "identifier_left_out"
"""The note of a question that names an identifier which no text holds that fits."""
MOST_NAMED = 20
"""Identifiers of a query that are looked for."""
_NO_ROOM = frozenset({"over_budget", "document_over_budget", "after_stop"})


def note_identifiers_left_out(
    query: str,
    candidates: Sequence[Candidate],
    shown: Sequence[Candidate],
    left_out: Iterable[Decision],
) -> Mapping[str, Number]:
    """The note, if there is one, with each identifier: of the first `MOST_NAMED` of the query.

    Without a number of tokens: a larger budget may be spent on texts that are more likely.
    """
    names = query_identifiers(query)[:MOST_NAMED]
    if not names:
        return {}
    no_room = {d.chunk_id for d in left_out if d.reason in _NO_ROOM}
    hidden = [*shown, *[c for c in candidates if c.chunk.id in no_room]]
    shown_text = "\n".join([_with_header(c, rendition_text(c).text) for c in shown])
    hidden_text = "\n".join([_with_header(c, c.chunk.text) for c in hidden])
    notes = []
    for name in names:
        pattern = identifier_pattern([name])
        if pattern.search(hidden_text) and not pattern.search(shown_text):
            notes.append(f"{name} was found, but does not fit; give a larger budget")
    return {IDENTIFIER_LEFT_OUT: "; ".join(notes)} if notes else {}


def _with_header(candidate: Candidate, text: str) -> str:
    """All that may show an identifier."""
    chunk = candidate.chunk
    return f"{text}\n{chunk.source}\n{chunk.title}\n{chunk.section}"

"""A turn, shortened: sentences of its texts, kept verbatim, the rest elided (SPEC W1).

What a turn cited stays before all else: sentences that hold one of its markers, or words that it
quoted. Calls keep their arguments, since half of a JSON text is none; only results are shortened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from foveate.core.talk.turns import Cited, Turn
from foveate.core.text.salience import choose, joined, rarity, weigh
from foveate.core.text.sentences import sentence_spans
from foveate.core.text.words import words
from foveate.core.types import Span

SHARES = (2, 4, 12)
"""A half, a quarter, a twelfth of the characters: tried in turn, the longest first."""


def shortened(turn: Turn, share: int, query: str, language: str = "en") -> Turn:
    """The turn with a `share`-th of its characters, at least a sentence of each text."""
    said = _extract(turn.text, share, query, turn.cited, language)
    results = tuple(
        replace(result, text=_extract(result.text, share, query, turn.cited, language))
        for result in turn.results
    )
    if said == turn.text and results == turn.results and not turn.extra:
        return turn
    return replace(turn, text=said, results=results, extra="")


def _extract(text: str, share: int, query: str, cited: Sequence[Cited], language: str) -> str:
    """The best sentences of a text, and all that cite."""
    spans = sentence_spans(text, language)
    if len(spans) < 2:
        return text
    rare = rarity(query, [words(text[a:b]) for a, b in spans])
    weights = weigh(text, spans, rare)
    kept = set(choose(spans, weights, len(text) // share)) | set(citing(text, spans, cited))
    short, _ = joined(text, [spans[i] for i in sorted(kept)])
    return short if len(short) < len(text) else text


def citing(text: str, spans: Sequence[Span], cited: Sequence[Cited]) -> list[int]:
    """The sentences that hold a marker of what was cited, or a quote of it."""
    known = [entry for entry in cited if entry.marker or entry.quote]
    return [n for n, (a, b) in enumerate(spans) if any(_names(text[a:b], e) for e in known)]


def _names(sentence: str, entry: Cited) -> bool:
    if entry.marker and _marked(sentence, entry.marker):
        return True
    return bool(entry.quote) and entry.quote in sentence


def _marked(text: str, marker: int) -> bool:
    return re.search(rf"\[[^\[\]]*?\b{marker}\b[^\[\]]*\]", text) is not None


def carried(turn: Turn, shown: Turn | None, live: frozenset[int] | None) -> tuple[Cited, ...]:
    """What a turn cited and cannot be followed any more from what is shown of it.

    `live`: the markers that stand in the documents as they did then; None: none do, and a turn
    that is shown in full is left to speak for itself.
    """
    if live is None and shown == turn:
        return ()
    text = "" if shown is None else "\n".join([shown.text, *(r.text for r in shown.results)])
    return tuple(
        entry
        for entry in turn.cited
        if not (entry.quote and entry.quote in text)
        and not (entry.marker in (live or ()) and _marked(text, entry.marker))
    )


def note_of(cited: Sequence[Cited], *, quotes: bool, numbered: bool) -> str:
    """What earlier turns cited, a line each, for a conversation that no longer shows it."""
    if not cited:
        return ""
    lines = dict.fromkeys(_line(entry, quotes=quotes, numbered=numbered) for entry in cited)
    return "\n".join(["Cited earlier in this conversation:", *lines])


def _line(entry: Cited, *, quotes: bool, numbered: bool) -> str:
    marker = f"[{entry.marker}] " if numbered and entry.marker else ""
    quote = " ".join(entry.quote.split())
    said = (
        f": \N{LEFT DOUBLE QUOTATION MARK}{quote}\N{RIGHT DOUBLE QUOTATION MARK}" if quote else ""
    )
    return f"- {marker}{' '.join(entry.source.split())}{said if quotes else ''}"


def by_chunk(cited: Sequence[Cited]) -> tuple[Cited, ...]:
    """Each piece of evidence once, as it was cited last."""
    last: Mapping[tuple[str, str], Cited] = {(e.chunk_id, e.quote): e for e in cited}
    return tuple(last.values())

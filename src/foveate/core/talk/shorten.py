"""A turn, shortened: sentences of its texts, kept verbatim, the rest elided (SPEC W1).

What a turn cited stays before all else: sentences that hold one of its markers, or words that it
quoted. Calls keep their arguments, since half of a JSON text is none; only results are shortened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from foveate.core.talk.turns import Cited, Turn
from foveate.core.text.marks import Mark, scanned
from foveate.core.text.salience import choose, joined, rarity, weigh
from foveate.core.text.sentences import sentence_spans
from foveate.core.text.words import words
from foveate.core.types import Span

SHARES = (2, 4, 12)
"""A half, a quarter, a twelfth of the characters: tried in turn, the longest first."""


def shortened(turn: Turn, query: str, language: str = "en") -> tuple[Turn, ...]:
    """The turn at each of `SHARES`, with a sentence of each text at the least."""
    said = _extracts(turn.text, query, turn.cited, language)
    results = [_extracts(r.text, query, turn.cited, language) for r in turn.results]
    found = []
    for n in range(len(SHARES)):
        short = tuple(
            replace(result, text=texts[n], extra="")
            for result, texts in zip(turn.results, results, strict=True)
        )
        same = said[n] == turn.text and short == turn.results and not turn.extra
        found.append(turn if same else replace(turn, text=said[n], results=short, extra=""))
    return tuple(found)


def _extracts(text: str, query: str, cited: Sequence[Cited], language: str) -> list[str]:
    """The best sentences of a text, and all that cite, at each share of its length."""
    spans = sentence_spans(text, language)
    if len(spans) < 2:
        return [text] * len(SHARES)
    rare = rarity(query, [words(text[a:b]) for a, b in spans])
    weights = weigh(text, spans, rare)
    must = set(citing(text, spans, cited))
    found = []
    for share in SHARES:
        kept = must | set(choose(spans, weights, len(text) // share))
        short, _ = joined(text, [spans[i] for i in sorted(kept)])
        found.append(short if len(short) < len(text) else text)
    return found


def citing(text: str, spans: Sequence[Span], cited: Sequence[Cited]) -> list[int]:
    """The sentences that hold a marker of what was cited, or a quote of it."""
    markers = {entry.marker for entry in cited if entry.marker}
    quotes = [entry.quote for entry in cited if entry.quote]
    places = [mark.start for mark in marks_of(text) if not markers.isdisjoint(mark.numbers)]
    return [
        n
        for n, (a, b) in enumerate(spans)
        if any(a <= at < b for at in places) or any(quote in text[a:b] for quote in quotes)
    ]


def marks_of(text: str) -> Iterator[Mark]:
    """The citation markers of a text, as answers are read everywhere."""
    return (piece for piece in scanned(text) if isinstance(piece, Mark))


def marked(text: str) -> frozenset[int]:
    """The numbers that the markers of a text name."""
    return frozenset(number for mark in marks_of(text) for number in mark.numbers)


def carried(turn: Turn, shown: Turn | None, live: frozenset[int] | None) -> tuple[Cited, ...]:
    """What a turn cited and cannot be followed any more from what is shown of it.

    `live`: the markers that stand in the documents as they did then; None: none do, and a turn
    that is shown in full is left to speak for itself.
    """
    if live is None and shown == turn:
        return ()
    text = "" if shown is None else "\n".join([shown.text, *(r.text for r in shown.results)])
    named = marked(text) & live if live and turn.cited else frozenset()
    return tuple(
        entry
        for entry in turn.cited
        if not (entry.quote and entry.quote in text) and entry.marker not in named
    )


class Note(NamedTuple):
    """What says what was cited; and those that it has no room for."""

    text: str
    unsaid: tuple[Cited, ...]


def note_of(
    cited: Sequence[Cited], *, quotes: bool, numbered: bool, most: int | None = None
) -> Note:
    """What earlier turns cited, a line each, for a conversation that no longer shows it.

    `most`: so many lines at the most, of what was cited last, and how many more there are.
    """
    if not cited:
        return Note("", ())
    lines = [_line(entry, quotes=quotes, numbered=numbered) for entry in cited]
    latest = list(dict.fromkeys(reversed(lines)))
    said = latest[:most]
    kept = set(said)
    unsaid = tuple(e for e, line in zip(cited, lines, strict=True) if line not in kept)
    rest = [f"- and {len(latest) - len(said)} more, cited before"] if unsaid else []
    return Note("\n".join(["Cited earlier in this conversation:", *rest, *reversed(said)]), unsaid)


def _line(entry: Cited, *, quotes: bool, numbered: bool) -> str:
    marker = f"[{entry.marker}] " if numbered and entry.marker else ""
    quote = " ".join(entry.quote.split())
    said = (
        f": \N{LEFT DOUBLE QUOTATION MARK}{quote}\N{RIGHT DOUBLE QUOTATION MARK}" if quote else ""
    )
    return f"- {marker}{' '.join(entry.source.split())}{said if quotes else ''}"


def by_chunk(cited: Sequence[Cited]) -> tuple[Cited, ...]:
    """Each piece of evidence once, as it was cited last, the latest at the end."""
    last: dict[tuple[str, str], Cited] = {}
    for entry in cited:
        last.pop((entry.chunk_id, entry.quote), None)
        last[entry.chunk_id, entry.quote] = entry
    return tuple(last.values())

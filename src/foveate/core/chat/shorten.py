"""A shortened turn: some sentences of its texts, verbatim (SPEC W1).

Sentences with a cited marker or quote stay. Of tool calls only the results are shortened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from foveate.core.chat.turns import Turn, TurnCitation
from foveate.core.text.citation_markers import CitationMark, scan_markers
from foveate.core.text.salience import (
    choose_sentences,
    inverse_document_frequency,
    join_spans,
    weigh_sentences,
)
from foveate.core.text.sentences import sentence_spans
from foveate.core.text.words import split_words
from foveate.core.types import Span

LENGTH_DIVISORS = (2, 4, 12)
"""A half, a quarter, a twelfth of the characters: tried in turn, the longest first."""


def shorten_turn(turn: Turn, query: str, language: str = "en") -> tuple[Turn, ...]:
    """The turn at each of `LENGTH_DIVISORS`, with a sentence of each text at the least."""
    said = _build_extracts(turn.text, query, turn.cited, language)
    results = [_build_extracts(r.text, query, turn.cited, language) for r in turn.results]
    found = []
    for n in range(len(LENGTH_DIVISORS)):
        short = tuple(
            replace(result, text=texts[n], extra="")
            for result, texts in zip(turn.results, results, strict=True)
        )
        same = said[n] == turn.text and short == turn.results and not turn.extra
        found.append(turn if same else replace(turn, text=said[n], results=short, extra=""))
    return tuple(found)


def _build_extracts(
    text: str, query: str, cited: Sequence[TurnCitation], language: str
) -> list[str]:
    spans = sentence_spans(text, language)
    if len(spans) < 2:
        return [text] * len(LENGTH_DIVISORS)
    rare = inverse_document_frequency(query, [split_words(text[a:b]) for a, b in spans])
    weights = weigh_sentences(text, spans, rare)
    must = set(citing_sentences(text, spans, cited))
    found = []
    for share in LENGTH_DIVISORS:
        kept = must | set(choose_sentences(spans, weights, len(text) // share))
        short, _ = join_spans(text, [spans[i] for i in sorted(kept)])
        found.append(short if len(short) < len(text) else text)
    return found


def citing_sentences(text: str, spans: Sequence[Span], cited: Sequence[TurnCitation]) -> list[int]:
    """The sentences that hold a marker of what was cited, or a quote of it."""
    markers = {entry.marker for entry in cited if entry.marker}
    quotes = [entry.quote for entry in cited if entry.quote]
    places = [mark.start for mark in citation_marks(text) if not markers.isdisjoint(mark.numbers)]
    return [
        n
        for n, (a, b) in enumerate(spans)
        if any(a <= at < b for at in places) or any(quote in text[a:b] for quote in quotes)
    ]


def citation_marks(text: str) -> Iterator[CitationMark]:
    """The citation markers of a text, as answers are read everywhere."""
    return (piece for piece in scan_markers(text) if isinstance(piece, CitationMark))


def cited_numbers(text: str) -> frozenset[int]:
    """The numbers that the markers of a text name."""
    return frozenset(number for mark in citation_marks(text) for number in mark.numbers)


def carried_citations(
    turn: Turn, shown: Turn | None, live: frozenset[int] | None
) -> tuple[TurnCitation, ...]:
    """The citations of a turn that what is shown of it no longer carries.

    `live`: markers with the same meaning as then; None: a turn shown in full carries its own.
    """
    if live is None and shown == turn:
        return ()
    text = "" if shown is None else "\n".join([shown.text, *(r.text for r in shown.results)])
    named = cited_numbers(text) & live if live and turn.cited else frozenset()
    return tuple(
        entry
        for entry in turn.cited
        if not (entry.quote and entry.quote in text) and entry.marker not in named
    )


class CitationNote(NamedTuple):
    """What says what was cited; and those that it has no room for."""

    text: str
    unsaid: tuple[TurnCitation, ...]


def build_citation_note(
    cited: Sequence[TurnCitation], *, quotes: bool, numbered: bool, most: int | None = None
) -> CitationNote:
    """A line for each earlier citation: at most the last `most`, and a count of the rest."""
    if not cited:
        return CitationNote("", ())
    lines = [_format_citation(entry, quotes=quotes, numbered=numbered) for entry in cited]
    latest = list(dict.fromkeys(reversed(lines)))
    said = latest[:most]
    kept = set(said)
    unsaid = tuple(e for e, line in zip(cited, lines, strict=True) if line not in kept)
    rest = [f"- and {len(latest) - len(said)} more, cited before"] if unsaid else []
    return CitationNote(
        "\n".join(["Cited earlier in this conversation:", *rest, *reversed(said)]), unsaid
    )


def _format_citation(entry: TurnCitation, *, quotes: bool, numbered: bool) -> str:
    marker = f"[{entry.marker}] " if numbered and entry.marker else ""
    quote = " ".join(entry.quote.split())
    said = (
        f": \N{LEFT DOUBLE QUOTATION MARK}{quote}\N{RIGHT DOUBLE QUOTATION MARK}" if quote else ""
    )
    return f"- {marker}{' '.join(entry.source.split())}{said if quotes else ''}"


def unique_citations(cited: Sequence[TurnCitation]) -> tuple[TurnCitation, ...]:
    """Each piece of evidence once, as it was cited last, the latest at the end."""
    last: dict[tuple[str, str], TurnCitation] = {}
    for entry in cited:
        last.pop((entry.chunk_id, entry.quote), None)
        last[entry.chunk_id, entry.quote] = entry
    return tuple(last.values())

"""What older turns cited and no longer show: found by its markers and quotes, said in a note."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from foveate.core.chat.turns import Turn, TurnCitation
from foveate.core.text.citation_markers import CitationMark, scan_markers


def citation_marks(text: str) -> Iterator[CitationMark]:
    """The citation markers of a text, as answers are read everywhere."""
    return (piece for piece in scan_markers(text) if isinstance(piece, CitationMark))


def cited_numbers(text: str) -> frozenset[int]:
    """The numbers that the markers of a text name."""
    return frozenset(number for mark in citation_marks(text) for number in mark.numbers)


def citing_places(turn: Turn) -> tuple[int, ...]:
    """Where the text of a turn has a marker of what it cited, or quotes it."""
    markers = {entry.marker for entry in turn.cited if entry.marker}
    places = [m.start for m in citation_marks(turn.text) if not markers.isdisjoint(m.numbers)]
    quotes = {entry.quote for entry in turn.cited if entry.quote}
    places += [
        m.start() for quote in sorted(quotes) for m in re.finditer(re.escape(quote), turn.text)
    ]
    return tuple(places)


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

"""What turns cited and no longer show, said in a note (SPEC W1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from foveate.core.chat.turns import TurnCitation
from foveate.core.text.citation_markers import CitationMark, scan_markers

HEADING = "Cited earlier in this conversation:"


def cited_numbers(text: str) -> frozenset[int]:
    """The numbers that the citation markers of a text name, as answers are read everywhere."""
    marks = (piece for piece in scan_markers(text) if isinstance(piece, CitationMark))
    return frozenset(number for mark in marks for number in mark.numbers)


class CitationNote(NamedTuple):
    """What says what was cited; and those that it has no room for."""

    text: str = ""
    unsaid: tuple[TurnCitation, ...] = ()


def build_citation_note(
    cited: Sequence[TurnCitation], room: int, count: Callable[[str], int], *, numbered: bool
) -> CitationNote:
    """A line for each citation, the latest at the end, in about `room` tokens.

    Without the quotes, if they do not fit; then of the latest as many as fit, one at the least.
    """
    known = unique_citations(cited)
    if not known:
        return CitationNote()
    for quotes in (True, False):
        lines = [_format_citation(entry, quotes=quotes, numbered=numbered) for entry in known]
        if count(text := "\n".join((HEADING, *dict.fromkeys(lines)))) <= room:
            return CitationNote(text)
    latest = list(dict.fromkeys(reversed(lines)))
    kept = list(_fitting(latest, room - count(f"{HEADING}\n- and 999 more, cited before"), count))
    rest = [f"- and {len(latest) - len(kept)} more, cited before"] if kept != latest else []
    unsaid = (entry for entry, line in zip(known, lines, strict=True) if line not in kept)
    return CitationNote("\n".join((HEADING, *rest, *reversed(kept))), tuple(unsaid))


def _fitting(lines: Sequence[str], room: int, count: Callable[[str], int]) -> Iterator[str]:
    for n, line in enumerate(lines):
        room -= count(f"\n{line}")
        if room < 0 and n:
            return
        yield line


def _format_citation(entry: TurnCitation, *, quotes: bool, numbered: bool) -> str:
    marker = f"[{entry.marker}] " if numbered and entry.marker else ""
    words = " ".join(entry.quote.split()) if quotes else ""
    quote = f": \N{LEFT DOUBLE QUOTATION MARK}{words}\N{RIGHT DOUBLE QUOTATION MARK}"
    return f"- {marker}{' '.join(entry.source.split())}{quote if words else ''}"


def unique_citations(cited: Sequence[TurnCitation]) -> tuple[TurnCitation, ...]:
    """Each piece of evidence once, as it was cited last, the latest at the end."""
    last: dict[tuple[str, str], TurnCitation] = {}
    for entry in cited:
        last.pop((entry.chunk_id, entry.quote), None)
        last[entry.chunk_id, entry.quote] = entry
    return tuple(last.values())

"""An answer → its sentences, each with the markers that stand by it.

Rules: a marker belongs to the words before it on its line, also behind their full stop, and to
those after it where none come before. Headings, code, questions, lead-ins that end with a colon
and lists of sources are no claims: nothing is cited for them, and nothing is missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from foveate.core.text.blocks import block_spans
from foveate.core.text.marks import Mark, Piece
from foveate.core.text.sentences import unit_spans
from foveate.core.text.terms import query_terms
from foveate.core.types import Span

_LEAST = 2
"""Terms; what says less ("Yes.") and cites nothing has nothing to be held against."""
_CLOSERS = re.compile(r"[\s\"'”’»)*_.,;:!?…。！？]*\Z")
_ENDING = re.compile(r"[.,;:!?…。！？)\]]|\s*\n|\s*\Z")
_SOURCES = re.compile(
    r"^\W*(?:sources?|references?|citations?|bronnen|quellen|références|fuentes)\W*?$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of an answer: its text without markers, its place in the answer, its markers."""

    text: str
    span: Span
    marks: tuple[Mark, ...]
    claims: bool


def sentences_of(pieces: Iterable[Piece], language: str = "en") -> list[Sentence]:
    """The answer's sentences in order."""
    plain, places, marks = _without_marks(pieces)
    found = [
        (first, last, kind)
        for span, kind in block_spans(plain)
        for first, last in unit_spans(plain, span, kind, language)
    ]
    beside: list[list[Mark]] = [[] for _ in found]
    for at, mark in marks:
        owner = _owner(plain, at, [(first, last) for first, last, _ in found])
        if owner is not None:
            beside[owner].append(mark)
    listed = _source_list(plain)
    return [
        Sentence(
            text=plain[first:last],
            span=(places[first], places[last - 1] + 1),
            marks=tuple(mine),
            claims=last <= listed
            and kind not in ("heading", "code")
            and _claims(plain[first:last], mine),
        )
        for (first, last, kind), mine in zip(found, beside, strict=True)
    ]


def _without_marks(pieces: Iterable[Piece]) -> tuple[str, list[int], list[tuple[int, Mark]]]:
    """The text without markers, where each of its characters stands, and where markers stood."""
    characters: list[str] = []
    places: list[int] = []
    marks: list[tuple[int, Mark]] = []
    for piece in pieces:
        if isinstance(piece, Mark):
            marks.append((len(places), piece))
            continue
        if marks and marks[-1][0] == len(places) and _ENDING.match(piece.text):
            # "It rains [1]." is "It rains.": the space was the marker's.
            while characters and characters[-1] in " \u00a0":
                characters.pop()
                places.pop()
            marks = [(min(at, len(places)), mark) for at, mark in marks]
        characters.extend(piece.text)
        places.extend(range(piece.start, piece.start + len(piece.text)))
    return "".join(characters), places, marks


def _owner(plain: str, at: int, spans: Sequence[Span]) -> int | None:
    """The sentence before this place on its line; else the one after it."""
    line = plain.rfind("\n", 0, at) + 1
    before = [n for n, (first, last) in enumerate(spans) if first < at and last > line]
    if before:
        return before[-1]
    after = [n for n, (first, _) in enumerate(spans) if first >= at]
    return after[0] if after else (len(spans) - 1 if spans else None)


def _source_list(plain: str) -> int:
    """Where a closing list of sources begins, under a line that says so; else the end."""
    headings = list(_SOURCES.finditer(plain))
    return headings[-1].start() if headings else len(plain)


def _claims(text: str, marks: Sequence[Mark]) -> bool:
    end = _CLOSERS.search(text)
    closers = end[0] if end else ""
    if "?" in closers or "？" in closers or closers.rstrip().endswith(":"):
        return False
    return len(query_terms(text)) >= (1 if marks else _LEAST)

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
from foveate.prompts.text import REFUSALS

_LEAST = 2
"""Terms; what says less ("Yes.") and cites nothing has nothing to be held against."""
_CLOSERS = re.compile(r"[\s\"'”’»)*_.,;:!?…。！？]*\Z")
_SAYS = re.compile(r"[.!?。！？][\"'”’)\]]*\s*\Z")
_SENTENCE = 6
"""Words; a line under a list of sources that has so many and ends like a sentence is one."""
_TRIM = " \t\n.*_\"'“”"
# What the prompts ask for: that the context does not say, and what is said without it.
_NOTHING = re.compile(
    r"\b(?:context|documents?|sources?|passages?|documenten|bronnen|unterlagen|quellen|dokumente|"
    r"documents)\b[^.]{0,40}\b(?:(?:do|does|did) not|don't|doesn't|cannot|niet|geen|nicht|keine?n?|"
    r"ne\b[^.]{1,30}\bpas)\b[^.]{0,40}\b(?:say|contain|mention|answer|provide|include|state|specify|"
    r"antwoord\w*|zeggen|vermelden|bevatten|beantworten|enthalten|sagen|erwähnen|répond\w*|dis\w*|"
    r"contien\w*|mentionn\w*|precis\w*)",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"\((?:general knowledge|algemene kennis|allgemeinwissen|connaissances? générales?)\)",
    re.IGNORECASE,
)
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

    @property
    def quotes(self) -> bool:
        """Whether a quotation mark stands in it."""
        return any(mark in self.text for mark in '"“”„«‘‚')


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
            claims=not listed[0] <= first < listed[1]
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


def _source_list(plain: str) -> Span:
    """Where a list of sources stands: under a line that says so, as long as lines list."""
    headings = list(_SOURCES.finditer(plain))
    if not headings:
        return (len(plain), len(plain))
    start = end = headings[-1].start()
    for line in plain[start:].splitlines(keepends=True):
        if _SAYS.search(line) and len(line.split()) >= _SENTENCE:
            break
        end += len(line)
    return (start, end)


def _claims(text: str, marks: Sequence[Mark]) -> bool:
    if any(text.strip(_TRIM) == refusal.strip(_TRIM) for refusal in REFUSALS.values()):
        return False
    if _NOTHING.search(text) or _GENERAL.search(text):
        return False
    end = _CLOSERS.search(text)
    closers = end[0] if end else ""
    if "?" in closers or "？" in closers or closers.rstrip().endswith(":"):
        return False
    return len(query_terms(text)) >= (1 if marks else _LEAST)

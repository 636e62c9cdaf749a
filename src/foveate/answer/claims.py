"""An answer → its sentences, each with the markers that stand by it.

Rules: a marker belongs to the words before it on its line, also behind their full stop, and to
those after it where none come before; one that has a line to itself, to the text above. Headings,
code, questions, lead-ins that end with a colon, lists of sources, and what an answer says that it
was not told are no claims: nothing is cited for them, and nothing is missed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from foveate.answer.refusals import asserted
from foveate.core.text.blocks import block_spans
from foveate.core.text.marks import Mark, Piece
from foveate.core.text.sentences import unit_spans
from foveate.core.text.terms import query_terms
from foveate.core.types import Span
from foveate.prompts.text import REFUSALS

_LEAST = 2
"""Terms; what says less ("Yes.") and cites nothing has nothing to be held against."""
_CLOSERS = "\"'”’»)*_.,;:!?…。！？" + "".join(c for c in map(chr, range(0x3001)) if c.isspace())
"""What may stand behind the words of a sentence: its full stop, and what closes with it."""
_SAYS = re.compile(r"[.!?。！？][\"'”’)\]]*\s*\Z")
_SENTENCE = 6
"""Words; a line under a list of sources that has so many and ends like a sentence is one."""
_TRIM = " \t\n.*_\"'“”"
# What the prompts ask for: what is said without the context.
_GENERAL = re.compile(
    r"\((?:general knowledge|algemene kennis|allgemeinwissen|connaissances? générales?)\)",
    re.IGNORECASE,
)
_ENDING = re.compile(r"[.,;:!?…。！？)\]]|\s*\n|\s*\Z")
_SOURCES = re.compile(
    r"^[^\w\n]*+(?:sources?|references?|citations?|bronnen|quellen|références|fuentes)[^\w\n]*+$",
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
    spans = [(first, last) for first, last, _ in found]
    for at, mark in marks:
        owner = _owner(plain, at, spans)
        if owner is not None:
            beside[owner].append(mark)
    listed = _source_list(plain)
    sentences = []
    for (begin, last, kind), mine in zip(found, beside, strict=True):
        from_there = asserted(plain[begin:last])
        first = begin + (from_there or 0)
        sentences.append(
            Sentence(
                text=plain[first:last],
                span=(places[first], places[last - 1] + 1),
                marks=tuple(mine),
                claims=from_there is not None
                and not listed[0] <= first < listed[1]
                and kind not in ("heading", "code")
                and _claims(plain[first:last], mine),
            )
        )
    return sentences


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
            behind = len(marks)
            while behind and marks[behind - 1][0] > len(places):
                behind -= 1
                marks[behind] = (len(places), marks[behind][1])
        characters.extend(piece.text)
        places.extend(range(piece.start, piece.start + len(piece.text)))
    return "".join(characters), places, marks


def _owner(plain: str, at: int, spans: Sequence[Span]) -> int | None:
    """The sentence before this place on its line; else the one after it.

    A marker that has its line to itself goes with the text above, unless a blank line is between
    the two, and none before the text below.
    """
    line = plain.rfind("\n", 0, at) + 1
    after = bisect_left(spans, (at, 0))  # the spans are in order, and apart
    if after and (spans[after - 1][1] > line or _goes_with_above(plain, line, at)):
        return after - 1
    return after if after < len(spans) else (after - 1 if spans else None)


def _goes_with_above(plain: str, line: int, at: int) -> bool:
    """Whether a line that holds markers alone stands below a text, and not just above one."""
    end = plain.find("\n", at)
    end = len(plain) if end < 0 else end
    if plain[line:end].strip():
        return False
    above = plain[plain.rfind("\n", 0, max(line - 1, 0)) + 1 : line].strip()
    after = plain.find("\n", end + 1)
    below = plain[end + 1 : after if after >= 0 else len(plain)].strip()
    return bool(above) or not below


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
    if _GENERAL.search(text):
        return False
    closers = text[len(text.rstrip(_CLOSERS)) :]
    if "?" in closers or "？" in closers or closers.rstrip().endswith(":"):
        return False
    return len(query_terms(text)) >= (1 if marks else _LEAST)

"""Divides an answer into sentences, each with its markers.

A marker belongs to the words before it on its line, else to those after it; alone on a line, to the
text above. Headings, code, questions, lead-ins with a colon, lists of sources and statements of
missing information are no claims.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from foveate.answer.refusals import find_assertion_start
from foveate.core.text.blocks import block_spans
from foveate.core.text.citation_markers import AnswerPiece, CitationMark
from foveate.core.text.sentences import unit_spans
from foveate.core.text.terms import query_terms
from foveate.core.types import Span
from foveate.pipeline.prompts import REFUSALS

_MIN_TERMS = 2
"""Terms; what says less ("Yes.") and cites nothing has nothing to be held against."""
_CLOSING_CHARACTERS = "\"'”’»)*_.,;:!?…。！？" + "".join(
    c for c in map(chr, range(0x3001)) if c.isspace()
)
"""What may stand behind the words of a sentence: its full stop, and what closes with it."""
_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’)\]]*\s*\Z")
_MIN_SENTENCE_WORDS = 6
"""Words; a line under a list of sources that has so many and ends like a sentence is one."""
_TRIM_CHARACTERS = " \t\n.*_\"'“”"
# What the prompts ask for: what is said without the context.
_GENERAL_KNOWLEDGE = re.compile(
    r"\((?:general knowledge|algemene kennis|allgemeinwissen|connaissances? générales?)\)",
    re.IGNORECASE,
)
_TEXT_AFTER_MARKER = re.compile(r"[.,;:!?…。！？)\]]|\s*\n|\s*\Z")
_SOURCES_HEADING = re.compile(
    r"^[^\w\n]*+(?:sources?|references?|citations?|bronnen|quellen|références|fuentes)[^\w\n]*+$",
    re.IGNORECASE | re.MULTILINE,
)

_TABLE_RULE = re.compile(r"\n[ \t]*+\|?[ \t:|]*+-[ \t:|-]*+(?=\n|\Z)")
"""What stands under the names of a table's columns."""
_BULLETS = " \t-*\u2022"
_GOES_ON = re.compile(r"(?=[^\W\d_])(\w+)[ \t]+\w")
"""Words; those of a name of a source begin with a capital, or have a dot or a slash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of an answer: its text without markers, its place in the answer, its markers."""

    text: str
    span: Span
    marks: tuple[CitationMark, ...]
    is_claim: bool

    @property
    def has_quotation_mark(self) -> bool:
        """Whether the sentence may quote."""
        return any(mark in self.text for mark in '"“”„«‘‚')


def sentences_from_pieces(
    pieces: Iterable[AnswerPiece], language: str = "en", asked: AbstractSet[str] = frozenset()
) -> list[Sentence]:
    """The answer's sentences in order; `asked`: the figures of the question."""
    plain, places, marks = _remove_marks(pieces)
    found = [
        (first, last, kind)
        for span, kind in block_spans(plain)
        for first, last in unit_spans(plain, span, kind, language)
    ]
    beside: list[list[CitationMark]] = [[] for _ in found]
    spans = [(first, last) for first, last, _ in found]
    for at, mark in marks:
        owner = _owning_sentence(plain, at, spans)
        if owner is not None:
            beside[owner].append(mark)
    listed = _source_list_span(plain)
    end = _trailing_list_start(plain, marks)
    sentences = []
    for (begin, last, kind), mine in zip(found, beside, strict=True):
        from_there = find_assertion_start(plain[begin:last], marked=bool(mine), asked=asked)
        first = begin + (from_there or 0)
        sentences.append(
            Sentence(
                text=plain[first:last],
                span=(places[first], places[last - 1] + 1),
                marks=tuple(mine),
                is_claim=from_there is not None
                and not listed[0] <= first < listed[1]
                and first < end
                and kind not in ("heading", "code")
                and not (kind == "table" and _TABLE_RULE.match(plain, last))
                and _is_claim(plain[first:last], mine),
            )
        )
    return sentences


def _remove_marks(
    pieces: Iterable[AnswerPiece],
) -> tuple[str, list[int], list[tuple[int, CitationMark]]]:
    """The text without markers, the offset of each of its characters, and the markers' places."""
    characters: list[str] = []
    places: list[int] = []
    marks: list[tuple[int, CitationMark]] = []
    for piece in pieces:
        if isinstance(piece, CitationMark):
            marks.append((len(places), piece))
            continue
        if marks and marks[-1][0] == len(places) and _TEXT_AFTER_MARKER.match(piece.text):
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


def _owning_sentence(plain: str, at: int, spans: Sequence[Span]) -> int | None:
    """The sentence before this place on its line; else the one after it.

    A marker alone on a line belongs to the text above, unless a blank line is between them and none
    before the text below.
    """
    line = plain.rfind("\n", 0, at) + 1
    after = bisect_left(spans, (at, 0))  # the spans are in order, and apart
    if after and (spans[after - 1][1] > line or _is_part_of_text_above(plain, line, at)):
        return after - 1
    return after if after < len(spans) else (after - 1 if spans else None)


def _is_part_of_text_above(plain: str, line: int, at: int) -> bool:
    end = plain.find("\n", at)
    end = len(plain) if end < 0 else end
    if plain[line:end].strip():
        return False
    above = plain[plain.rfind("\n", 0, max(line - 1, 0)) + 1 : line].strip()
    after = plain.find("\n", end + 1)
    below = plain[end + 1 : after if after >= 0 else len(plain)].strip()
    return bool(above) or not below


def _source_list_span(plain: str) -> Span:
    """The range of a list of sources: a heading line and the lines that list."""
    headings = list(_SOURCES_HEADING.finditer(plain))
    if not headings:
        return (len(plain), len(plain))
    start = end = headings[-1].start()
    for line in plain[start:].splitlines(keepends=True):
        if _SENTENCE_END.search(line) and len(line.split()) >= _MIN_SENTENCE_WORDS:
            break
        end += len(line)
    return (start, end)


def _trailing_list_start(plain: str, marks: Sequence[tuple[int, CitationMark]]) -> int:
    """Where a list of sources without a heading begins, such as `[1]: a.md`; else the end.

    Its lines begin with a marker that the text above has, and are neither sentences nor what goes
    on behind the marker in small letters ("[1] costs 40 euros").
    """
    start = end = len(plain)
    places = [place for place, _ in marks]
    listed: set[int] = set()
    while end > 0:
        first = plain.rfind("\n", 0, end) + 1
        line = plain[first:end]
        n = bisect_left(places, first)
        lead = n < len(marks) and places[n] <= end and not plain[first : places[n]].strip(_BULLETS)
        said = line.lstrip(_BULLETS)
        words = _GOES_ON.match(said)
        is_claim = _SENTENCE_END.search(line) or (words is not None and words[1].islower())
        if line.strip() and (not lead or (is_claim and not said.startswith(":"))):
            break
        if line.strip():
            start = first
            listed.update(marks[n][1].numbers)
        end = first - 1
    above = {n for place, mark in marks if place < start for n in mark.numbers}
    return start if listed and listed <= above else len(plain)


def _is_claim(text: str, marks: Sequence[CitationMark]) -> bool:
    if any(
        text.strip(_TRIM_CHARACTERS) == refusal.strip(_TRIM_CHARACTERS)
        for refusal in REFUSALS.values()
    ):
        return False
    if _GENERAL_KNOWLEDGE.search(text):
        return False
    closers = text[len(text.rstrip(_CLOSING_CHARACTERS)) :]
    if "?" in closers or "？" in closers or closers.rstrip().endswith(":"):
        return False
    return len(query_terms(text)) >= (1 if marks else _MIN_TERMS)

"""Divides an answer into sentences, each with its markers.

A marker belongs to the words before it on its line, else to those after it; alone on a line, to the
text above. Headings, code, questions, lead-ins with a colon, lists of sources and statements of
missing information are no claims.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from foveate.core.text.blocks import block_spans
from foveate.core.text.citation_markers import AnswerPiece, CitationMark
from foveate.core.text.sentences import unit_spans
from foveate.core.text.terms import query_terms
from foveate.core.types import Span
from foveate.pipeline.prompts import REFUSALS

_EN = r"(?:contexts?|documents?|sources?|passages?|texts?|excerpts?|notes)\b"
_NL = r"(?:context|documenten|document|bronnen|bron|passages?|teksten|tekst|fragmenten)\b"
_DE = r"(?:kontext(?:es)?|dokumente?n?|unterlagen|quellen?|passagen?|texte?n?|auszügen?)\b"
_FR = r"(?:contexte|documents?|sources?|passages?|textes?|extraits?)\b"
_FEW = r" (?:[\w'’]+ ){0,3}"
_NEAR = r"[^.,;]{0,40}"
_LONG = r"[^.,;]{0,80}\b"
_NOT = r"\b(?:(?:do|does|did|could|can) not|cannot|(?:do|does|did|could|ca)n['’]t|unable to|never)"
_CANNOT = r"(?:cannot|can not|can['’]t|unable to|not able to)"
_SAY = (
    r"(?:say|state|mention|contain|include|provide|specify|give|hold|tell|explain|describe|"
    r"indicate|answer|cover|discuss|address|detail|list|reveal|offer|show)"
)
_SAID = (
    r"(?:said|stated|mentioned|given|found|provided|specified|indicated|included|described|covered|"
    r"explained|discussed|addressed|listed|contained|available|answered)"
)
_NEWS = r"(?:information|mention|details?|answers?|indications?|data|references?|evidence|word)"
_ENGLISH = (
    rf"\b{_EN}{_NEAR}{_NOT}{_NEAR}\b{_SAY}\b",
    rf"\b{_EN}{_FEW}(?:contain|give|hold|provide|offer|include|make)s? no\b",
    rf"\b{_EN}{_FEW}ha(?:s|ve) no {_NEWS}\b",
    rf"\bnot (?:\w+ ){{0,2}}{_SAID} (?:\w+ )?(?:in|by|within|from) (?:\w+ ){{0,3}}{_EN}",
    rf"\bno {_NEWS}\b{_LONG}{_EN}",
    rf"\b(?:I|we) (?:am |are )?{_NOT} (?:find|determine|tell|answer|see|say)\b{_LONG}{_EN}",
    rf"\bcannot be (?:\w+ ){{0,2}}(?:determined|inferred|{_SAID}) {_LONG}{_EN}",
    (
        rf"\b(?:based on|in|from){_FEW}{_EN},? (?:there is no {_NEWS}|(?:I|we) {_NOT}|"
        rf"it is not (?:{_SAID}|clear|possible))\b"
    ),
    rf"\b(?:no|none of the|neither) (?:of the )?{_EN}{_NEAR}\b{_SAY}s?\b",
    rf"\b(?:I|we) {_NOT} have (?:\w+ ){{0,2}}{_NEWS}\b",
    rf"\bthere(?:['’]s| is| are) (?:not enough|insufficient|too little) {_NEWS}\b",
    rf"\b(?:I|we)(?:['’]m| am|['’]re| are)? {_CANNOT} answer (?:this|that|the|your)\b",
    r"\b(?:this|that|the|your) question (?:cannot|can['’]t|can not) be answered\b",
)
_DUTCH = (
    (
        rf"\b{_NL}{_FEW}(?:zegt|zeggen|vermeldt|vermelden|bevat|bevatten|geeft|geven|noemt|noemen|"
        rf"beschrijft|beschrijven|biedt|bieden|meldt|melden){_FEW}(?:niet|niets|geen)\b"
    ),
    rf"\b(?:in|uit){_FEW}{_NL} (?:staat|staan|blijkt|vind){_FEW}(?:niet|niets|geen)\b",
    rf"\b(?:staat|staan|blijkt){_FEW}{_NL} (?:niet|niets|geen)\b",
    (
        rf"\b(?:niet|niets|geen)\b{_LONG}(?:vermeld|genoemd|beschreven|gezegd|te vinden|"
        rf"informatie)\b{_FEW}{_NL}"
    ),
    (
        r"\b(?:ik heb|heb ik|we hebben|er is) (?:\w+ )?"
        r"(?:onvoldoende|te weinig|geen|niet genoeg) informatie\b"
    ),
    r"\b(?:ik|we) (?:kan|kunnen) (?:deze|die|uw|je|de) vraag (?:\w+ ){0,3}niet\b",
)
_GERMAN = (
    (
        rf"\b{_DE}{_FEW}(?:sagt|sagen|enthält|enthalten|nennt|nennen|erwähnt|erwähnen|gibt|geben|"
        rf"bietet|bieten|beschreibt|beschreiben|beantwortet|beantworten|macht|machen|liefert|liefern){_FEW}"
        r"(?:nichts?|keine?[mnrs]?)\b"
    ),
    rf"\b(?:in|im|aus){_FEW}{_DE} (?:steht|stehen|geht|findet|finden){_FEW}(?:nichts?|keine?\w?)\b",
    rf"\b(?:steht|stehen|geht){_FEW}{_DE} (?:nichts?|keine?\w?)\b",
    (
        rf"\b(?:in|im){_FEW}{_DE} (?:wird|werden|ist|sind)\b[^.;]{{0,80}}\b(?:nicht|keine?\w?)\b"
        rf"{_NEAR}\b(?:genannt|erwähnt|gesagt|angegeben|beschrieben)\b"
    ),
    (
        r"\b(?:ich habe|habe ich|wir haben|mir liegen|es gibt|liegen mir) (?:\w+ )?"
        r"(?:nicht genügend|nicht genug|zu wenige?|keine(?: ausreichenden)?) "
        r"(?:Informationen|Angaben)\b"
    ),
    r"\b(?:ich|wir) (?:kann|können) (?:diese|die|Ihre|deine) Frage (?:\w+ ){0,3}nicht\b",
)
_SAYS_FR = (
    r"(?:dis\w*|dit|précis\w*|mentionn\w*|conti\w*|indiqu\w*|répond\w*|donn\w*|fourni\w*|parl\w*|"
    r"évoqu\w*|permet\w*)"
)
_FRENCH = (
    rf"\b{_FR}{_FEW}n(?:e |['’]){_SAYS_FR} (?:pas|rien|aucune?)\b",
    rf"\baucune? (?:des )?{_FR}{_FEW}n(?:e |['’]){_SAYS_FR}\b",
    (
        rf"\b(?:n['’]est|ne sont|n['’]y est) pas (?:indiqu|précis|mentionn|donn|dit|fourni)\w*"
        rf"{_FEW}{_FR}"
    ),
    rf"\bn['’]y a (?:pas|aucune?)\b{_LONG}{_FR}",
    (
        r"\b(?:je n['’]ai|nous n['’]avons) (?:pas|aucune) (?:\w+ )?(?:d['’])?"
        r"(?:informations?|éléments)\b"
    ),
    r"\b(?:je ne peux|je ne suis pas en mesure de|nous ne pouvons) (?:pas )?répondre\b",
)
_ATTRIBUTION = re.compile(
    rf"\b(?:according to|laut|gemäß|volgens|selon|d['’]après)\b(?: \w+){{0,3}} "
    rf"(?:{_EN}|{_NL}|{_DE}|{_FR})",
    re.IGNORECASE,
)
_NO_INFORMATION = re.compile(
    "|".join(f"(?:{one})" for one in (*_ENGLISH, *_DUTCH, *_GERMAN, *_FRENCH)), re.IGNORECASE
)
_CONTINUATION = re.compile(
    r"(?:[;–—]|\b(?:but|however|yet|nevertheless|maar|echter|toch|aber|jedoch|doch|dennoch|mais|"
    r"cependant|toutefois|pourtant)\b)[\s,:]*",
    re.IGNORECASE,
)
_CONCESSION = re.compile(
    r"\W*(?:even though|though|although|while|hoewel|ofschoon|obwohl|obgleich|bien que|même si)\b",
    re.IGNORECASE,
)


def find_assertion_start(text: str) -> int | None:
    """Where a claim begins in a sentence that states missing information; None if nowhere.

    0 if the sentence states nothing missing.

    >>> (
    ...     find_assertion_start("The context does not say when."),
    ...     find_assertion_start("It opens at nine."),
    ... )
    (None, 0)
    >>> said = "The context does not say when, but it was in 1881."
    >>> said[find_assertion_start(said) :]
    'it was in 1881.'
    """
    found = _NO_INFORMATION.search(text)
    if found is None or _ATTRIBUTION.search(text):
        return 0
    if _CONCESSION.match(text):
        turn = text.find(",", found.end()) + 1
    else:
        goes_on = _CONTINUATION.search(text, found.end())
        turn = goes_on.end() if goes_on else 0
    rest = text[turn:].lstrip()
    return len(text) - len(rest) if turn and any(map(str.isalnum, rest)) else None


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


def sentences_from_pieces(pieces: Iterable[AnswerPiece], language: str = "en") -> list[Sentence]:
    """The answer's sentences in order."""
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
    sentences = []
    for (begin, last, kind), mine in zip(found, beside, strict=True):
        from_there = find_assertion_start(plain[begin:last])
        first = begin + (from_there or 0)
        sentences.append(
            Sentence(
                text=plain[first:last],
                span=(places[first], places[last - 1] + 1),
                marks=tuple(mine),
                is_claim=from_there is not None
                and not listed[0] <= first < listed[1]
                and kind not in ("heading", "code")
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

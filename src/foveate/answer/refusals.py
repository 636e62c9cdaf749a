"""Sentences of an answer that state missing information: what the sources do not say.

The prompts ask for them, so they need no source. What such a sentence goes on with is a claim. They
are known by words of three kinds, of a source, of negation and of saying, in the orders that
English, Dutch, German and French have.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from foveate.answer.figures import find_numbers

_SOURCE = (
    r"(?:contexts?|contexte|kontext(?:es)?|documents?|documenten|dokumente?n?|unterlagen|sources?"
    r"|bron(?:nen)?|quellen?|passagen?s?|texte?s?n?|teksten|tekst|extraits?|excerpts?|fragmenten"
    r"|auszügen?|notes)\b"
)
_NOT = (
    r"(?:n['’])?(?:not|never|no|none|neither|nothing|cannot|unable|insufficient|\w+n['’]t|niets?|geen"
    r"|onvoldoende|nichts?|nirgends|keine?[mnrs]?|pas|rien|d['’]aucune?|aucune?)\b"
)
_SAY = (
    r"(?:n['’])?(?:say|said|stat|mention|contain|includ|provid|specif|giv|hold|tell|told|explain"
    r"|describ|indicat|answer|cover|discuss|address|detail|list|reveal|offer|show|find|found"
    r"|determin|inferr|information|reference|zeg|vermeld|bevat|geef|gev|noem|beschr|bied|meld"
    r"|sta[at]|blijk|vind|terugvind|informatie|sag|enthält|enthalt|nenn|genannt|erwähn|gib|geb|biet"
    r"|beantwort|macht|liefer|gesagt|angegeben|steh|geht|angab|dis|dit|précis|conti|indiqu|répond"
    r"|donn|fourni|parl|évoqu|permet|figur|trouv|ressort)\w*"
)
_IN = r"(?:in|by|within|from|im|aus|uit|dans)"
_ANSWER = r"(?:answer|(?:be)?antwoord|(?:be)?antwort|répond|finde?n?\b|vinden)\w*"
_NEWS = r"(?:d['’])?(?:information(?:s|en)?|informatie|angaben|daten|details|éléments)\b(?! desk)"
_WE = r"(?:I|we|ik|ich|wir|je|nous)\b(?:['’]m)?"
_THERE = r"(?:there|er|mir|es|hierover|daarover|dazu|darüber)\b"


def _gap(most: int) -> str:
    """So many words, and the space behind them; a clause of its own, with "that", is none."""
    return rf"(?: +(?!(?:that|dass|dat|que)\b)[\w'’-]+){{0,{most}}} +"


def _any_of(*orders: str) -> re.Pattern[str]:
    return re.compile("|".join(orders), re.IGNORECASE)


_NOT_TOLD = _any_of(
    # the context does not say; it may be that documents are not listed
    rf"\b{_SOURCE},?{_gap(6)}(?<! are )(?<! was )(?<! were ){_NOT}{_gap(5)}{_SAY}",
    rf"\b{_SOURCE}{_gap(2)}{_SAY}{_gap(2)}{_NOT}",  # the context gives no
    rf"\b{_NOT}{_gap(5)}{_SAY}{_gap(8)}{_IN}{_gap(3)}{_SOURCE}",  # it is not stated in the context
    rf"\b{_SAY}{_gap(3)}{_NOT}{_gap(2)}{_IN}{_gap(3)}{_SOURCE}",  # steht nicht in den Quellen
    rf"\b{_SAY} {_IN}{_gap(2)}{_SOURCE} {_NOT}",  # staat in de bronnen niets
    rf"\b{_NOT}(?: (?:of|des))?(?: the)? {_SOURCE}{_gap(3)}{_SAY}",  # no source says
    rf"\b(?:unclear|not clear|unknown) from{_gap(3)}{_SOURCE}",
)
_NOT_KNOWN = _any_of(
    rf"\b{_WE}(?: [\w'’-]+){{0,6}}? {_NOT}{_gap(8)}{_ANSWER}",  # I cannot answer
    rf"\b(?:{_WE}|{_THERE}){_gap(5)}(?:n['’]\w+ )?{_NOT}{_gap(2)}{_NEWS}",  # I have no information
    r"\bI (?:do not|don['’]t) know\b(?! an? )",
    rf"\b(?:this|that|the|your) question {_NOT}{_gap(2)}{_ANSWER}",
    rf"\b{_NOT} {_NEWS} (?:is|are|n['’]est) (?:\w+ )?(?:available|given|disponible|donnée)"
    r"(?: (?:on|about) (?:this|that|it)| à ce sujet)?\W*\Z",
)
"""Such a sentence names no source, so that what follows may well be a claim."""
_ATTRIBUTION = re.compile(
    rf"\b(?:according to|laut|gemäß|volgens|selon|d['’]après)\b(?: \w+){{0,3}} {_SOURCE}",
    re.IGNORECASE,
)
LONGEST = 2_000
"""Characters of a sentence that are read for it: some words are tried at each place of all."""
_REST_WORDS = r"(?:[^\w.,;:]+\w+)"
_SHORT_REST = re.compile(
    rf"{_REST_WORDS}{{0,10}}"
    rf"(?:,(?:{_REST_WORDS}{{1,3}}"
    r"| (?:so|um|ob|wann|warum|was|welche\w?|wer|wie|wo)\b[^,;:]*))?\W*",
    re.IGNORECASE,
)
"""A short clause, and behind a comma an apology or what the clause is about."""
_CONTINUATION = re.compile(
    r"(?:[;–—]|\b(?:but|however|yet|nevertheless|maar|echter|toch|aber|jedoch|doch|dennoch|mais|"
    r"cependant|toutefois|pourtant)\b)[\s,:]*",
    re.IGNORECASE,
)
_CONCESSION = re.compile(
    r"\W*(?:even though|though|although|while|hoewel|ofschoon|obwohl|obgleich|bien que|même si)\b",
    re.IGNORECASE,
)


def find_assertion_start(
    text: str, *, marked: bool = False, asked: AbstractSet[str] = frozenset()
) -> int | None:
    """Where a claim begins in a sentence that states missing information; None if nowhere.

    0 if the sentence states nothing missing. So does one with a figure that is not in `asked`, and
    one that names no source and is `marked` or goes on at length.

    >>> (
    ...     find_assertion_start("The context does not say when."),
    ...     find_assertion_start("It opens at nine."),
    ... )
    (None, 0)
    >>> said = "The context does not say when, but it was in 1881."
    >>> said[find_assertion_start(said) :]
    'it was in 1881.'
    """
    told = _NOT_TOLD.search(text, 0, LONGEST)
    found = told or _NOT_KNOWN.search(text, 0, LONGEST)
    if found is None or _ATTRIBUTION.search(text):
        return 0
    end = turn = len(text)
    if _CONCESSION.match(text):
        if "," in text[found.end() :]:
            end = text.index(",", found.end())
            turn = end + 1
    elif goes_on := _CONTINUATION.search(text, found.end()):
        end, turn = goes_on.span()
    rest = text[turn:].lstrip()
    claims = any(map(str.isalnum, rest))
    if not told and ((marked and not claims) or not _SHORT_REST.fullmatch(text, found.end(), end)):
        return 0
    if any(figure not in asked for figure in find_numbers(text[:end])):
        return 0
    return len(text) - len(rest) if claims else None

"""Sentences of an answer that state missing information, in four languages: what was not told.

The prompts ask for them, so they need no source. What such a sentence goes on with is a claim.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from foveate.answer.figures import find_numbers

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
    rf"(?:\bnot|n['’]t) (?:\w+ ){{0,2}}{_SAID} (?:\w+ )?(?:in|by|within|from) (?:\w+ ){{0,3}}{_EN}",
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
    r"\bI (?:do not|don['’]t) know\b(?! an? )",
    rf"\b(?:unclear|not clear|unknown) from{_FEW}{_EN}",
    rf"\bno {_NEWS} (?:is|are) (?:\w+ )?{_SAID}(?: (?:on|about) (?:this|that|it))?\W*\Z",
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
    rf"\b(?:staat|staan){_FEW}(?:niet|niets) (?:\w+ )?in{_FEW}{_NL}",
    rf"\b(?:hierover|daarover|daar|hier)\b{_NEAR}\bgeen informatie\b",
    (
        rf"\b(?:ik kan|kan ik|we kunnen|kunnen we|wij kunnen)\b{_NEAR}\b(?:niet|geen)\b{_NEAR}"
        rf"\bvinden in{_FEW}{_NL}"
    ),
    (
        rf"\b(?:ik kan|kan ik|we kunnen|kunnen we|wij kunnen)\b{_NEAR}\b(?:niet|geen)\b{_NEAR}"
        r"\b(?:(?:be)?antwoord(?:en)?|terugvinden)\b"
    ),
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
    rf"\b(?:steht|stehen|findet sich|finden sich) (?:nichts?|keine?\w?)\b{_LONG}{_DE}",
    (
        rf"\b(?:wird|werden|ist|sind) (?:in|im){_FEW}{_DE} (?:nicht|nirgends)\b{_NEAR}"
        r"\b(?:genannt|erwähnt|gesagt|angegeben|beschrieben)\b"
    ),
    (
        r"\b(?:(?:dazu|darüber|hierzu|hierüber) (?:liegen|gibt es|finde ich|habe ich)|"
        r"(?:ich|wir) (?:konnten?|kann|können|habe|haben) (?:dazu|darüber|hierzu))\b"
        rf"{_NEAR}\b(?:nichts|keine?\w? (?:\w+ )?(?:Informationen?|Angaben?|Daten|Hinweise?))\b"
    ),
    (
        rf"\b(?:kann ich|ich kann|können wir|wir können)\b{_NEAR}\b(?:nicht|keine)\b{_NEAR}"
        r"\b(?:beantworten|antwort)\b"
    ),
)
_SAYS_FR = (
    r"(?:dis\w*|dit|précis\w*|mentionn\w*|conti\w*|indiqu\w*|répond\w*|donn\w*|fourni\w*|parl\w*|"
    r"évoqu\w*|permet\w*)"
)
_FRENCH = (
    rf"\b{_FR}{_FEW}n(?:e (?:le |l['’]|en )?|['’]){_SAYS_FR} (?:pas|rien|aucune?)\b",
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
    rf"\bne (?:figur|trouv|ressort)\w* pas\b{_LONG}{_FR}",
    rf"\b(?:je n['’]ai|nous n['’]avons) (?:pas|rien) trouvé\b{_LONG}{_FR}",
    r"\baucune information n['’]est (?:disponible|donnée|fournie)(?: à ce sujet)?\W*\Z",
    rf"\b(?:je ne dispose|nous ne disposons) (?:pas|d['’]aucune?)\b{_NEAR}\binformations?\b",
)
_ATTRIBUTION = re.compile(
    rf"\b(?:according to|laut|gemäß|volgens|selon|d['’]après)\b(?: \w+){{0,3}} "
    rf"(?:{_EN}|{_NL}|{_DE}|{_FR})",
    re.IGNORECASE,
)
_ALL = (*_ENGLISH, *_DUTCH, *_GERMAN, *_FRENCH)
_OF_SOURCES = [one for one in _ALL if any(words in one for words in (_EN, _NL, _DE, _FR))]
_NOT_TOLD = re.compile("|".join(f"(?:{one})" for one in _OF_SOURCES), re.IGNORECASE)
_NOT_KNOWN = re.compile(
    "|".join(f"(?:{one})" for one in _ALL if one not in _OF_SOURCES), re.IGNORECASE
)
"""Such a sentence names no source, so that what follows may well be a claim."""
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
    told = _NOT_TOLD.search(text)
    found = told or _NOT_KNOWN.search(text)
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

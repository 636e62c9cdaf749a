"""What an answer says it was not told: "the context does not say when", in the prompts' languages.

Such a sentence cites nothing and is no claim; the prompts ask for it. But one that goes on ("…, but
it was built in 1881") claims something from there on. What denies something about documents ("the
documents do not leave the building"), or by them ("according to the documents, there is no lift"),
is a claim like any other: so who says it, that it does not, and the saying must stand together.
"""

from __future__ import annotations

import re

_EN = r"(?:contexts?|documents?|sources?|passages?|texts?|excerpts?|notes)\b"
_NL = r"(?:context|documenten|document|bronnen|bron|passages?|teksten|tekst|fragmenten)\b"
_DE = r"(?:kontext(?:es)?|dokumente?n?|unterlagen|quellen?|passagen?|texte?n?|auszügen?)\b"
_FR = r"(?:contexte|documents?|sources?|passages?|textes?|extraits?)\b"
_FEW = r" (?:[\w'’]+ ){0,3}"
_NEAR = r"[^.,;]{0,40}"
_LONG = r"[^.,;]{0,80}\b"
_NOT = r"\b(?:(?:do|does|did|could|can) not|cannot|(?:do|does|did|could|ca)n['’]t|unable to|never)"
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
    """Where in a sentence that says it was not told something a claim begins; None: nowhere.

    0 where it says nothing of the kind.

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

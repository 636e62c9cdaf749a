"""Number words in English, Dutch, German and French, and numbers that are said in two parts.

Half an hour is 0.5 hours, `anderhalf uur` 1.5, `une heure et quart` 1.25, 1 h 15 min is 75 minutes,
and `halb sieben` 6:30.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from foveate.answer.quantities import UNITS

_ONES = """
    zero nul null zéro | one een één ein eins un une | two twee zwei deux | three drie drei trois |
    four vier quatre | five vijf fünf cinq | six zes sechs | seven zeven sieben sept |
    eight acht huit | nine negen neun neuf | ten tien zehn dix | eleven elf onze |
    twelve twaalf zwölf douze | thirteen dertien dreizehn treize |
    fourteen veertien vierzehn quatorze | fifteen vijftien fünfzehn quinze |
    sixteen zestien sechzehn seize | seventeen zeventien siebzehn | eighteen achttien achtzehn |
    nineteen negentien neunzehn
"""
_TENS = """
    twenty twintig zwanzig vingt | thirty dertig dreißig dreissig trente |
    forty veertig vierzig quarante | fifty vijftig fünfzig cinquante |
    sixty zestig sechzig soixante | seventy zeventig siebzig | eighty tachtig achtzig |
    ninety negentig neunzig
"""
NUMBER_BY_WORD = {
    word: step * number
    for listed, first, step in ((_ONES, 0, 1), (_TENS, 2, 10))
    for number, words in enumerate(listed.split("|"), first)
    for word in words.split()
}

_START = r"(?<![\w.,:/–-])(?<!\d['’ \u00a0\u202f])"
"""Where a figure begins: not behind the point, comma, colon or space inside of a longer one."""
_FIGURE = rf"{_START}(\d{{1,9}}|an?|{'|'.join(NUMBER_BY_WORD)})"
_UNIT = rf"(?:{'|'.join(sorted(filter(str.isalpha, UNITS), key=len, reverse=True))})\b"


def _value(word: str) -> int:
    return int(word) if word.isdigit() else NUMBER_BY_WORD.get(word.casefold(), 1)


def _add(part: str) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{_value(found[1])}{part}{found.groupdict().get('unit', '')}"


def _half_an_hour_before(found: re.Match[str]) -> str:
    return f"{(_value(found[1]) - 2) % 12 + 1}:30"


def _in_minutes(found: re.Match[str]) -> str:
    return f"{60 * _value(found[1]) + _value(found[2])} min"


def _quarters(found: re.Match[str]) -> str:
    return f"{15 * _value(found[1] or 'a')} min"


_QUARTERS = (
    rf"{_START}(?:{_FIGURE}[ -])?"
    r"(?:quarters? of an hour|quarts? d['’]heure|viertelstunden?|kwartier)\b"
)
_RULES: tuple[tuple[str, str, str | Callable[[re.Match[str]], str]], ...] = (
    (
        "hal",
        (
            r"\bhal[bf] (eins|een|zwei|twee|drei|drie|vier|fünf|vijf|sechs|zes|sieben|zeven|acht|"
            r"neun|negen|zehn|tien|elf|zwölf|twaalf)\b"
        ),
        _half_an_hour_before,
    ),
    (
        "min",
        (
            rf"{_FIGURE} ?(?:h|hours?|stunden?|uur|heures?)(?: (?:and|en|und|et))? "
            rf"{_FIGURE} ?min(?:ut\w+)?\b"
        ),
        _in_minutes,
    ),
    ("a half", rf"{_FIGURE} and a half (?={_UNIT})", _add(".5 ")),
    ("hal", rf"{_FIGURE}(?:einhalb|[eë]neenhalf|[eë]nhal(?:f|ve)) (?={_UNIT})", _add(".5 ")),
    ("a half", rf"{_FIGURE} (?P<unit>{_UNIT}) and a half\b", _add(".5 ")),
    ("demi", rf"{_FIGURE} (?P<unit>{_UNIT}) et demie?\b", _add(".5 ")),
    ("quart", rf"{_FIGURE} (?P<unit>{_UNIT}) (?:and a quarter|et quart)\b", _add(".25 ")),
    ("anderhal", r"\banderhal(?:f|ve)\b", "1.5"),
    ("anderthalb", r"\banderthalb\b", "1.5"),
    ("hal", rf"\b(?<!and a )(?:half an?|hal(?:f|ve)|halbe[nrs]?)[ -](?={_UNIT})", "0.5 "),
    ("demi", rf"\bdemie?[ -](?={_UNIT})", "0.5 "),
    ("quart", _QUARTERS, _quarters),
    ("viertelstunde", _QUARTERS, _quarters),
    ("kwartier", _QUARTERS, _quarters),
)
_FRACTIONS = tuple(
    (needle, re.compile(pattern, re.IGNORECASE), put) for needle, pattern, put in _RULES
)
"""What a text must have for the pattern to be tried, the pattern, and what is put there."""


def join_fractions(text: str) -> str:
    """The text with numbers of two parts in one.

    >>> join_fractions("Half an hour, two and a half hours, une heure et quart, halb sieben.")
    '0.5 hour, 2.5 hours, 1.25 heure, 6:30.'
    >>> join_fractions("Een half uur, anderhalf uur, zweieinhalb Stunden, 1 h 15 min.")
    'Een 0.5 uur, 1.5 uur, 2.5 Stunden, 75 min.'
    """
    plain = text.lower()
    for needle, pattern, put in _FRACTIONS:
        if needle in plain:
            text = pattern.sub(put, text)
    return text

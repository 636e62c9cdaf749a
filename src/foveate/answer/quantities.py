"""Holds the quantities of a claim against those of its sources: bounds, signs, units, letters.

The facts are those by which texts are the same (`core/text/facts.py`). A claim is at fault only if
each place of its sources that has the same number has another unit, sign, or opposite bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from foveate.answer.figures import normalise_number
from foveate.core.text.facts import names_of_one_letter, quantities

_UP, _DOWN = "≥", "≤"
_UNSURE = "?"
"""In place of a sign: words such as "minus" and "below" may be one."""
_SIGNS = {"<": _DOWN, "≤": _DOWN, "<=": _DOWN, ">": _UP, "≥": _UP, ">=": _UP}
_BEFORE = {
    _DOWN: r"at most|no more than|not more than|up to|maximum|maximum of|less than|fewer than|under"
    r"|höchstens|maximal|bis zu|weniger als|unter|nicht mehr als"
    r"|au plus|au maximum|jusqu'à|moins de|como máximo|a lo sumo|hasta|menos de"
    r"|al massimo|fino a|meno di|hoogstens|maximaal|niet meer dan|minder dan"
    r"|не более|не больше|менее|меньше|至多|最多|不超过|少于",
    _UP: r"at least|no less than|not less than|no fewer than|minimum|minimum of|more than|over"
    r"|mindestens|nicht weniger als|mehr als|über|au moins|au minimum|plus de"
    r"|como mínimo|al menos|por lo menos|más de|almeno|più di"
    r"|minstens|ten minste|niet minder dan|meer dan|не менее|не меньше|более|больше"
    r"|至少|最少|不少于|超过",
}
_BEHIND = {
    _DOWN: r"or less|or fewer|or under|at most|at the most|oder weniger|ou moins|o menos|o meno"
    r"|of minder|или меньше|以下",
    _UP: r"or more|or over|or above|at least|at the least|oder mehr|ou plus|o más|o più|of meer"
    r"|или больше|以上",
}
_HAN = "\u2e80"
_REACH = 40
"""Characters around a number in which words bound it."""


def _bounds(words: dict[str, str]) -> str:
    parts = []
    for name, sign in (("up", _UP), ("down", _DOWN)):
        edged = (word if word[0] > _HAN else rf"\b{word}" for word in words[sign].split("|"))
        parts.append(f"(?P<{name}>{'|'.join(edged)})")
    return "|".join(parts)


_LEAD = re.compile(
    rf"(?P<denied>\b(?:not|never|pas|non|nicht|kein\w*|niet|no|не)\s+(?:\w+\s+)?)??"
    rf"(?:{_bounds(_BEFORE)})\s*[€$£]?\s*[-+−]?\Z",
    re.IGNORECASE,
)
_TAIL = re.compile(
    rf"[ \u00a0]?(?:[^\W\d]+|[%°€$£])?[ \u00a0]?(?:{_bounds(_BEHIND)})(?!\w)", re.IGNORECASE
)
_NEGATIVE = re.compile(r"\b(?:minus|below|unter|moins|sous|menos|bajo|sotto|onder|min)\b|零下|ниже")
_ONE_UNIT = {
    word: words[0]
    for words in (
        ("ms", "milliseconds", "millisekunden", "millisecondes"),
        ("s", "sec", "secs", "second", "seconds", "sekunde", "sekunden", "segundos", "secondes"),
        ("min", "mins", "minute", "minutes", "minuten", "minutos", "minuti", "minuto"),
        ("h", "hr", "hrs", "hour", "hours", "stunde", "stunden", "heure", "heures", "horas", "uur"),
        ("€", "eur", "euro", "euros"),
        ("$", "usd", "dollar", "dollars"),
        ("£", "gbp", "pounds"),
        ("%", "percent", "prozent", "procent"),
        ("g", "grams"),
        ("kg", "kilograms"),
        ("m", "metres", "meters"),
        ("km", "kilometres", "kilometers"),
    )
    for word in words
}
_EXACT_UNITS = """
    s ms µs ns min h mg µg kg g km cm mm µm nm m m² m³ m2 m3 cm² cm³ km² mW W kW MW GW kWh MWh
    mA A V mV kV Hz kHz MHz GHz kB MB GB TB Mb Gb kbit Mbit Gbit ml mL l L Pa hPa kPa MPa bar mg/l
    µg/l km/h m/s °C °F € $ £ %
"""
_EXACT = frozenset(_EXACT_UNITS.split())
"""Units that are told apart; any other word behind a number may be what is counted."""


class _Meaning(NamedTuple):
    bound: str
    sign: str
    unit: str


def contradicted(claim: str, sources: Iterable[str]) -> tuple[str, ...]:
    """The quantities of a claim, and its names of one letter, that its sources state otherwise.

    >>> contradicted("It takes 30 s, 5 at most, for group B.", ["30 ms; 5 at least, for group A."])
    ('30 s', '5', 'group B')
    """
    texts = list(sources)
    there: dict[str, list[_Meaning]] = {}
    for text in texts:
        for number, known, _ in _quantities(text):
            there.setdefault(number, []).append(known)
    found = [
        written
        for number, mine, written in _quantities(claim)
        if number in there and not any(_agree(mine, other) for other in there[number])
    ]
    names = set().union(*map(names_of_one_letter, texts))
    words = {word for word, _ in names}
    found += [
        f"{word} {letter}"
        for word, letter in sorted(names_of_one_letter(claim) - names)
        if word in words
    ]
    return tuple(dict.fromkeys(found))


def _agree(mine: _Meaning, other: _Meaning) -> bool:
    if mine.unit and other.unit and mine.unit != other.unit:
        return False
    if mine.bound and other.bound and mine.bound != other.bound:
        return False
    return _UNSURE in (mine.sign, other.sign) or mine.sign == other.sign


def _quantities(text: str) -> Iterator[tuple[str, _Meaning, str]]:
    for one in quantities(text):
        if not one.digits[0].isdigit():
            continue
        digits = re.match(r"\d[\d.,'’]*\d|\d", one.digits)
        if digits is None:
            continue
        glued = one.digits[digits.end() :]
        unit = glued or one.unit or one.currency
        unit = _ONE_UNIT.get(unit.casefold() if len(unit) > 2 else unit, unit)
        before = text[max(0, one.start - _REACH) : one.start]
        lead, tail = _LEAD.search(before), _TAIL.match(text, one.end)
        around = f"{before}{text[one.end : one.end + _REACH]}"
        sign = "-" if one.sign in ("-", "−") else _UNSURE if _NEGATIVE.search(around) else ""
        known = _Meaning(
            _SIGNS.get(one.bound) or _bound(tail) or _bound(lead),
            sign,
            unit if unit in _EXACT else "",
        )
        yield normalise_number(digits[0]), known, f"{one.digits} {one.unit}".strip()


def _bound(found: re.Match[str] | None) -> str:
    if found is None or found.groupdict().get("denied"):
        return ""
    return _UP if found["up"] else _DOWN

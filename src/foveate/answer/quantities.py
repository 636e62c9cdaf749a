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


_LEAD = re.compile(rf"(?:{_bounds(_BEFORE)})\s*[€$£]?\s*[-+−]?\Z", re.IGNORECASE)
_TAIL = re.compile(
    rf"[ \u00a0]?(?:[^\W\d]+|[%°€$£])?[ \u00a0]?(?:{_bounds(_BEHIND)})(?!\w)", re.IGNORECASE
)
_NEGATED = re.compile(
    r"\b(?:not|never|no|cannot|without|nicht|nie|kein\w*|ohne|ne|pas|jamais|sans|nunca|sin|non|mai"
    r"|senza|niet|nooit|geen|zonder|não|nem|не|ни|без)\b|\bn['’]|n['’]t\b|[不没沒无無未]",
    re.IGNORECASE,
)
"""Behind such a word "more than 5" may say "5 at most"."""
_NEGATIVE = re.compile(
    r"\b(?:minus|below|unter|moins|sous|menos|bajo|sotto|onder|min|down|lower|less|fewer|negative"
    r"|fell|fall\w*|drop\w*|decreas\w*|declin\w*|reduc\w*|shr[aiu]nk\w*|los[set]\w*|deficit\w*"
    r"|gefallen|fiel|sank|gesunken|sink\w*|verlust\w*|verlor\w*|rückgang\w*|weniger|minder|negativ"
    r"|baiss\w*|recul\w*|perte\w*|perdu|dimin\w*|négati\w*|caíd\w*|cay\w*|baj\w*|pérdid\w*"
    r"|negativ\w*|perdit\w*|cal[oai]\w*|daling\w*|gedaald|daalde|verlie\w*)\b"
    r"|[–‑﹣－]\d|零下|ниже|снизи",
    re.IGNORECASE,
)
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
        ("ml", "mL"),
        ("l", "L"),
        ("m²", "m2"),
        ("m³", "m3"),
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


class Stated(NamedTuple):
    """What a source states: its quantities by their number, and its names of one letter."""

    quantities: dict[str, list[_Meaning]]
    names: set[tuple[str, str]]


def stated(text: str) -> Stated:
    """What a text states, to be read once for all claims."""
    there: dict[str, list[_Meaning]] = {}
    for number, known, _ in _quantities(text):
        there.setdefault(number, []).append(known)
    return Stated(there, names_of_one_letter(text))


def contradicted(claim: str, sources: Iterable[Stated]) -> tuple[str, ...]:
    """The quantities of a claim, and its names of one letter, that its sources state otherwise.

    >>> source = stated("30 ms; 5 at least, for group A.")
    >>> contradicted("It takes 30 s, 5 at most, for group B.", [source])
    ('30 s', '5', 'group B')
    """
    known = list(sources)
    found = []
    for number, mine, written in _quantities(claim):
        there = [other for one in known for other in one.quantities.get(number, ())]
        if there and not any(_agree(mine, other) for other in there):
            found.append(written)
    names = set[tuple[str, str]]().union(*(one.names for one in known))
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
        if lead and _NEGATED.search(before, 0, lead.start()):
            lead = None
        around = f"{before}{one.digits}{text[one.end : one.end + _REACH]}"
        sign = "-" if one.sign in ("-", "−") else _UNSURE if _NEGATIVE.search(around) else ""
        known = _Meaning(
            _SIGNS.get(one.bound) or _bound(tail) or _bound(lead),
            sign,
            unit if unit in _EXACT else "",
        )
        yield normalise_number(digits[0]), known, f"{one.digits} {one.unit}".strip()


def _bound(found: re.Match[str] | None) -> str:
    if found is None:
        return ""
    return _UP if found["up"] else _DOWN

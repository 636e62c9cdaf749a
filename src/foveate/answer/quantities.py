"""Quantities and names of days, months and ranks in a text, each in one spelling.

14 days and two weeks are one quantity, 1.5 km and 1500 m too. Days and months are found in English,
Dutch, German and French. Ranks (`first`, `derde`, `letzte`) count where a source has ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

UNITS = {
    "milliliter": "ml", "milliliters": "ml", "centiliter": "cl",
    "mg": "mg", "milligram": "mg", "milligrams": "mg", "g": "g", "gram": "g", "grams": "g",
    "gramm": "g", "kg": "kg", "kilo": "kg", "kilogram": "kg", "kilograms": "kg", "t": "t",
    "ml": "ml", "millilitre": "ml", "millilitres": "ml", "cl": "cl", "l": "l", "liter": "l",
    "litre": "l", "litres": "l", "liters": "l", "mm": "mm", "cm": "cm", "m": "m", "metre": "m",
    "metres": "m", "meter": "m", "meters": "m", "metern": "m", "km": "km", "kilometre": "km",
    "kilometres": "km", "kilometer": "km", "kilometers": "km", "mile": "mi", "miles": "mi",
    "meile": "mi", "meilen": "mi", "mijl": "mi", "mph": "mph",
    "second": "s", "seconds": "s", "sekunden": "s",
    "seconden": "s", "secondes": "s", "minute": "min", "minutes": "min", "minuten": "min",
    "min": "min", "hour": "h", "hours": "h", "stunde": "h", "stunden": "h", "uur": "h",
    "heure": "h", "heures": "h", "day": "d", "days": "d", "tag": "d", "tage": "d", "tagen": "d",
    "dag": "d", "dagen": "d", "jour": "d", "jours": "d", "week": "w", "weeks": "w", "woche": "w",
    "wochen": "w", "weken": "w", "semaine": "w", "semaines": "w", "month": "mo", "months": "mo",
    "monat": "mo", "monate": "mo", "monaten": "mo", "maand": "mo", "maanden": "mo", "mois": "mo",
    "year": "y", "years": "y", "jahr": "y", "jahre": "y", "jahren": "y", "jaar": "y", "jaren": "y",
    "an": "y", "ans": "y", "bar": "bar", "psi": "psi", "percent": "%", "procent": "%",
    "prozent": "%", "%": "%", "euro": "€", "euros": "€", "eur": "€", "€": "€", "cent": "ct",
    "cents": "ct", "dollar": "$",
    "dollars": "$", "usd": "$", "$": "$", "pounds": "£", "£": "£", "kw": "kw", "mw": "mw",
    "kwh": "kwh", "volt": "v", "volts": "v", "v": "v", "amp": "a", "amps": "a", "°c": "°c",
    "celsius": "°c", "°f": "°f", "fahrenheit": "°f",
}  # fmt: skip
_SIZES = {
    "s": ("s", "1"), "min": ("s", "60"), "h": ("s", "3600"), "d": ("s", "86400"),
    "w": ("s", "604800"), "mo": ("mo", "1"), "y": ("mo", "12"),
    "mm": ("m", ".001"), "cm": ("m", ".01"), "m": ("m", "1"), "km": ("m", "1000"),
    "mg": ("g", ".001"), "g": ("g", "1"), "kg": ("g", "1000"), "t": ("g", "1000000"),
    "ml": ("l", ".001"), "cl": ("l", ".01"), "l": ("l", "1"), "ct": ("€", ".01"), "€": ("€", "1"),
}  # fmt: skip
_COMPOUND = re.compile(
    r"(?<=\w{4})(?:sekunden|minuten|stunden|tagen?|wochen|monaten?|jahren?|seconden|dagen|weken|"
    r"maanden|jaren)\Z"
)
"""The unit that a compound ends with: 300 Betriebsstunden."""
FIGURE = re.compile(
    r"([€$£] ?)?(?<![\w.])(\d+(?:\.\d+)?)[ \u00a0\u202f-]?(km/h|[€$£%]|°[cf]|[a-zµ]+)?"
)
ONE = re.compile(
    rf"\b(?:one|een|één|ein|eine|einen|un|une)(?= (?:{'|'.join(filter(str.isalpha, UNITS))})\b)"
)


def units_of_figures(text: str) -> list[tuple[str, str]]:
    """Each figure with its unit in one spelling, of a text whose numbers are in one; "" for none.

    >>> units_of_figures("5 euros, €6 and 7 of 8 km/h")
    [('5', '€'), ('6', '€'), ('7', ''), ('8', 'km/h')]
    """
    return [
        (found[2], _unit(found[3] or "") or _unit((found[1] or "").strip()))
        for found in FIGURE.finditer(text)
    ]


def _unit(word: str) -> str:
    if word == "km/h":
        return word
    compound = None if word in UNITS else _COMPOUND.search(word)
    return UNITS.get(compound[0] if compound else word, "")


def quantities(text: str) -> Iterator[tuple[str, str]]:
    """Each figure that has a unit of time, length, weight or volume, and its quantity.

    >>> dict(quantities("14 days, 2 weeks"))
    {'14': '1209600 s', '2': '1209600 s'}
    """
    for found, quantity in quantity_matches(text):
        yield found[2], quantity


def quantity_matches(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """The same with the places of figure and unit."""
    for found in FIGURE.finditer(text):
        unit = _unit(found[3] or "") or _unit((found[1] or "").strip())
        if unit in _SIZES:
            base, size = _SIZES[unit]
            yield found, f"{(Decimal(found[2]) * Decimal(size)).normalize():f} {base}"


_DAYS = """
    monday montag maandag lundi | tuesday dienstag dinsdag mardi |
    wednesday mittwoch woensdag mercredi | thursday donnerstag donderdag jeudi |
    friday freitag vrijdag vendredi | saturday samstag sonnabend zaterdag samedi |
    sunday sonntag zondag dimanche
"""
_MONTHS = """
    january januar januari janvier | february februar februari février | march märz maart |
    april avril | may mai mei | june juni juin | july juli juillet | august augustus août |
    september septembre | october oktober octobre | november novembre | december dezember décembre
"""
_RANKS = """
    last laatste letzte letzten letzter letztes dernier dernière |
    first eerste erste ersten erster erstes premier première |
    second tweede zweite zweiten zweiter zweites deuxième seconde |
    third derde dritte dritten drittes troisième | fourth vierde vierte vierten quatrième |
    fifth vijfde fünfte fünften cinquième
"""
_NAMES = {
    word: f"{kind} {number}"
    for kind, listed, first in (("day", _DAYS, 1), ("month", _MONTHS, 1), ("rank", _RANKS, 0))
    for number, words in enumerate(listed.split("|"), first)
    for word in words.split()
}
_VERBS = frozenset(["march", "may"])
_MONTH_BY_ITS_PLACE = re.compile(
    r"\b(?:in|of|until|till|from|by|since|before|after|early|late|mid) (march|may)\b"
)
_NAME = re.compile(rf"\b({'|'.join(_NAMES)})(?:s|en)?\b")
_BESIDE_FIGURE = re.compile(r"\d\.?\s*\Z")


def calendar_names(text: str) -> Iterator[tuple[str, str]]:
    """Each day, month and rank of a text in lower case: the word, and its kind and number.

    >>> list(calendar_names("am ersten montag im mai, on may 3; you may come"))
    [('ersten', 'rank 1'), ('montag', 'day 1'), ('mai', 'month 5'), ('may', 'month 5')]
    """
    for found in _NAME.finditer(text):
        beside = _BESIDE_FIGURE.search(text[: found.start()]) or re.match(
            r"\s*\d", text[found.end() :]
        )
        if found[1] not in _VERBS or beside:
            yield found[0], _NAMES[found[1]]


NUMERIC_DATE = re.compile(r"(?<!\d)(\d{1,4})[./-](\d{1,2})[./-]\d{1,4}(?!\d)")
_MONTHS_OF_A_YEAR = 12
_SHORT_WORD = re.compile(r"\b[^\W\d_]{3,4}\b")
_PREFIX_LENGTHS = (3, 4)
_BY_PREFIX = {
    prefix: {one for word, one in _NAMES.items() if word.startswith(prefix) and "rank" not in one}
    for prefix in {word[:length] for word in _NAMES for length in _PREFIX_LENGTHS}
}


def calendar_spellings(text: str) -> set[str]:
    """The days, months and ranks that a source in lower case may mean: `mar.` and 17.03. too.

    >>> sorted(calendar_spellings("17.03.2024, fri")), calendar_spellings("2024-12-01")
    (['day 5', 'month 3'], {'month 12'})
    """
    found = {name for _, name in calendar_names(text)}
    short = (word for word in _SHORT_WORD.findall(text) if word not in _VERBS)
    found.update(*(_BY_PREFIX.get(word, ()) for word in short))
    found.update(_NAMES[month] for month in _MONTH_BY_ITS_PLACE.findall(text))
    for parts in NUMERIC_DATE.findall(text):
        found.update(f"month {int(part)}" for part in parts if 0 < int(part) <= _MONTHS_OF_A_YEAR)
    return found

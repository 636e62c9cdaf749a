"""Where a claim says the opposite of the passage that supports it best, or something else of it.

Words alone cannot tell: "is not open" shares all words with "is open". Three differences are found,
each where claim and passage speak of the same thing: a statement negated in one and not in the
other, a figure with another unit, two figures that changed places. Everything else is left to a
scorer, or to a reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from foveate.answer.figures import normalise_numbers
from foveate.core.text.terms import query_terms
from foveate.core.text.words import split_words

Contradiction: TypeAlias = Literal["negated", "other_unit", "swapped_figures"]

_NEGATION_WORDS = """
    not no never none neither nor without cannot nicht kein keine keinen keinem keiner keines
    nie niemals ohne weder niet geen nooit zonder noch pas jamais sans aucun aucune ni
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_CLAUSE = re.compile(
    r"[,;:.!?()–—]|\b(?:and|but|or|while|und|aber|oder|en|maar|of|et|mais|ou)\b", re.IGNORECASE
)
_SAME_CLAUSE = 0.75
"""Share of a clause's terms from which two clauses speak of the same thing."""
_CLEARLY = 0.5
"""By how much crossed figures must fit better than straight ones."""
_UNITS = {
    "milliliter": "ml", "milliliters": "ml", "centiliter": "cl",
    "mg": "mg", "milligram": "mg", "milligrams": "mg", "g": "g", "gram": "g", "grams": "g",
    "gramm": "g", "kg": "kg", "kilo": "kg", "kilogram": "kg", "kilograms": "kg", "t": "t",
    "ml": "ml", "millilitre": "ml", "millilitres": "ml", "cl": "cl", "l": "l", "liter": "l",
    "litre": "l", "litres": "l", "liters": "l", "mm": "mm", "cm": "cm", "m": "m", "metre": "m",
    "metres": "m", "meter": "m", "meters": "m", "km": "km", "kilometre": "km", "kilometres": "km",
    "kilometer": "km", "kilometers": "km", "second": "s", "seconds": "s", "sekunden": "s",
    "seconden": "s", "secondes": "s", "minute": "min", "minutes": "min", "minuten": "min",
    "min": "min", "hour": "h", "hours": "h", "stunde": "h", "stunden": "h", "uur": "h",
    "heure": "h", "heures": "h", "day": "d", "days": "d", "tag": "d", "tage": "d", "tagen": "d",
    "dag": "d", "dagen": "d", "jour": "d", "jours": "d", "week": "w", "weeks": "w", "woche": "w",
    "wochen": "w", "weken": "w", "semaine": "w", "semaines": "w", "month": "mo", "months": "mo",
    "monat": "mo", "monate": "mo", "monaten": "mo", "maand": "mo", "maanden": "mo", "mois": "mo",
    "year": "y", "years": "y", "jahr": "y", "jahre": "y", "jahren": "y", "jaar": "y", "jaren": "y",
    "an": "y", "ans": "y", "bar": "bar", "psi": "psi", "percent": "%", "procent": "%",
    "prozent": "%", "%": "%", "euro": "€", "euros": "€", "eur": "€", "€": "€", "dollar": "$",
    "dollars": "$", "usd": "$", "$": "$", "pounds": "£", "£": "£", "kw": "kw", "mw": "mw",
    "kwh": "kwh", "volt": "v", "volts": "v", "v": "v", "amp": "a", "amps": "a", "°c": "°c",
    "celsius": "°c", "°f": "°f", "fahrenheit": "°f",
}  # fmt: skip
_ONE = re.compile(
    rf"\b(?:one|een|één|ein|eine|einen|un|une)(?= (?:{'|'.join(filter(str.isalpha, _UNITS))})\b)"
)
_FIGURE = re.compile(r"([€$£] ?)?(?<![\w.])(\d+(?:\.\d+)?)[  -]?([€$£%]|°[cf]|[a-zµ]+)?")


def contradictions(claim: str, passage: str) -> tuple[Contradiction, ...]:
    """What of the claim the passage says otherwise.

    >>> contradictions("The pump does not start at 3 bar.", "The pump starts at 3 bar.")
    ('negated',)
    >>> contradictions("It takes 5 g a day.", "It takes 5 mg a day."), contradictions("A.", "A.")
    (('other_unit',), ())
    >>> contradictions("Heat is 40, cold is 60.", "Cold is 40, heat is 60.")
    ('swapped_figures',)
    """
    claim, passage = (_ONE.sub("1", normalise_numbers(text)) for text in (claim, passage))
    found: list[Contradiction] = []
    if _is_negated(claim, passage):
        found.append("negated")
    if _has_other_unit(claim, passage):
        found.append("other_unit")
    if _is_swapped(claim, passage):
        found.append("swapped_figures")
    return tuple(found)


def _clauses(text: str) -> Iterator[tuple[frozenset[str], bool]]:
    """The terms of each clause, and whether it negates."""
    for part in _CLAUSE.split(text):
        words = split_words(part)
        negations = (
            sum(word in _NEGATIONS for word in words) + part.count("n't") + part.count("n’t")
        )
        terms = frozenset(query_terms(part)) - _NEGATIONS
        if terms:
            yield terms, negations % 2 == 1


def _is_negated(claim: str, passage: str) -> bool:
    """Whether a clause is negated in one text and the clause nearest to it is not in the other."""
    known = list(_clauses(passage))
    for terms, negated in _clauses(claim):
        if len(terms) < 2:
            continue
        shares = [
            (len(terms & there) / min(len(terms), len(there)), turned)
            for there, turned in known
            if len(terms & there) > 1
        ]
        best = max((share for share, _ in shares), default=0.0)
        if best < _SAME_CLAUSE:
            continue
        if all(turned != negated for share, turned in shares if share == best):
            return True
    return False


def _figures(text: str) -> list[tuple[str, str]]:
    """Each figure with its unit in one spelling; without one the unit is empty."""
    return [
        (found[2], _UNITS.get((found[3] or found[1] or "").strip(), ""))
        for found in _FIGURE.finditer(text)
    ]


def _has_other_unit(claim: str, passage: str) -> bool:
    there: dict[str, set[str]] = {}
    for figure, unit in _figures(passage):
        there.setdefault(figure, set()).add(unit)
    return any(
        unit and figure in there and "" not in there[figure] and unit not in there[figure]
        for figure, unit in _figures(claim)
    )


def _is_swapped(claim: str, passage: str) -> bool:
    """Whether two figures of the claim stand beside each other's words in the passage."""
    mine, theirs = dict(_beside(claim)), dict(_beside(passage))
    shared = [figure for figure in mine if figure in theirs]
    for n, one in enumerate(shared):
        for other in shared[n + 1 :]:
            kept = _overlap(mine[one], theirs[one]) + _overlap(mine[other], theirs[other])
            crossed = _overlap(mine[one], theirs[other]) + _overlap(mine[other], theirs[one])
            if crossed > kept + _CLEARLY:
                return True
    return False


def _beside(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Each figure of a clause that has one, with the other terms of its clause."""
    for part in _CLAUSE.split(text):
        figures = [found[2] for found in _FIGURE.finditer(part)]
        if len(figures) == 1:
            yield figures[0], frozenset(query_terms(part)) - {figures[0]}


def _overlap(mine: frozenset[str], theirs: frozenset[str]) -> float:
    both: Sequence[str] = sorted(mine & theirs)
    return 2 * len(both) / max(1, min(len(mine), len(theirs)))

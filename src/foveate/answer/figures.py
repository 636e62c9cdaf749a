"""Normalises the figures of a text, to find those of a claim in its sources.

Equal: 1,000 and 1000 and 1.000; 5 % and 5%; `twenty` and 20; 3.50 and 3.5; 1.5 million and
1,500,000; 9:30 and 9.30 of a clock. Values are compared without units. A claim's minus must be in
the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from decimal import Decimal

from foveate.answer.number_words import NUMBER_BY_WORD, join_fractions
from foveate.answer.quantities import (
    NUMERIC_DATE,
    ONE,
    calendar_names,
    calendar_spellings,
    quantities,
)

_DIGITS = re.compile(r"\d[\d.,'’\u00a0\u202f]*\d|\d")
_GROUPED_DIGITS = re.compile(r"\d{1,3}(?:([.,'’\u00a0\u202f])\d{3})(?:\1\d{3})*\Z")
_SPACED_DIGITS = re.compile(r"(?<![\d.,])(\d{1,3})((?: \d{3})+)(?![\d.,]*\d)")
_LIST_ITEM = re.compile(r"^\s*\(?\d{1,3}[.)]\s", re.MULTILINE)
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{2,4}\Z")
_CLOCK = re.compile(
    r"(?<![\d.,:])(\d{1,2})(?::(\d\d)(?!\d)|\.(\d\d)(?=\s?(?:[ap]\.?m\b|uur\b|Uhr\b|h\b)))"
)
_SCALES = {"thousand": 3, "duizend": 3, "tausend": 3, "mille": 3, "million": 6, "millions": 6}
_SCALES |= {"miljoen": 6, "millionen": 6, "billion": 9, "billions": 9, "miljard": 9}
_SCALES |= {"milliarden": 9, "milliard": 9, "milliards": 9, "milliarde": 9}
_SCALE = re.compile(rf"[ \u00a0\u202f-]?({'|'.join(_SCALES)})\b", re.IGNORECASE)
_FIRST_TENS = 20
_AMBIGUOUS_WORDS = frozenset(
    ["zero", "nul", "null", "zéro", "one", "een", "ein", "eins", "un", "une", "neuf", "elf", "acht"]
)
_PARTS = {"hal[fv]": "50", "hälfte": "50", "helft": "50", "moitié": "50", "demi": "30"}
_PARTS |= {r"(?:quart(?:er)?|kwart|viertel)\b": "15", "twice": "2", "zweimal": "2"}
"""What words say of numbers in a source: half of a hundred, a quarter of an hour."""
_UNITS = "|".join(word for word, value in NUMBER_BY_WORD.items() if 0 < value < 10)
_TEN_WORDS = "|".join(word for word, value in NUMBER_BY_WORD.items() if value >= _FIRST_TENS)
_NUMBER_WORD = re.compile(
    rf"\b(?:({_UNITS})(?:en|ën|und)({_TEN_WORDS})|"
    rf"({_TEN_WORDS})(?:[- ]| et |-et-)({_UNITS})|"
    rf"(?!ten (?:minste|hoogste|laatste|eerste|tweede|slotte)\b)({'|'.join(NUMBER_BY_WORD)}))\b"
)
"""vijfentwintig, fünfundzwanzig; twenty-five, vingt et un; one word. Dutch `ten minste` is none."""


def find_numbers(text: str) -> list[str]:
    """The figures in a text, in one spelling, in order; numbers of list items left out.

    >>> find_numbers(
    ...     "2. About 1,000 of 12 345 paid 3.50 in twenty-two years, at -5 or 1.5 million."
    ... )
    ['1000', '12345', '3.5', '22', '-5', '1500000']
    """
    clean = _LIST_ITEM.sub(lambda found: " " * len(found[0]), text)
    return [value for _, value in sorted(_iter_numbers(_join_parts(clean)))]


def number_spellings(text: str) -> set[str]:
    """Every spelling of every figure of a source: also of list items, parts of dates and clocks.

    Quantities in one unit, days, months and ranks too, for `missing_numbers`.

    A part of the digits is no figure: 1,200 is not 200.
    """
    clean = _join_parts(text)
    found = {value.removeprefix("-") for _, value in _iter_numbers(clean)}
    found.update(value for _, value in _iter_numbers(clean))
    for run in _DIGITS.findall(clean):
        if _DATE.match(run):
            found.update(normalise_number(part) for part in run.split("."))
    for hours, minutes, dotted in _CLOCK.findall(clean):
        found.update((normalise_number(hours), normalise_number(minutes or dotted)))
        found.add(normalise_number(f"{hours}.{minutes or dotted}"))
        found.add(str(int(hours) % 12 or 12))
    found.update(str(_word_value(word)) for word in _NUMBER_WORD.finditer(clean.casefold()))
    plain = text.casefold()
    found.update(str(NUMBER_BY_WORD[word]) for word in _ANY_NUMBER_WORD.findall(plain))
    found.update(value for word, value in _PARTS.items() if re.search(rf"\b{word}", plain))
    found.update(calendar_spellings(plain))
    found.update(quantity for _, quantity in quantities(ONE.sub("1", normalise_numbers(text))))
    return found


def normalise_numbers(text: str) -> str:
    """The text in lower case with its numbers in one spelling, so that words can be compared.

    >>> normalise_numbers("Dertig of vijfendertig minuten, 1.000 keer.")
    '30 of 35 minuten, 1000 keer.'
    """
    spelled = _NUMBER_WORD.sub(_word_as_digits, _join_parts(text.casefold()))
    return _DIGITS.sub(lambda found: normalise_number(found[0]), spelled)


def _word_as_digits(found: re.Match[str]) -> str:
    return found[0] if found[0] in _AMBIGUOUS_WORDS else str(_word_value(found))


def _word_value(found: re.Match[str]) -> int:
    return sum(NUMBER_BY_WORD[word] for word in found.groups() if word)


def normalise_number(run: str) -> str:
    """One number as it is spelled here.

    >>> [normalise_number(run) for run in ("1.000", "3,50", "1,234.5", "007", "2024")]
    ['1000', '3.5', '1234.5', '7', '2024']
    """
    whole, part = run, ""
    if not _GROUPED_DIGITS.match(run):
        last = max(run.rfind("."), run.rfind(","))
        marks = re.findall(r"[.,'’]", run)
        if last >= 0 and (len(marks) == 1 or run[last] not in marks[:-1]):
            whole, part = run[:last], run[last + 1 :]
    digits = re.sub(r"\D", "", whole).lstrip("0") or "0"
    part = part.rstrip("0") if part.isdigit() else ""
    return f"{digits}.{part}" if part else digits


def missing_numbers(claim: str, there: AbstractSet[str]) -> tuple[str, ...]:
    """The figures, days, months and ranks of a claim that are not among these, each once.

    A quantity may be said in another unit: 14 days are two weeks. A date may be said in figures
    alone: 2024-03-12 is 12 March 2024.

    >>> missing_numbers("On Monday, after 14 days.", number_spellings("on Friday, in two weeks"))
    ('monday',)
    """
    same = {
        figure for figure, one in quantities(ONE.sub("1", normalise_numbers(claim))) if one in there
    }
    rest = NUMERIC_DATE.sub(lambda date: "" if _is_same_date(date[0], there) else date[0], claim)
    figures = [one for one in find_numbers(rest) if one not in there and one not in same]
    ranked = any(one.startswith("rank ") for one in there)
    for word, name in calendar_names(claim.casefold()):
        kind, _, number = name.partition(" ")
        if name not in there and (kind != "rank" or (ranked and number not in there)):
            figures.append(word)
    return tuple(dict.fromkeys(figures))


def _is_same_date(date: str, there: AbstractSet[str]) -> bool:
    """Whether the month of a date in figures is there as one, and so are its other figures."""
    first, middle, last = map(normalise_number, re.split("[./-]", date))
    orders = ((middle, first), (first, middle))  # 2024-03-12 and 12.03.2024; 3/12/2024
    return last in there and any(f"month {m}" in there and d in there for m, d in orders)


_ANY_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(NUMBER_BY_WORD)})\b")


def _join_parts(text: str) -> str:
    """The text with each number in one piece: digits in groups, halves and quarters."""
    joined = join_fractions(text)
    return _SPACED_DIGITS.sub(lambda found: found[1] + found[2].replace(" ", ""), joined)


def _iter_numbers(clean: str) -> Iterable[tuple[int, str]]:
    for run in _DIGITS.finditer(clean):
        value = normalise_number(run[0])
        if scale := _SCALE.match(clean, run.end()):
            value = _scale_number(value, _SCALES[scale[1].casefold()])
        yield run.start(), f"-{value}" if _is_minus(clean, run.start()) else value
    for word in _NUMBER_WORD.finditer(clean.casefold()):
        if word[0] in _AMBIGUOUS_WORDS:
            continue
        total = _word_value(word)
        scale = _SCALE.match(clean, word.end())
        yield (
            word.start(),
            _scale_number(str(total), _SCALES[scale[1].casefold()]) if scale else str(total),
        )


def _scale_number(value: str, zeros: int) -> str:
    return normalise_number(f"{Decimal(value).scaleb(zeros):f}")


def _is_minus(text: str, start: int) -> bool:
    """Whether a minus is a sign: not in 5-10, in B-12 or in a date."""
    if start == 0 or text[start - 1] not in "-−":
        return False
    return start == 1 or text[start - 2] in " \t\n(:=\u00a0"

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

from foveate.answer.number_words import NUMBER_BY_WORD

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
    words = _ANY_NUMBER_WORD.findall(text.casefold())
    found.update(str(NUMBER_BY_WORD[word]) for word in words)
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
    """The figures of a claim that are not among these, each once.

    >>> missing_numbers("After 15 days, at 9.30.", number_spellings("at 9:30, in fourteen days"))
    ('15',)
    """
    return tuple(dict.fromkeys(one for one in find_numbers(claim) if one not in there))


_ANY_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(NUMBER_BY_WORD)})\b")


def _join_parts(text: str) -> str:
    """The text with each number in one piece: digits in groups."""
    return _SPACED_DIGITS.sub(lambda found: found[1] + found[2].replace(" ", ""), text)


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

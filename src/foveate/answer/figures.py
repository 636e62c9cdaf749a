"""The figures of a text, so that those of a claim can be looked for in what it cites.

Spelling is set aside: 1,000 and 1000 and 1.000 are one, 5 % and 5%, `three` and 3, 3.50 and 3.5.
Values are compared, not units: "5 mg" is found where "5 g" stands; the support score has the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from foveate.core.text.words import words

_RUN = re.compile(r"\d[\d.,'’\u00a0\u202f]*\d|\d")
_GROUPED = re.compile(r"\d{1,3}(?:([.,'’\u00a0\u202f])\d{3})(?:\1\d{3})*\Z")
_SPACED = re.compile(r"(?<![\d.,])(\d{1,3})((?: \d{3})+)(?![\d.,]*\d)")
_ITEM = re.compile(r"^\s*\(?\d{1,3}[.)]\s", re.MULTILINE)
_SPELLED = {
    word: value
    for value, names in enumerate(
        (
            "zero nul null zéro",
            "one een één ein eins un une",
            "two twee zwei deux",
            "three drie drei trois",
            "four vier quatre",
            "five vijf fünf cinq",
            "six zes sechs",
            "seven zeven sieben sept",
            "eight acht huit",
            "nine negen neun neuf",
            "ten tien zehn dix",
            "eleven elf onze",
            "twelve twaalf zwölf douze",
        )
    )
    for word in names.split()
}
_ARTICLES = frozenset(["one", "een", "ein", "eins", "un", "une", "neuf"])


def figures(text: str) -> list[str]:
    """The figures in a text, in one spelling, in order; numbers of list items left out.

    >>> figures("2. About 1,000 of 12 345 paid 3.50 in two years.")
    ['1000', '12345', '3.5', '2']
    """
    clean = _ITEM.sub(lambda found: " " * len(found[0]), text)
    clean = _SPACED.sub(lambda found: found[1] + found[2].replace(" ", ""), clean)
    found = [(run.start(), spelling(run[0])) for run in _RUN.finditer(clean)]
    at = 0
    for word in words(clean):
        at = max(clean.casefold().find(word, at), at)
        if word in _SPELLED and word not in _ARTICLES:
            found.append((at, str(_SPELLED[word])))
    return [value for _, value in sorted(found)]


def spelling(run: str) -> str:
    """One number as it is spelled here.

    >>> [spelling(run) for run in ("1.000", "3,50", "1,234.5", "007", "2024")]
    ['1000', '3.5', '1234.5', '7', '2024']
    """
    whole, point, part = run, "", ""
    if not _GROUPED.match(run):
        last = max(run.rfind("."), run.rfind(","))
        if (last >= 0 and len(re.findall(r"[.,]", run)) <= 1) or _differ(run, last):
            whole, point, part = run[:last], run[last], run[last + 1 :]
    digits = re.sub(r"\D", "", whole).lstrip("0") or "0"
    part = part.rstrip("0") if point and part.isdigit() else ""
    return f"{digits}.{part}" if part else digits


def respelled(text: str) -> str:
    """The text with its numbers in one spelling, so that words can be compared."""
    clean = _SPACED.sub(lambda found: found[1] + found[2].replace(" ", ""), text)
    return _RUN.sub(lambda found: spelling(found[0]), clean)


def missing(claim: str, grounds: Iterable[str]) -> tuple[str, ...]:
    """The figures of a claim that none of the texts has, each once."""
    known: set[str] = set()
    for text in grounds:
        known.update(_all(text))
    return tuple(dict.fromkeys(f for f in figures(claim) if f not in known))


def _all(text: str) -> set[str]:
    """Figures of a source: numbers of list items and articles count too, to be on the safe side."""
    found = set(figures(text))
    found.update(spelling(run) for run in _RUN.findall(text))
    found.update(digits for digits in re.findall(r"\d+", text))
    found.update(str(_SPELLED[word]) for word in words(text) if word in _SPELLED)
    return found


def _differ(run: str, last: int) -> bool:
    """Whether the last mark is another than those before it: 1,234.5."""
    return last > 0 and run[last] not in re.findall(r"[.,'’]", run[:last]) and last >= 0

"""Reads the format codes of a spreadsheet's cells: sections, and what is in each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from itertools import takewhile
from operator import eq, ge, gt, le, lt, ne

from foveate.ingest.loaders.date_formats import is_known_calendar, mark_minutes

_PARTS = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|(?P<space>[_*].)'
    r"|\[\$(?P<sign>[^\]-]*)(?:-(?P<locale>[^\]]*))?\]|\[(?P<elapsed>h+|m+|s+)\]"
    r"|\[(?P<test><=|>=|<>|<|>|=)(?P<limit>-?\d+(?:\.\d+)?)\]"
    r"|\[(?P<colour>black|blue|cyan|green|magenta|red|white|yellow|color ?\d+)\]"
    r"|(?P<half>AM/PM|A/P|上午/下午|午前/午後|오전/오후)|(?P<general>General|@)"
    r"|(?P<exponent>E[+-])|(?P<date>y+|m+|d+|h+|s+|g+|e+|b+|aaaa?)"
    r"|(?:(?<=s)|(?<=s\]))\.(?P<places>0+)|(?P<fraction>[0#?]+ */ *(?:[1-9]\d*|[0#?]+))"
    r"|(?P<digit>[0#?])|(?P<dot>\.)|(?P<comma>,)|(?P<percent>%)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_SEPARATORS = re.compile(r'"[^"]*"|\\.|[_*].|\[[^\]]*\]|(?P<end>;)', re.DOTALL)
_TESTS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "<": lt,
    "<=": le,
    "=": eq,
    "<>": ne,
    ">": gt,
    ">=": ge,
}
LITERALS = frozenset({"quoted", "escaped", "sign", "other", "percent"})
"""Parts that stand for themselves."""
_TIMES = frozenset({"date", "elapsed", "half"})
_ISO = frozenset("TZ")
_MAX_CODE_LENGTH = 255
_Parts = Sequence[tuple[str, str]]
_ZERO = Decimal(0)
_ALL = ("<>", Decimal("Infinity"))
_NEGATIVE = ("<", _ZERO)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the digits of a number go: the point, and the places before and behind it.

    `scale`: the power of ten that it is shown by; `needed`: places behind the point that are shown
    even if they have nothing; `is_grouped`: whether commas are between thousands.
    """

    point: int
    before: int
    places: int
    scale: int
    needed: int
    is_grouped: bool


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a code: its parts by kind and text, and the numbers that it is for.

    `kind`: of what it shows; empty if it is not understood. `is_negative`: it is for negative
    numbers alone, and so itself says what they are.
    """

    parts: tuple[tuple[str, str], ...]
    kind: str
    test: tuple[str, Decimal] = _ALL
    is_negative: bool = False
    layout: Layout = field(kw_only=True)

    def is_for(self, number: Decimal) -> bool:
        """Whether it shows that number."""
        sign, limit = self.test
        return _TESTS[sign](number, limit)


@dataclass(frozen=True, slots=True)
class Code:
    """The sections of a code for numbers in order, and that for texts if it has one."""

    sections: tuple[Section, ...]
    text: Section | None


def parse_code(code: str) -> Code:
    """The sections of a code; the last is for texts if it has a place for one, or is the fourth."""
    return Code((), None) if len(code) > _MAX_CODE_LENGTH else _parse_short_code(code)


@lru_cache(maxsize=256)
def _parse_short_code(code: str) -> Code:
    found = [_parse_section(part) for part in _split_sections(code)]
    text = found[-1] if len(found) > 3 or ("general", "@") in found[-1].parts else None
    numbers = found[:3] if text is None else found[: min(len(found) - 1, 3)]
    # a format for texts alone shows numbers without one
    return Code(tuple(_with_tests(numbers or [_parse_section("General")])), text)


def _split_sections(code: str) -> list[str]:
    """The sections between semicolons, the empty ones too."""
    found, start = [], 0
    for semicolon in _SEPARATORS.finditer(code):
        if semicolon["end"]:
            found.append(code[start : semicolon.start()])
            start = semicolon.end()
    return [*found, code[start:]]


def _with_tests(sections: Sequence[Section]) -> Iterator[Section]:
    """The sections with the numbers that each is for; one without a test is for the rest.

    Only a section for all that is below zero says itself what it shows: as in the programs, one
    for less than another limit is shown with a sign.
    """
    many = len(sections) > 2
    usual = [_ALL, _NEGATIVE if many else _ALL, _ALL]
    if len(sections) > 1 and sections[0].test is _ALL:
        usual[:2] = [(">" if many else ">=", _ZERO), _NEGATIVE]
    rest_is_negative = False
    for section, default in zip(sections, usual, strict=False):
        sign, limit = test = default if section.test is _ALL else section.test
        of_negative = (sign == "<" and not limit) or rest_is_negative
        of_negative = of_negative and not _lacks_sign(section.parts)
        yield replace(section, test=test, is_negative=of_negative and len(sections) > 1)
        rest_is_negative |= sign == ">=" and not limit


def _lacks_sign(parts: _Parts) -> bool:
    """Whether nothing but a colour says that a number is negative, which a text does not show."""
    said = "".join(text for kind, text in parts if kind in LITERALS and kind != "sign")
    is_bare = any(kind in ("colour", "general") for kind, _ in parts)
    return is_bare and not said.strip(" \xa0%$€£¥")


def _parse_section(code: str) -> Section:
    """One section; without a kind if it has what is not understood."""
    parts: list[tuple[str, str]] = []
    test = _ALL
    for found in _PARTS.finditer(code):
        kind = str(found.lastgroup)
        if kind == "limit":
            test = (found["test"], Decimal(found["limit"]))
        elif kind == "locale":
            parts += [("sign", found["sign"]), ("locale", found["locale"])]
        elif kind != "space":
            parts.append((kind, found[kind]))
    kind = _kind(parts)
    marked = tuple(mark_minutes(parts) if kind == "date" else _mark_commas(parts))
    return Section(marked, kind, test, layout=_lay_out(marked))


def _kind(parts: _Parts) -> str:
    """What a section with these parts shows."""
    kinds = {kind for kind, _ in parts}
    bare = {text for kind, text in parts if kind == "other"}
    shown = kinds & {"digit", "general", "fraction", "exponent"}
    if bare & {'"', "\\", "[", "n", "N"} or (len(shown) > 1 and "digit" not in shown):
        return ""
    if kinds & _TIMES:
        is_read = not shown and not any(text.isascii() and text.isalpha() for text in bare - _ISO)
        return "date" if is_read and is_known_calendar(parts) else ""
    if "fraction" in kinds:
        return "" if kinds & {"dot", "percent", "general", "exponent"} else "fraction"
    if "general" in kinds:
        return "" if kinds & {"digit", "percent"} else "general"
    if shown and [kind for kind, _ in parts].count("dot") < 2:
        return "exponent" if "exponent" in shown else "digit"
    if shown:
        return ""
    return "text" if kinds - {"colour"} or not parts else "general"


def _mark_commas(parts: _Parts) -> Iterator[tuple[str, str]]:
    """The parts with what each comma does: it groups, or behind the last digit it divides."""
    last = max((n for n, kind in _whole_part(parts) if kind == "digit"), default=-1)
    first = next((n for n, (kind, _) in enumerate(parts) if kind == "digit"), len(parts))
    for n, (kind, text) in enumerate(parts):
        if kind != "comma":
            yield kind, text
        elif first < n:
            yield ("group" if n < last else "thousand"), text


def _whole_part(parts: _Parts) -> Iterator[tuple[int, str]]:
    """The parts before the point by number and kind."""
    kinds = [kind for kind, _ in parts]
    return takewhile(lambda part: part[1] not in ("dot", "exponent"), enumerate(kinds))


def _lay_out(parts: _Parts) -> Layout:
    kinds = [kind for kind, _ in parts]
    point = len([*_whole_part(parts)])
    masks = "".join(text for kind, text in parts[point:] if kind == "digit")
    return Layout(
        point=point,
        before=kinds[:point].count("digit"),
        places=len(masks),
        scale=2 * kinds.count("percent") - 3 * kinds.count("thousand"),
        needed=masks.rfind("0") + 1,
        is_grouped="group" in kinds,
    )

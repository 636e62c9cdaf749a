"""Formats a spreadsheet's numbers and dates as its number formats show them.

Supported: sections by sign, digits, thousands, per cent, literal text and parts of dates. With
fractions, exponents, colours or conditions a number is shown as stored, to fifteen digits.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

BUILT_IN = dict(
    [
        *((1, "0"), (2, "0.00"), (3, "#,##0"), (4, "#,##0.00"), (9, "0%"), (10, "0.00%")),
        *((14, "yyyy-mm-dd"), (15, "d-mmm-yy"), (16, "d-mmm"), (17, "mmm-yy")),
        *((18, "h:mm AM/PM"), (19, "h:mm:ss AM/PM"), (20, "h:mm"), (21, "h:mm:ss")),
        *((22, "yyyy-mm-dd h:mm"), (37, "#,##0"), (38, "#,##0"), (39, "#,##0.00")),
        *((40, "#,##0.00"), (45, "mm:ss"), (46, "[h]:mm:ss"), (47, "mm:ss")),
    ]
)
"""The format codes that a file need not spell out. 14 and 22 are the reader's own: ISO 8601."""

_PARTS = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<sign>[^\]-]*)[^\]]*\]|\[(?P<elapsed>h+|m+|s+)\]'
    r"|\[[^\]]*\]|[_*].|(?P<half>AM/PM|A/P)|(?P<date>y+|m+|d+|h+|s+)(?P<fraction>\.0+)?"
    r"|(?P<digits>[#0?](?:[#0?,.]*[#0?])?)|(?P<percent>%)|(?P<other>[^;])",
    re.IGNORECASE | re.DOTALL,
)
_SECTIONS = re.compile(r'(?:"[^"]*"|\\.|\[[^\]]*\]|[^;])*')
_STORED_PRECISION = Context(prec=15)
_MAX_CODE_LENGTH = 200
_DAYS = 2_958_466  # 9999-12-31
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def format_number(value: str, code: str, *, since_1904: bool = False) -> str:
    """A stored number as a cell with that format code shows it.

    >>> (
    ...     format_number("1234.5", "#,##0.00"),
    ...     format_number("0.125", "0.0%"),
    ...     format_number("45352", "yyyy-mm-dd"),
    ... )
    ('1,234.50', '12.5%', '2024-03-01')
    """
    try:
        number = Decimal(value)
    except ArithmeticError:
        return value
    if not number.is_finite() or abs(number.adjusted()) > 300:
        return value
    section, number = _section_for_sign(code[:_MAX_CODE_LENGTH], number)
    parts = _parse_section(section)
    if any(part["date"] or part["elapsed"] for part in parts):
        return _format_date(parts, number, since_1904=since_1904) or _format_plain(number)
    if not any(part["digits"] for part in parts) or _is_unsupported(parts):
        return _format_plain(number)
    return _format_decimal(parts, number)


def _section_for_sign(code: str, number: Decimal) -> tuple[str, Decimal]:
    """The format's section for the sign, and the number without the sign that it shows."""
    sections = _split_sections(code)
    if number < 0 and len(sections) > 1:
        return sections[1], -number
    if number == 0 and len(sections) > 2:
        return sections[2], number
    return (sections[0] if sections else ""), number


@lru_cache(maxsize=256)
def _split_sections(code: str) -> list[str]:
    return [part for part in _SECTIONS.findall(code) if part][:3]


@lru_cache(maxsize=256)
def _parse_section(section: str) -> list[re.Match[str]]:
    return list(_PARTS.finditer(section))


def _is_unsupported(parts: list[re.Match[str]]) -> bool:
    digits = sum(bool(part["digits"]) for part in parts)
    return digits > 1 or any((part["other"] or "") in "/Ee@" for part in parts if part["other"])


def _format_plain(number: Decimal) -> str:
    short = _STORED_PRECISION.plus(number)
    text = format(short, "f") if -7 < short.adjusted() < 21 else str(short)
    return text.rstrip("0").rstrip(".") if "." in text and "E" not in text else text


def _format_decimal(parts: list[re.Match[str]], number: Decimal) -> str:
    value = _STORED_PRECISION.plus(number)
    value *= 100 ** sum(bool(part["percent"]) for part in parts)
    said = [
        _format_digits(part["digits"], abs(value)) if part["digits"] else _literal_text(part)
        for part in parts
    ]
    text = "".join(said).strip()
    nothing = not any(char in "123456789" for char in text)
    return text if value >= 0 or nothing else f"-{text}"


def _format_digits(mask: str, value: Decimal) -> str:
    whole, _, after = mask.partition(".")
    least = sum(char in "0?" for char in after)
    places = len(after.replace(",", ""))
    if abs(value.adjusted()) > 40:
        return _format_plain(value)
    rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, Context(prec=48 + places))
    text = f"{rounded:,f}" if "," in whole else f"{rounded:f}"
    head, dot, tail = text.partition(".")
    tail = tail[:least] + tail[least:].rstrip("0")
    head = head.rjust(sum(char == "0" for char in whole), "0")
    return f"{head}{dot if tail else ''}{tail}"


def _literal_text(part: re.Match[str]) -> str:
    said = (part["quoted"], part["escaped"], part["sign"], part["percent"], part["other"])
    return next((each for each in said if each), "")


def _format_date(parts: list[re.Match[str]], number: Decimal, *, since_1904: bool) -> str:
    """The formatted date; empty if the number is none."""
    if not 0 <= number < _DAYS:
        return ""
    # Day 60 is 29 February 1900, which never was: from then on days count from a day earlier.
    epoch = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30 + (number < 60))  # noqa: DTZ001
    seconds = int((number * 86_400).quantize(Decimal(1), ROUND_HALF_UP))
    moment = epoch + timedelta(seconds=seconds)
    halves = any(part["half"] for part in parts)
    said: list[str] = []
    for i, part in enumerate(parts):
        if part["elapsed"]:
            unit = {"h": 3600, "m": 60, "s": 1}[part["elapsed"][0].lower()]
            said.append(str(seconds // unit).rjust(len(part["elapsed"]), "0"))
        elif part["date"]:
            minutes = part["date"][0] in "mM" and _is_minutes(parts, i)
            said.append(_format_unit(part["date"].lower(), moment, minutes=minutes, halves=halves))
        elif part["half"]:
            said.append("AM" if moment.hour < 12 else "PM")
        else:
            said.append(_literal_text(part))
    return "".join(said).strip()


def _is_minutes(parts: list[re.Match[str]], i: int) -> bool:
    """An `m` after an hour or before a second is a minute."""

    def unit(near: list[re.Match[str]]) -> str:
        found = (each["date"] or each["elapsed"] for each in near)
        return next((each[0].lower() for each in found if each), "")

    return unit(parts[:i][::-1]) == "h" or unit(parts[i + 1 :]) == "s"


def _format_unit(mask: str, moment: datetime, *, minutes: bool, halves: bool) -> str:
    wide = min(len(mask), 2)
    match mask[0]:
        case "y":
            return f"{moment.year:04d}" if len(mask) > 2 else f"{moment.year % 100:02d}"
        case "d" if len(mask) > 2:
            name = _WEEK[moment.weekday()]
            return name[:3] if len(mask) == 3 else name
        case "d":
            return str(moment.day).rjust(wide, "0")
        case "m" if minutes:
            return str(moment.minute).rjust(wide, "0")
        case "m" if len(mask) > 2:
            name = _MONTHS[moment.month - 1]
            return name[:3] if len(mask) == 3 else name
        case "m":
            return str(moment.month).rjust(wide, "0")
        case "h":
            hour = (moment.hour % 12 or 12) if halves else moment.hour
            return str(hour).rjust(wide, "0")
    return str(moment.second).rjust(wide, "0")

"""Formats a spreadsheet's dates and times, which are stored as numbers of days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal

_DAYS = 2_958_466  # 9999-12-31
_NEVER = {0: (1900, 1, 0), 60: (1900, 2, 29)}
"""Days that spreadsheets count and show, and that no calendar has."""
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ERAS = (
    *(((2019, 5, 1), "R令和"), ((1989, 1, 8), "H平成"), ((1926, 12, 25), "S昭和")),
    *(((1912, 7, 30), "T大正"), ((1868, 1, 25), "M明治")),
)
_EXACT = Context(prec=60)
_BUDDHIST, _JAPANESE = 7, 3
_Parts = Sequence[tuple[str, str]]


def is_known_calendar(parts: _Parts) -> bool:
    """Whether dates are counted in a calendar that is read: not the moon's, for one."""
    return _calendar(parts) in (0, 1, 2, _JAPANESE, _BUDDHIST)


def _calendar(parts: _Parts) -> int:
    """The number of the calendar, of which 0 to 2 are the usual one."""
    name = next((text for kind, text in parts if kind == "locale"), "").split(",")[0].upper()
    if name == "411" or name.startswith("JA-JP"):
        return _JAPANESE
    try:
        return int(name, 16) >> 16 & 0xFF
    except ValueError:
        return 0


def mark_minutes(parts: _Parts) -> list[tuple[str, str]]:
    """The parts, in which an `m` behind an hour or before a second is a minute."""
    found: list[tuple[str, str]] = []
    times = [
        (n, text[0].lower()) for n, (kind, text) in enumerate(parts) if kind in ("date", "elapsed")
    ]
    minutes = {
        n
        for at, (n, unit) in enumerate(times)
        if unit == "m"
        and ((at and times[at - 1][1] == "h") or (at + 1 < len(times) and times[at + 1][1] == "s"))
    }
    for n, (kind, text) in enumerate(parts):
        found.append(("minute", text) if n in minutes and kind == "date" else (kind, text))
    return found


@dataclass(frozen=True, slots=True)
class _Moment:
    """What parts of a date are written from. `seconds`: since the day 0, with their decimals."""

    seconds: Decimal
    day: tuple[int, int, int]
    at: datetime
    has_halves: bool
    calendar: int

    def part(self, kind: str, mask: str) -> str:
        """What one part of the format shows."""
        two = min(len(mask), 2)
        match kind, mask[:1].lower():
            case "elapsed", unit:
                units = int(self.seconds) // {"h": 3600, "m": 60, "s": 1}[unit]
                return str(units).rjust(len(mask), "0")
            case "places", _:
                fraction = f"{self.seconds:f}".partition(".")[2]
                return f".{fraction[: len(mask)]}"
            case "minute", _:
                return str(self.at.minute).rjust(two, "0")
            case "half", _:
                return mask.split("/")[self.at.hour >= 12]
            case "date", "h":
                return str((self.at.hour % 12 or 12) if self.has_halves else self.at.hour).rjust(
                    two, "0"
                )
            case "date", "s":
                return str(self.at.second).rjust(two, "0")
            case "date", _:
                return _format_day(mask.lower(), self.day, self.at.weekday(), self.calendar)
        return "" if kind in ("colour", "locale") else mask


def format_date(parts: _Parts, number: Decimal, *, since_1904: bool) -> str | None:
    """The date, time or span of time; None if the number is none."""
    kinds = {kind for kind, _ in parts}
    if abs(number) >= _DAYS or (number < 0 and "elapsed" not in kinds):
        return None
    places = max((len(text) for kind, text in parts if kind == "places"), default=0)
    seconds = (abs(number) * 86_400).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _EXACT)
    # Day 60 is 29 February 1900, which never was: from then on days count from a day earlier.
    epoch = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30 + (number < 60))  # noqa: DTZ001
    if seconds >= 86_400 * (_DAYS - 1_462 * since_1904):  # 1,462 days between the two first days
        return None
    at = epoch + timedelta(seconds=int(seconds))
    day = (at.year, at.month, at.day)
    if not since_1904:
        day = _NEVER.get(int(seconds) // 86_400, day)
    has_era = any(kind == "date" and text[0] in "gG" for kind, text in parts)
    calendar = _JAPANESE if has_era else _calendar(parts)
    moment = _Moment(seconds, day, at, "half" in kinds, calendar)
    sign = "-" if number < 0 and seconds else ""
    return sign + "".join(moment.part(*part) for part in parts).strip()


def _format_day(mask: str, day: tuple[int, int, int], weekday: int, calendar: int) -> str:
    """What a mask such as `mmm` shows of a day: its year, era, month, weekday or number."""
    year, month, number = day
    first, era = next((known for known in _ERAS if day >= known[0]), ((year, 1, 1), ""))
    match mask[0]:
        case "g":
            return era[:1] if len(mask) == 1 else era[1:2] if len(mask) == 2 else era[1:]
        case "e" if calendar == _JAPANESE:
            return str(year - first[0] + 1).rjust(min(len(mask), 2), "0")
        case "y" | "e" | "b":
            year += 543 if calendar == _BUDDHIST or mask[0] == "b" else 0
            is_short = len(mask) < 3 and mask[0] != "e"
            return f"{year % 100:02d}" if is_short else f"{year:04d}"
        case "a" | "d" if len(mask) > 2:
            return _WEEK[weekday][: 3 if len(mask) == 3 else None]
        case "m" if len(mask) > 2:
            name = _MONTHS[month - 1]
            return name[: {3: 3, 5: 1}.get(len(mask))]
    return str(month if mask[0] == "m" else number).rjust(min(len(mask), 2), "0")

"""Formats a spreadsheet's numbers and texts as the format codes of their cells show them.

What a code says that is not understood leaves the number as it is stored, to fifteen digits and
with its sign; the reader counts that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

from foveate.ingest.loaders.date_formats import format_date
from foveate.ingest.loaders.format_codes import LITERALS, Section, parse_code

_ACCOUNTS = '_({0}* #,##0{1}_);_({0}* \\(#,##0{1}\\);_({0}* "-"??_);_(@_)'
_DATE, _TIME, _EITHER = "yyyy-mm-dd", "h:mm:ss", "[<1]h:mm:ss;yyyy-mm-dd"
BUILT_IN = dict(
    [
        *((1, "0"), (2, "0.00"), (3, "#,##0"), (4, "#,##0.00"), (9, "0%"), (10, "0.00%")),
        *((5, "$#,##0_);($#,##0)"), (6, "$#,##0_);[Red]($#,##0)")),
        *((7, "$#,##0.00_);($#,##0.00)"), (8, "$#,##0.00_);[Red]($#,##0.00)")),
        *((11, "0.00E+00"), (12, "# ?/?"), (13, "# ??/??")),
        *((14, _DATE), (15, "d-mmm-yy"), (16, "d-mmm"), (17, "mmm-yy")),
        *((18, "h:mm AM/PM"), (19, "h:mm:ss AM/PM"), (20, "h:mm"), (21, _TIME)),
        *((22, "yyyy-mm-dd h:mm"), (32, "h:mm"), (33, _TIME)),
        *((37, "#,##0_);(#,##0)"), (38, "#,##0_);[Red](#,##0)")),
        *((39, "#,##0.00_);(#,##0.00)"), (40, "#,##0.00_);[Red](#,##0.00)")),
        *((41, _ACCOUNTS.format("", "")), (42, _ACCOUNTS.format("$", ""))),
        *((43, _ACCOUNTS.format("", ".00")), (44, _ACCOUNTS.format("$", ".00"))),
        *((45, "mm:ss"), (46, "[h]:mm:ss"), (47, "mm:ss.0"), (48, "##0.0E+0"), (49, "@")),
        *((number, _DATE) for number in (*range(27, 32), 36, *range(50, 55), 57, 58)),
        *((number, _EITHER) for number in (34, 35, 55, 56)),
    ]
)
"""The format codes that a file need not spell out.

14 and 22 are the reader's own: ISO 8601. So are 27 to 36 and 50 to 58, dates and times of East
Asian languages, of which four are dates in one language and times in another.
"""

_STORED_PRECISION = Context(prec=15)
_EXACT = Context(prec=400)
_LARGEST = 40
"""The exponent from which on a number is shown as it is stored."""
_EMPTY_PLACES = {"0": "0", "?": " ", "#": ""}


def format_number(value: str, code: str, *, since_1904: bool = False) -> str | None:
    """A stored number as a cell with that format code shows it; None if that is not understood.

    >>> (
    ...     format_number("1234.5", "#,##0.00"),
    ...     format_number("-5", "General;[Red]-General"),
    ...     format_number("45352", "yyyy-mm-dd"),
    ... )
    ('1,234.50', '-5', '2024-03-01')
    """
    number = _read_number(value)
    if number is None:
        return value
    if code in ("", "General"):
        return _format_plain(number)
    section = next((one for one in parse_code(code).sections if one.is_for(number)), None)
    if section is None:
        return None
    if section.kind == "date":
        return format_date(section.parts, number, since_1904=since_1904)
    shown = _STORED_PRECISION.abs(number)
    if not section.kind or shown.adjusted() > _LARGEST:
        return None
    text = _WRITERS[section.kind](section, shown).strip()
    has_sign = number < 0 and not section.is_negative and text
    is_more = section.kind == "text" or any(char in "123456789" for char in text)
    return f"-{text}" if has_sign and is_more else text


def format_stored(value: str) -> str:
    """A number as it is stored, to fifteen digits.

    >>> format_stored("-0.30000000000000004")
    '-0.3'
    """
    number = _read_number(value)
    return value if number is None else _format_plain(number)


def format_text(text: str, code: str) -> str:
    """A text as a cell with that format code shows it.

    >>> format_text("n/a", '0.0;-0.0;0.0;"("@")"'), format_text("secret", ";;;")
    ('(n/a)', '')
    """
    section = None if code in ("", "General", "@") else parse_code(code).text
    if section is None or section.kind not in ("general", "text"):
        return text
    return _write_around(section, text)


def _read_number(value: str) -> Decimal | None:
    try:
        number = Decimal(value)
    except ArithmeticError:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= 300 else None


def _write_around(section: Section, said: str) -> str:
    """The literals of a section, and where it has a place for anything, that."""
    if section.parts and all(kind == "colour" for kind, _ in section.parts):
        return said
    parts = [part for part in section.parts if part[0] in LITERALS or part[0] == "general"]
    return "".join(said if kind == "general" else text for kind, text in parts)


def _write_general(section: Section, number: Decimal) -> str:
    return _write_around(section, _format_plain(number))


def _write_digits(section: Section, number: Decimal) -> str:
    """A digit a place, and in the first place all that have none."""
    layout = section.layout
    number = _round(number.scaleb(layout.scale), layout.places)
    head, _, tail = f"{number:f}".partition(".")
    tail = tail[: layout.needed] + tail[layout.needed :].rstrip("0")
    return "".join(_write_places(section, head.lstrip("0"), tail))


def _write_places(section: Section, head: str, tail: str) -> Iterator[str]:
    layout, seen = section.layout, 0
    spare = len(head) - layout.before
    for n, (kind, text) in enumerate(section.parts):
        if kind == "digit" and n < layout.point:
            last = seen + spare + 1
            digits = head[seen and last - 1 : last] if last > 0 else _EMPTY_PLACES[text]
            seen += 1
            yield _group(digits, layout.before - seen) if layout.is_grouped else digits
        elif kind == "digit":
            yield tail[seen - layout.before : seen - layout.before + 1]
            seen += 1
        elif n == layout.point:
            yield ("" if layout.before else head) + ("." if tail else "")
        elif kind in LITERALS:
            yield text


def _group(digits: str, behind: int) -> str:
    """The digits, of which the last has so many behind it, with a comma behind each thousand."""
    left = range(behind + len(digits) - 1, behind - 1, -1)
    return "".join(
        f"{digit}," if n and not n % 3 and digit != " " else digit
        for n, digit in zip(left, digits, strict=True)
    )


def _write_exponent(section: Section, number: Decimal) -> str:
    """The exponent is a multiple of the places before the point."""
    parts, layout = section.parts, section.layout
    at = next(n for n, (kind, _) in enumerate(parts) if kind == "exponent")
    width = [kind for kind, _ in parts[at:]].count("digit")
    places, step = layout.places - width, max(layout.before, 1)
    exponent = number.adjusted() // step * step if number else 0
    if _round(number.scaleb(-exponent), places).adjusted() >= step:
        exponent += step
    mantissa = f"{_round(number.scaleb(-exponent), places):f}"
    sign = "-" if exponent < 0 else parts[at][1][1:].replace("-", "")
    power = f"E{sign}{str(abs(exponent)).rjust(width, '0')}"
    first = next(n for n, (kind, _) in enumerate(parts) if kind in ("digit", "dot"))
    return f"{_literals(section, 0, first)}{mantissa}{power}{_literals(section, at)}"


def _write_fraction(section: Section, number: Decimal) -> str:
    """The nearest fraction whose denominator has so many digits, or is the one that is given."""
    parts = section.parts
    at, mask = next((n, text) for n, (kind, text) in enumerate(parts) if kind == "fraction")
    wanted = mask.partition("/")[2].strip()
    if wanted[0] in "123456789":
        over, below = round(Fraction(number) * int(wanted)), int(wanted)
    else:
        over, below = _approximate(Fraction(number), 10 ** len(wanted))
    places = [n for n, (kind, _) in enumerate(parts) if kind == "digit"]
    whole, rest = divmod(over, below) if places else (0, over)
    said = [str(whole)] if whole or (places and (not rest or parts[places[-1]][1] == "0")) else []
    said += [f"{rest}/{below}"] if rest or not places else []
    first = min([*places, at])
    return f"{_literals(section, 0, first)}{' '.join(said)}{_literals(section, at)}"


def _approximate(number: Fraction, bound: int) -> tuple[int, int]:
    """The last of its continued fractions whose denominator is below the bound.

    The programs show that one, too, and none that is nearer: of pi 22/7, and not 311/99.
    """
    before, over, below_before, below = 0, 1, 1, 0
    while True:
        whole = number.numerator // number.denominator
        if whole * below + below_before >= bound:
            return over, below
        before, over = over, whole * over + before
        below_before, below = below, whole * below + below_before
        if number == whole:
            return over, below
        number = 1 / (number - whole)


_WRITERS: dict[str, Callable[[Section, Decimal], str]] = {
    "digit": _write_digits,
    "exponent": _write_exponent,
    "fraction": _write_fraction,
    "general": _write_general,
    "text": _write_general,
}


def _literals(section: Section, first: int, end: int | None = None) -> str:
    return "".join(text for kind, text in section.parts[first:end] if kind in LITERALS)


def _round(number: Decimal, places: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _EXACT)


def _format_plain(number: Decimal) -> str:
    short = _STORED_PRECISION.plus(number)
    text = format(short, "f") if -7 < short.adjusted() < 21 else str(short)
    return text.rstrip("0").rstrip(".") if "." in text and "E" not in text else text

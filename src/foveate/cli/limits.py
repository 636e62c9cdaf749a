"""`--file-limit NAME=N` → the limits for one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from foveate.core.errors import BadOption, UnknownName
from foveate.ingest import Limits

_MAX_DIGITS = 15  # digits: more than any file has bytes


def parse_limits(told: Sequence[str]) -> Limits:
    """The limits, with these in place of the defaults. Raises `BadOption` and `UnknownName`.

    >>> parse_limits(["pages=9_000"]).pages
    9000
    """
    known = [each.name for each in fields(Limits)]
    values: dict[str, int] = {}
    for each in told:
        name, _, number = each.partition("=")
        digits = number.replace("_", "")
        if name not in known:
            raise UnknownName("limit", name, known)
        if not (digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS):
            raise BadOption(f"--file-limit {each!r}: a limit is NAME=N with a whole number N")
        values[name] = int(digits)
    return Limits(**values)

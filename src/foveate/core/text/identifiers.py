"""Identifiers that a query names: words made to name one thing, as `ORD-2041` or `10.0.4.7`.

One has digits, and letters or marks between its parts; or it is a number of five digits, or of
four that is no year. Years and their spans, dates, ordinals, quantities with a unit
and decimal numbers are none. An identifier is found as it stands, capitals apart: half of one does
not count, so that `ORD-204` is not found in `ORD-2041`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SHORTEST = 4
"""Characters of an identifier."""

_WORD = re.compile(r"\w(?:[\w.:/@#+~-]*\w)?")
_NONE = re.compile(
    r"""(?:
        (?:1[5-9]|20|21)\d\d(?:[-/\u2013.](?:\d\d){1,2}){0,2}s?   # years, spans of years, dates
      | \d{1,2}[-/.:]\d{1,2}(?:[-/.:](?:\d\d){1,2})?              # dates, times, decimal numbers
      | \d+\.\d+ | \d{1,3}
      | \d++(?:[.]\d*+)?(?:[^\W\d_]{1,3})                         # ordinals, quantities with a unit
    )\Z""",
    re.VERBOSE,
)
_FEWEST_DIGITS = 2
_LONG = 6  # characters of an identifier with one digit


def query_identifiers(query: str) -> tuple[str, ...]:
    """The identifiers that the query names, in order.

    >>> query_identifiers("Is ORD-2041, or tx_9f3a, on 10.0.4.7 since 3 May?")
    ('ORD-2041', 'tx_9f3a', '10.0.4.7')
    """
    return tuple(dict.fromkeys(word for word in _WORD.findall(query) if _is_identifier(word)))


def _is_identifier(word: str) -> bool:
    digits = sum(map(str.isdigit, word))
    if not digits or len(word) < (SHORTEST if digits >= _FEWEST_DIGITS else _LONG):
        return False
    return not _NONE.match(word)


def identifier_pattern(identifiers: Sequence[str]) -> re.Pattern[str]:
    """Finds any of them where it stands whole."""
    words = "|".join(map(re.escape, sorted(identifiers, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?<!\w[._-])(?:{words})(?!\w)(?![-_]\w|\.\d)", re.IGNORECASE)

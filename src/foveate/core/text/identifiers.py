"""Identifiers that a query names: words with a digit in them, or with an underscore.

An identifier is found as it stands, capitals apart: half of one does not count, so that `ORD-204`
is not found in `ORD-2041`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SHORTEST = 3
"""Characters of an identifier."""

_WORD = re.compile(r"\w(?:[\w.:/@#+~-]*\w)?")
_DIGIT = re.compile(r"\d")


def query_identifiers(query: str) -> tuple[str, ...]:
    """The identifiers that the query names, in order.

    >>> query_identifiers("Is ORD-2041, or tx_9f3a, on 10.0.4.7 since 3 May?")
    ('ORD-2041', 'tx_9f3a', '10.0.4.7')
    """
    return tuple(dict.fromkeys(word for word in _WORD.findall(query) if _is_identifier(word)))


def _is_identifier(word: str) -> bool:
    if not _DIGIT.search(word):
        return "_" in word.strip("_")
    return len(word) >= SHORTEST


def identifier_pattern(identifiers: Sequence[str]) -> re.Pattern[str]:
    """Finds any of them where it stands whole."""
    words = "|".join(map(re.escape, sorted(identifiers, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?<!\w[._-])(?:{words})(?!\w)(?![-_]\w|\.\d)", re.IGNORECASE)

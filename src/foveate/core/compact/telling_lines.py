"""The lines of a long result that tell most: those that say an error, and those a question names.

A log of a thousand entries has few of them, and its other values say little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foveate.core.bounded_cache import BoundedCache
from foveate.core.compact.values import extract_values
from foveate.core.seal import content_hash
from foveate.core.text.log_levels import is_severe
from foveate.core.types import Span

LONGEST_LINE = 240
"""Characters; a longer line is no entry of a log that could be quoted."""
MOST_LINES = 40
"""Lines of one text that say an error, or that the question names."""
MOST_NAMED = 24
"""Places in a text; a value in more of them, such as the day of a log, tells nothing."""
LEAST_WORDS = 3
"""In a line; fewer are a value with its key, which a ledger names without quoting it."""
_LINE = re.compile(r"[^\n]++")
_NUMBER = re.compile(r"0x[\da-fA-F]++|\d++")
_KNOWN: BoundedCache[str, tuple[Span, ...]] = BoundedCache(2_000_000)
"""An agent sends its logs again with each call; reading them again took a fifth of the time."""


def value_form(text: str) -> str:
    """What texts that differ in their numbers alone have in common.

    >>> value_form("req-95964") == value_form("req-7")
    True
    """
    return _NUMBER.sub("0", text)


def error_lines(text: str) -> tuple[Span, ...]:
    """The lines that say an error, in order: the first of each form."""
    key = content_hash(text)
    known = _KNOWN.get(key)
    if known is None:
        found: dict[str, Span] = {}
        for start, end in _short_lines(text):
            if is_severe(text[start:end]):
                found.setdefault(value_form(text[start:end]), (start, end))
        known = tuple(found.values())[:MOST_LINES]
        _KNOWN.put(key, known)
    return known


def named_lines(text: str, question: str) -> list[Span]:
    """The lines with a value of the question in them, such as an identifier or a time, in order."""
    values = [value.text for value in extract_values(question) if value.kind != "small"]
    named = [value for value in values if 0 < text.count(value) <= MOST_NAMED]
    if not named:
        return []
    pattern = re.compile("|".join(map(re.escape, named)))
    return [line for line in _short_lines(text) if pattern.search(text, *line)][:MOST_LINES]


def _short_lines(text: str) -> Iterator[Span]:
    for match in _LINE.finditer(text):
        short = match.end() - match.start() <= LONGEST_LINE
        if short and len(match[0].split(maxsplit=LEAST_WORDS)) >= LEAST_WORDS:
            yield match.span()

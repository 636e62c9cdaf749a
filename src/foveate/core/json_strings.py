"""What is between the quotation marks of a JSON string, with its escapes undone."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|(.))", re.DOTALL)
LONE = re.compile(r'\s*+"((?:[^"\\\n]++|\\.)*+)"\s*+\Z', re.DOTALL)
"""A text that is one string, as a tool gives back that writes its text as JSON."""
_CHARACTERS = dict(zip('ntrbf"\\/', '\n\t\r\b\f"\\/', strict=True))


def unescape(body: str) -> str:
    r"""The text that a string says; halves of pairs stay escaped.

    >>> unescape(r"M\u00fcller-77\tC:\\temp \ud83d\ude00 \ud83d")
    'Müller-77\tC:\\temp 😀 \\ud83d'
    """
    return _ESCAPE.sub(_character, body) if "\\" in body else body


def unescape_with_places(body: str) -> tuple[str, Callable[[int], int]]:
    """The text, and where of the body each place of the text stands."""
    starts, shifts, parts = [0], [0], list[str]()
    at = size = 0
    for match in _ESCAPE.finditer(body):
        character = _character(match)
        parts += body[at : match.start()], character
        size += match.start() - at + len(character)
        at = match.end()
        starts.append(size)
        shifts.append(at - size)
    text = "".join([*parts, body[at:]])
    return text, lambda place: place + shifts[bisect_right(starts, place) - 1]


def _character(match: re.Match[str]) -> str:
    """What one escape stands for; the escape itself where that is no character of a text."""
    first, low, letter = match.groups()
    if letter is not None:
        return _CHARACTERS.get(letter, match[0])
    code, rest = int(first, 16), match[0][6:]
    if 0xD800 <= code < 0xDC00 and low:
        return chr(0x10000 + ((code - 0xD800) << 10) + int(low, 16) - 0xDC00)
    return match[0] if 0xD800 <= code < 0xE000 else chr(code) + rest

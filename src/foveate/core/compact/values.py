"""The values in a text: identifiers, dates, numbers, paths, addresses, in reading order.

A text that is JSON gives its short strings and numbers, with the key before each; other texts, and
longer strings without their escapes, give the words that hold a digit, an underscore, a slash or an
at sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from foveate.core.bounded_cache import BoundedCache
from foveate.core.json_strings import LONE, unescape
from foveate.core.seal import content_hash

ValueKind: TypeAlias = Literal["identifier", "address", "date", "number", "time", "small"]

LONGEST_VALUE = 96
"""Characters; what is longer is a text and no value."""
_UNITS = "EUR|USD|GBP|CHF|CNY|[Ee]uros?|dollars?|pounds?|francs?|Franken|kg|km|kWh|kW|bar|°C"
_PROSE = re.compile(
    r"""(?<!\w)\w++://[^\s"'<>()\[\]{}]++
    |(?<![\w@.:/+~-])(?:
        [A-Z]{2}\d{2}(?:\ [A-Z\d]{4}){2,7}(?:\ [A-Z\d]{1,3})?(?!\w)  # a bank account
        |\d{4}(?:[ -]\d{4}){3}(?!\w)|\+\d{1,3}(?:[ -]\d{2,8}){1,5}(?!\w)  # a card, a telephone
        |(?:[$€£¥]\ ?|(?:EUR|USD|GBP|CHF|CNY)\ )\d[\d.,]*|\d[\d.,]*+\ ?(?:[€£¥%元]|(?:UNITS)(?!\w))|
        \d{1,3}(?:,\d{3})++(?:\.\d++)?(?!\w)
        |[^\W\d_]*+(?:[.:+~-]++[^\W\d_]++)*+[.:+~-]*+[\d_@/][\w.@:/+?=&%\#~-]*+)""".replace(
        "UNITS", _UNITS
    ),
    re.VERBOSE,
)
_IS_JSON = re.compile(
    r"""\s*+(?:\{\s*+["}]|\[\s*+(?:[\[{"\]]|(?:-?\d[\d.eE+-]*+|true|false|null)\s*+[,\]]))"""
)
_JSON = re.compile(r'"((?:[^"\\]++|\\.)*+)(?:"(\s*+:)?|\\?\Z)|-?\d[\d.eE+-]*+', re.DOTALL)
"""A string, up to the end of the text where nothing closes it; and a number."""
_BREAK = re.compile(r"[\n\r\t]")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ][\d:.+Z-]+)?\Z|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\Z"
)
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?:[.+Z-][\d:]*)?\Z")
_NUMBER = re.compile(r"-?[\d.,]+%?\Z")
_DIGITS = re.compile(r"0x[\da-fA-F]++|\d++")
_TRAILING = ".,:;/?=&#~+-"
_SMALL = 4
"""Characters; a shorter number says little without its key."""


class Value(NamedTuple):
    """A value as it is spelled, and the key before it where the text is JSON."""

    text: str
    kind: ValueKind
    key: str = ""


_KNOWN: BoundedCache[str, tuple[Value, ...]] = BoundedCache(8_000_000)


def extract_values(text: str) -> tuple[Value, ...]:
    """The values of a text, each once, in reading order.

    >>> [value.text for value in extract_values("Move AB12 to 2024-05-17, see /srv/log.txt.")]
    ['AB12', '2024-05-17', '/srv/log.txt']
    >>> extract_values('{"user_id": "omar_1", "paid": 1859}')[1]
    Value(text='1859', kind='number', key='paid')
    """
    key = content_hash(text)
    known = _KNOWN.get(key)
    if known is None:
        known = tuple({value.text: value for value in reversed(list(_values(text)))}.values())[::-1]
        _KNOWN.put(key, known)
    return known


def value_form(text: str) -> str:
    """What texts that differ in their numbers alone have in common.

    >>> value_form("req-95964") == value_form("req-7")
    True
    """
    return _DIGITS.sub("0", text)


def named_value(text: str, key: str = "") -> Value:
    """A value that stands alone, or behind its key."""
    return Value(text, _kind(text), key)


def _values(text: str) -> Iterator[Value]:
    if lone := LONE.match(text):
        return _values(unescape(lone[1]))
    return _json_values(text) if _IS_JSON.match(text) else _prose_values(text)


def _json_values(text: str) -> Iterator[Value]:
    """Values of strings as they read without their escapes; a string may hold JSON again."""
    key = ""
    for match in _JSON.finditer(text):
        string, colon = match[1], match[2]
        if string is None:
            yield Value(match[0], _number_kind(match[0]), key)
            continue
        string = unescape(string)
        if colon:
            key = string
        elif (
            len(string) > LONGEST_VALUE
            or _BREAK.search(string)
            or _IS_JSON.match(string)
            or LONE.match(string)
        ):
            yield from _values(string)
        elif string and _is_value(string):
            yield Value(string, _kind(string), key)


def _is_value(string: str) -> bool:
    return any(c.isdigit() or c in "_@/" for c in string)


def _prose_values(text: str) -> Iterator[Value]:
    for match in _PROSE.finditer(text):
        word = match[0].rstrip(_TRAILING)
        if 1 < len(word) <= LONGEST_VALUE or word.isdigit():
            yield Value(word, _kind(word))


def _kind(word: str) -> ValueKind:
    if _NUMBER.match(word):
        return _number_kind(word)
    if _DATE.match(word):
        return "date"
    if _TIME.match(word):
        return "time"
    if "@" in word or "://" in word or "/" in word:
        return "address"
    return "identifier"


def _number_kind(word: str) -> ValueKind:
    return "small" if len(word) < _SMALL else "number"

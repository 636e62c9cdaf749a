"""The words of a text, for comparing texts: normalised, case folded, without punctuation.

Symbols that carry meaning (+ # % & $ € = < > @ ~ ^ |) stay in the word, so C++ is not C#. Scripts
without spaces (Han, Kana, Thai, Lao, Burmese, Khmer) give overlapping pairs of characters.

Identifiers are words made to name one thing, as `ORD-2041` or `10.0.4.7`. One has digits, and
letters or marks between its parts; or it is a number of five digits, or of four that is no year.
The shortest are codes of one letter and one or two digits, as `E7` or `F-07`; a small letter has
two. Years and their spans, quarters, dates, ordinals and quantities with a unit are none. A number
of two parts, as `2.2`, is one behind a word such as "version", or if its second part has one digit
and nothing is measured by it: "What is new in 2.2?", but not "1.5 litres", "14.30 Uhr" or "12.50".
An identifier is found as it stands, capitals apart: half of one does not count, so that `ORD-204`
is not found in `ORD-2041`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

from foveate.core.text.word_arrays import Alphabet

_ALL_ASCII = bytes(range(128))
_ASCII = "!\"'()*,-./:;?[\\]_`{}"
_OTHER = (
    "\u00a1\u00ab\u00b7\u00bb\u00bf"  # Latin
    "\u037e\u0387\u055a-\u055f\u0589\u058a"  # Greek, Armenian
    "\u05be\u05c0\u05c3\u05f3\u05f4"  # Hebrew
    "\u060c\u060d\u061b\u061f\u066a-\u066d\u06d4"  # Arabic
    "\u0964\u0965\u0e5a\u0e5b\u104a-\u104f\u1361-\u1368\u17d4-\u17da"  # Indic, Thai, Ethiopic, …
    "\u200b\u2010-\u2027\u2030-\u2038\u203a-\u203e\u2045\u2046\u204a-\u205e\u2039\ufeff"
    "\u3001-\u3003\u3008-\u3011\u3014-\u301f\u3030\u30fb"  # Han
    "\uff01\uff02\uff07-\uff0a\uff0c-\uff0f\uff1a\uff1b\uff1f\uff3b-\uff3d\uff3f\uff40"
    "\uff5b\uff5d\uff5f-\uff65"
)
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1050-\u109f\u1780-\u17d3"
    "\u3005-\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_PLAIN = str.maketrans(_ASCII, " " * len(_ASCII))
_SEPARATORS = re.escape(_ASCII) + _OTHER
_OTHER_SEPARATOR = re.compile(f"[{_OTHER}]")
_MIXED_RUN = re.compile(rf"[{UNSPACED}]+|[^\s{_SEPARATORS}{UNSPACED}]+")
_HAS_UNSPACED = re.compile(rf"[{UNSPACED}]")

_COMPOUND = re.compile(r"\w(?:[\w.:/@#+~-]*\w)?")
_NO_IDENTIFIER = re.compile(
    r"""(?:
        (?:1[5-9]|20|21)\d\d(?:[-/\u2013.](?:\d\d){1,2}){0,2}s?   # years, spans of years, dates
      | \d{1,2}[-/:]\d{1,2}(?:[-/:](?:\d\d){1,2})?                # dates, times
      | \d{1,2}[.]\d{1,2}[.](?:\d\d){1,2} | \d{1,3}
      | \d++(?:[.]\d*+)?(?:[^\W\d_]{1,3})                         # ordinals, quantities with a unit
    )\Z""",
    re.VERBOSE,
)
_SHORT_CODE = re.compile(r"(?![QH][1-4]\Z)[A-Z]-?\d{1,2}|[a-z]-?\d\d")
_TWO_PARTS = re.compile(r"\d+\.\d+")
_LIKE_A_VERSION = re.compile(r"\d{1,2}\.\d")
_VERSION_WORDS = frozenset(("version", "versions", "release", "v", "python", "section", "chapter"))
_LINKS = ("and", "or", "of", "to", "und", "oder", "bis", "en", "et", "ou", "y", "o", "e")
"""Words behind a number that it does not measure."""
_MEASURES = re.compile(
    rf"(?:\s*+|\.\s++(?=[a-z]))(?!(?:{'|'.join(_LINKS)})\b)[^\W\d_]"
    r"|\s?[%\u2030\u00b0$\u20ac\u00a3]"
)
_DOTTED = re.compile(r"\d+(?:\.\d+)+")
_SHORTEST = 4  # characters of an identifier that is no such code
_SHORTEST_WITH_ONE_DIGIT = 6


def split_words(text: str) -> tuple[str, ...]:
    """The text's words in reading order, repeats included; linear in the text.

    >>> split_words("Don't re-index C++ code (yet).")
    ('don', 't', 're', 'index', 'c++', 'code', 'yet')
    >>> split_words("上下文 engine")
    ('上下', '下文', 'engine')
    """
    if text.isascii():
        return tuple(text.lower().translate(_PLAIN).split())
    text = fold(text)
    rest = beyond_ascii(text)
    if not _HAS_UNSPACED.search(rest):
        for mark in sorted({*_ASCII, *_OTHER_SEPARATOR.findall(rest)}):
            text = text.replace(mark, " ")
        return tuple(text.split())
    return tuple(word for run in _MIXED_RUN.findall(text) for word in _split_run(run))


def fold(text: str) -> str:
    """The text in small letters and composed characters."""
    if text.isascii():
        return text.lower()
    return normalize("NFC", normalize("NFC", text).casefold())


ALPHABET = Alphabet(rf"[^\s{_SEPARATORS}{UNSPACED}]", f"[{UNSPACED}]", fold)
"""The characters that `split_words` makes words of, after `fold`."""


def _split_run(run: str) -> list[str]:
    if len(run) == 1 or not _HAS_UNSPACED.match(run):
        return [run]
    return [run[i : i + 2] for i in range(len(run) - 1)]


SHINGLE_SIZE = 3


def word_runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    """The runs of three words as they follow one another, repeats included.

    >>> word_runs(("to", "be", "or", "not"))
    [('to', 'be', 'or'), ('be', 'or', 'not')]
    """
    if 0 < len(words) < SHINGLE_SIZE:
        return [tuple(words)]
    return list(zip(*(words[i:] for i in range(SHINGLE_SIZE)), strict=False))


def beyond_ascii(text: str, without: bytes = _ALL_ASCII) -> str:
    """The characters that are not ASCII, in order; `without`: the ASCII characters to leave out.

    >>> beyond_ascii("naïve “cafés”")
    'ï“é”'
    """
    data = text.encode("utf-8", "surrogatepass").translate(None, without)
    return data.decode("utf-8", "surrogatepass")


def query_identifiers(query: str) -> tuple[str, ...]:
    """The identifiers that the query names, in order.

    >>> query_identifiers("Is ORD-2041, or tx_9f3a, on 10.0.4.7 since 3 May?")
    ('ORD-2041', 'tx_9f3a', '10.0.4.7')
    """
    found: dict[str, None] = {}
    follows_version_word = False
    for match in _COMPOUND.finditer(query):
        word = match[0]
        if _TWO_PARTS.fullmatch(word):
            is_short = _LIKE_A_VERSION.fullmatch(word) and not _MEASURES.match(query, match.end())
            names_one = follows_version_word or is_short
        else:
            names_one = _is_identifier(word)
            if word not in _LINKS:
                follows_version_word = word.lower() in _VERSION_WORDS
        if names_one:
            found[word] = None
    return tuple(found)


def long_identifiers(query: str) -> tuple[str, ...]:
    """Those of four characters or more: in prose, shorter codes are words as others are.

    >>> long_identifiers("How do I print ORD-2041 on A4?")
    ('ORD-2041',)
    """
    return tuple(word for word in query_identifiers(query) if len(word) >= _SHORTEST)


def _is_identifier(word: str) -> bool:
    digits = sum(map(str.isdigit, word))
    if not digits or _NO_IDENTIFIER.match(word):
        return False
    shortest = _SHORTEST_WITH_ONE_DIGIT if digits == 1 else _SHORTEST
    return len(word) >= shortest or _SHORT_CODE.fullmatch(word) is not None


def identifier_pattern(identifiers: Sequence[str]) -> re.Pattern[str]:
    """Finds any of them where it stands whole; a number with dots with further parts, too.

    >>> identifier_pattern(["2.2"]).findall("2.2, v2.2.0 and 2.2.14; 12.2, 2.25, 1.2.2")
    ['2.2', 'v2.2.0', '2.2.14']
    """
    words = "|".join(map(_as_pattern, sorted(identifiers, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?<!\w[._-])(?:{words})(?!\w)(?![-_]\w|\.\d)", re.IGNORECASE)


def _as_pattern(identifier: str) -> str:
    escaped = re.escape(identifier)
    return rf"v?{escaped}(?:\.\d++)*+" if _DOTTED.fullmatch(identifier) else escaped

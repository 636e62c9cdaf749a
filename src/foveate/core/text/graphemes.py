"""Where a text may be cut: never inside a grapheme cluster (UAX #29), nor inside a word.

Scripts with spaces are cut at spaces only, so that `2,730` and `5%` stay whole.

Properties that `unicodedata` lacks are approximated: a few allowed places are refused, no forbidden
one is allowed.
"""

from __future__ import annotations

import re
import unicodedata

_ZWNJ, _ZWJ = "\u200c", "\u200d"
_VIRAMA = 9
_LONGEST_WORD = 200
# Letters that show together with the next character (Grapheme_Cluster_Break=Prepend).
PREPEND = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd"
    "\U000111c2\U000111c3\U0001193f\U00011941\U00011a3a\U00011a84\U00011a85\U00011a86\U00011a87"
    "\U00011a88\U00011a89\U00011d46\U00011f02\U000113d1"
)
_LEADING = re.compile("[\u1100-\u115f\ua960-\ua97c]")
_BEGINS = re.compile(f"{_LEADING.pattern}|[\uac00-\ud7a3]")
_HANGUL = re.compile("[\u1100-\u11ff\ua960-\ua97c\uac00-\ud7fb]")
# Scripts that are written without spaces: every character boundary is a place to cut.
_UNSPACED = (
    (0x0E00, 0x0FFF),  # Thai, Lao, Tibetan
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x2E80, 0x312F),  # CJK radicals and punctuation, kana, bopomofo
    (0x3190, 0xA4CF),  # CJK ideographs, Yi
    (0xF900, 0xFAFF),  # CJK compatibility
    (0xFF00, 0xFF9F),  # full and half width forms
    (0x1B000, 0x1B2FF),  # historic kana
    (0x20000, 0x3FFFF),  # CJK extensions
)


def last_grapheme_boundary(text: str, index: int, floor: int = 0) -> int:
    """Largest index from `floor` to `index` that is not inside a grapheme cluster.

    `floor` is taken as a boundary; work is linear in `index - floor`.

    >>> last_grapheme_boundary("e\u0301a", 1), last_grapheme_boundary("e\u0301a", 2)
    (0, 2)
    """
    at = min(index, len(text))
    while at > floor and not _is_grapheme_boundary(text, at, floor):
        at -= 1
    return max(at, floor)


def next_grapheme_boundary(text: str, index: int, floor: int, ceiling: int) -> int:
    """Smallest index from `index` to `ceiling` that is not inside a grapheme; else `ceiling`.

    >>> next_grapheme_boundary("e\u0301a", 1, 0, 3)
    2
    """
    for at in range(index, min(ceiling, len(text))):
        if at <= floor or _is_grapheme_boundary(text, at, floor):
            return at
    return ceiling


def last_word_boundary(text: str, index: int, floor: int = 0) -> int:
    """Largest index from `floor` to `index` that splits neither a run of characters nor a grapheme.

    Text of scripts without spaces is cut between any two characters. A run of more than 200
    characters is no word, and is cut at a grapheme boundary.

    >>> last_word_boundary("cut here", 6), last_word_boundary("\u4f60\u597d", 1)
    (4, 1)
    """
    whole = at = last_grapheme_boundary(text, index, floor)
    lowest = max(floor, whole - _LONGEST_WORD)
    while at > lowest and is_inside_run(text, at):
        at = last_grapheme_boundary(text, at - 1, floor)
    return whole if floor < lowest >= at else at


def is_inside_run(text: str, at: int) -> bool:
    """Whether both characters at this place belong to one run without a space, as `2,730` or `5%`.

    Scripts without spaces have no such runs.
    """
    if not 0 < at < len(text) or text[at - 1].isspace() or text[at].isspace():
        return False
    return not (_is_unspaced(text[at - 1]) or _is_unspaced(text[at]))


def _is_unspaced(char: str) -> bool:
    code = ord(char)
    return code >= 0x0E00 and any(low <= code <= high for low, high in _UNSPACED)


def _is_grapheme_boundary(text: str, at: int, floor: int) -> bool:
    if at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before < "\x7f" and after < "\x7f":
        return before != "\r" or after != "\n"
    if _is_extender(after):
        return _is_control(before)
    if _is_control(before) or _is_control(after):
        return True
    if before in PREPEND or (before == _ZWJ and not after.isspace()):
        return False
    if _is_flag(before) and _is_flag(after):
        return _count_flags_before(text, at, floor) % 2 == 0
    return not (_is_hangul_continuation(before, after) or _is_conjunct(text, at, floor))


def _is_control(char: str) -> bool:
    category = unicodedata.category(char)
    if category == "Cf":
        return char not in (_ZWNJ, _ZWJ) and char not in PREPEND and not _is_tag(char)
    return category in ("Cc", "Zl", "Zp")


def _is_extender(char: str) -> bool:
    return (
        unicodedata.category(char)[0] == "M"
        or char in (_ZWNJ, _ZWJ, "\uff9e", "\uff9f", "\u0e33", "\u0eb3")
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or _is_tag(char)
    )


def _is_tag(char: str) -> bool:
    return "\U000e0020" <= char <= "\U000e007f"


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _count_flags_before(text: str, at: int, floor: int) -> int:
    first = at
    while first > floor and _is_flag(text[first - 1]):
        first -= 1
    return at - first


def _is_hangul_continuation(before: str, after: str) -> bool:
    """Whether letters of Hangul make one syllable: a leading one with what follows, others behind.

    >>> _is_hangul_continuation("\u1100", "\u1161"), _is_hangul_continuation("\uac00", "\uac00")
    (True, False)
    """
    if _LEADING.match(before):
        return _HANGUL.match(after) is not None
    return bool(_HANGUL.match(before) and _HANGUL.match(after) and not _BEGINS.match(after))


def _is_conjunct(text: str, at: int, floor: int) -> bool:
    """Rule GB9c, widened to all scripts: a letter after a virama goes with what is before it."""
    if unicodedata.category(text[at]) != "Lo":
        return False
    back = at - 1
    while back >= floor and _is_extender(text[back]):
        if unicodedata.combining(text[back]) == _VIRAMA:
            return True
        back -= 1
    return False

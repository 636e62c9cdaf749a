"""The words of a text as the measures count them: letters and digits, CJK by character.

Deliberately not the words of the stages, so that a measure does not share their errors; these are
those of the published reference figures.
"""

from __future__ import annotations

import re

_CJK = "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_WORD = re.compile(rf"{_CJK}|[^\W_]+")
_SPACED_WORD = re.compile(r"[^\W_]+")
_HAS_CJK = re.compile(_CJK)
_ASCII = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum()})

# What is lower-cased by what stands beside it (sigma), or to two characters of which the second
# is no letter: then the words come first and are lower-cased one by one.
_CONTEXT_LETTERS = re.compile("[\u03a3\u0130]")


def split_words(text: str) -> list[str]:
    """Lower-cased words in reading order.

    >>> split_words("Snake_case, 3.5 bar and 猫が")
    ['snake', 'case', '3', '5', 'bar', 'and', '猫', 'が']
    """
    if text.isascii():
        return text.lower().translate(_ASCII).split()
    word = _WORD if _HAS_CJK.search(text) else _SPACED_WORD
    if _CONTEXT_LETTERS.search(text):
        return [found.lower() for found in word.findall(text)]
    return word.findall(text.lower())

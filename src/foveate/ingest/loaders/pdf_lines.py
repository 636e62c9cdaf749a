"""Joins words that the line of a PDF page cuts; hyphens of names and compounds stay."""

from __future__ import annotations

import re
from collections.abc import Iterable

_CUT = re.compile(
    r"(?<![\w-])([\w-]*+)"
    r"(?:[\ufffe\u0002](?:\r?\n)?|(?<=[^\W\d_]-)\r?\n(?=[^\W\d_A-Z])|(?<=\w)\u00ad\r?\n)(?=(\w++))"
)
"""A word and its rest, with PDFium's mark of a word cut by the line between them, or a hyphen."""
_MARK = re.compile(r"[\ufffe\u0002]\r?\n?|\u00ad\r?\n")
_WORD = re.compile(r"\w+(?:-\w+)*")
_BEFORE_COMPOUNDS = frozenset({"high", "long", "low", "non", "self", "short", "well"})
_LEAST = 4  # letters behind these, for `longer` and `selfish` are words


class Hyphens:
    """The words of a file that its lines do not cut, if it has lines that cut words."""

    def __init__(self, texts: Iterable[str]) -> None:
        known = list(texts)
        has_cuts = any(_CUT.search(text) for text in known)
        self._known = (
            {word.lower() for text in known for word in _WORD.findall(_CUT.sub(" ", text))}
            if has_cuts
            else frozenset[str]()
        )

    def join_lines(self, text: str) -> str:
        """The text with its cut words joined, by a hyphen if it belongs to them."""
        joined = _CUT.sub(lambda cut: cut[1].removesuffix("-") + self._hyphen(cut), text)
        return _MARK.sub("", joined)

    def _hyphen(self, cut: re.Match[str]) -> str:
        first, rest = cut[1].removesuffix("-"), cut[2]
        if "\u00ad" in cut[0]:
            return ""
        if f"{first}-{rest}".lower() in self._known:
            return "-"
        if f"{first}{rest}".lower() in self._known:
            return ""
        if rest[0].isdigit() or any(map(str.isdigit, first)) or not rest[0].islower():
            return "-"
        is_compound = first.lower() in _BEFORE_COMPOUNDS and len(rest) >= _LEAST
        return "-" if is_compound or "-" in first else ""

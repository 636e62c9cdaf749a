"""Datamarking: every space of an untrusted text becomes a visible mark, reversibly.

After Hines et al. 2024, arXiv 2403.14720. A space with the k backslashes after it becomes the mark
with 2k, a mark that was there already with 2k + 1.
"""

from __future__ import annotations

import re

MARK = "^"

_SPACE = re.compile(r"[ ^]\\*+")
_MARK = re.compile(r"\^\\*+")


def mark(text: str) -> str:
    r"""The text with its spaces marked.

    >>> mark("ignore all rules, x^2")
    'ignore^all^rules,^x^\\2'
    """
    return _SPACE.sub(_mark_match, text)


def unmark(text: str) -> str:
    """The opposite of `mark`, exactly."""
    return _MARK.sub(_unmark_match, text)


def _mark_match(match: re.Match[str]) -> str:
    slashes = 2 * (len(match[0]) - 1) + (match[0][0] == MARK)
    return MARK + "\\" * slashes


def _unmark_match(match: re.Match[str]) -> str:
    slashes, was_mark = divmod(len(match[0]) - 1, 2)
    return (MARK if was_mark else " ") + "\\" * slashes

"""Writes superscripts and subscripts so that figures remain what they are."""

from __future__ import annotations

import re

_RAISED = str.maketrans("0123456789+-\u2212=()n", "\u2070¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_EXPONENT = re.compile(
    r"[-+\u2212(]?(?:[0-9][-+\u2212=().,/0-9]*[a-z]?|n(?:[-+\u2212][0-9])?|[xk])?"
)
"""No word or its ending (1st, 2e), and no mark of a note (`[1]`)."""
_SUBSCRIPT = re.compile(r"[0-9]{1,3}")


def write_superscript(text: str) -> str:
    """Superscript characters if each has one, `^` before other exponents, words as they are.

    >>> [write_superscript(text) for text in ("3", "-2", "2k", "x", "in", "[1]")]
    ['³', '⁻²', '^(2k)', '^x', 'in', '[1]']
    """
    if _EXPONENT.fullmatch(text) is None:
        return text
    if all(ord(character) in _RAISED for character in text):
        return text.translate(_RAISED)
    return f"^{text}" if len(text) == 1 else f"^({text})"


def write_subscript(text: str, before: str) -> str:
    """Figures behind a figure after a `_`; others as they are, for CO2 is looked for as that.

    >>> write_subscript("2", before="101"), write_subscript("2", before="CO")
    ('_2', '2')
    """
    return f"_{text}" if before[-1:].isdigit() and _SUBSCRIPT.fullmatch(text) else text

"""Writes the runs of a paragraph so that figures remain what they are: raised, lowered, in signs.

All readers write by this: what is raised behind a figure is its power, never more digits of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from foveate.ingest.loaders.symbol_fonts import read_signs

_RAISED = str.maketrans("0123456789+-\u2212=()n", "\u2070¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_EXPONENT = re.compile(
    r"[-+\u2212(]?(?:[0-9][-+\u2212=().,/0-9]*[a-z]?|n(?:[-+\u2212][0-9])?|[xk])?"
)
"""No word or its ending (1st, 2e), and no mark of a note (`[1]`)."""
_SUBSCRIPT = re.compile(r"[0-9]{1,3}")
_FALSE = ("0", "false", "off", "none")
_LOWEST = 4  # half points; what is moved by less is set in the line


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


def write_subscript(text: str, before: str, after: str = "") -> str:
    """Figures between figures with a `_`; others as they are, for CO2 is looked for as that.

    >>> write_subscript("2", "101"), write_subscript("2", "CO"), write_subscript("10", "log", "8")
    ('_2', '2', '_10 ')
    """
    follows = after[:1].isdigit()
    if _SUBSCRIPT.fullmatch(text) and (before[-1:].isdigit() or follows):
        return f"_{text} " if follows else f"_{text}"
    return text


@dataclass(frozen=True, slots=True)
class Look:
    """How a run looks. `place`: 1 is raised, -1 lowered, 0 neither; None: it does not say so."""

    place: int | None = None
    font: str | None = None
    struck: bool | None = None
    hidden: bool | None = None

    def over(self, base: Look) -> Look:
        """This one, and what the other says where it says nothing."""
        return Look(
            base.place if self.place is None else self.place,
            base.font if self.font is None else self.font,
            base.struck if self.struck is None else self.struck,
            base.hidden if self.hidden is None else self.hidden,
        )


PLAIN = Look()


def read_look(name: str, given: Mapping[str, str]) -> Look:
    """What a property of a run in a Word or Excel file says of it."""
    value = given.get("val", "")
    if name == "vertAlign":
        return Look(place={"superscript": 1, "subscript": -1}.get(value, 0))
    if name == "position":
        return Look(place=_place(value))
    if name in ("rFonts", "rFont"):
        return Look(font=given.get("ascii", given.get("hAnsi", value)))
    if name in ("strike", "dstrike"):
        return Look(struck=value not in _FALSE)
    if name == "vanish":
        return Look(hidden=value not in _FALSE)
    return PLAIN


def _place(moved: str) -> int:
    """Whether a run that is moved by so many half points is raised, lowered or neither."""
    try:
        by = int(moved[:9])
    except ValueError:
        return 0
    return 0 if abs(by) < _LOWEST else 1 if by > 0 else -1


@dataclass(slots=True)
class Inline:
    """The text of a paragraph so far. Runs of one height are one: `10`, then `-` and `6` raised.

    `struck`: how many runs were left out for they were struck out.
    """

    struck: int = 0
    _parts: list[str] = field(default_factory=list)
    _waiting: list[str] = field(default_factory=list)  # raised or lowered
    _place: int = 0
    _is_formula: bool = False  # what came last

    def add(self, text: str, look: Look = PLAIN) -> None:
        """Add a run, unless it is hidden or struck out."""
        if not text or look.hidden:
            return
        if look.struck:
            self.struck += 1
            return
        text, place = read_signs(text, look.font or ""), look.place or 0
        if self._is_formula and text[0].isalnum() and not place:
            self._parts.append(" ")
        self._is_formula = False
        if place != self._place:
            self._end_run("" if place > 0 else text)
            self._place = place
        (self._waiting if place else self._parts).append(text)

    def add_formula(self, text: str) -> None:
        """Add a formula, apart from a figure or a word beside it."""
        self._end_run("")
        self._place = 0
        if text and self._parts and self._parts[-1][-1:].isalnum() and text[0].isalnum():
            self._parts.append(" ")
        self._parts += [text] if text else []
        self._is_formula = bool(text)

    def text(self) -> str:
        """All of it."""
        self._end_run("")
        return "".join(self._parts)

    def _end_run(self, after: str) -> None:
        text, self._waiting = "".join(self._waiting), []
        bare = text.strip()
        if not bare:
            self._parts += [text] if text else []
            return
        ahead, _, behind = text.partition(bare)
        before = ahead or (self._parts[-1] if self._parts else "")
        if self._place > 0:
            bare = write_superscript(bare)
        else:
            bare = write_subscript(bare, before, behind or after)
        self._parts.append(f"{ahead}{bare}{behind}")

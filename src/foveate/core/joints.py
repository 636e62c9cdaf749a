"""Where counts add up: a finished text in units, each of which can be counted by itself.

Token counts do not add up over concatenation, but at some meetings of characters every vocabulary
of a family splits a text, whatever stands around: the tokenizer says at which (`breaks`, see
`contracts`). A finished text is bodies and the glue between them (separators, headers). The line
breaks that glue begins with go with the body before it, because a full stop and the line break
after it can be one token; the rest of the glue mostly begins and ends at such a meeting.

Rules: the units, put together, are the text; a unit is counted under the body's own hash where it
is that body and line breaks; what meets where counts do not add up is one unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from foveate.core.text.profile import Written

Breaks: TypeAlias = Callable[[str, str], bool]


class Unit(NamedTuple):
    """A run of the finished text: `text` with `tail` behind it; `key` is that of `text`."""

    text: str
    tail: str
    key: str


def units(glue: Sequence[str], bodies: Sequence[Written], breaks: Breaks) -> list[Unit]:
    r"""The text `glue[0] bodies[0] glue[1] … bodies[-1] glue[-1]` in units whose counts add up.

    >>> bodies = [Written("One.", "h1"), Written("Two.", "h2")]
    >>> at_lines = lambda left, right: left == "\n" and not right.isspace()
    >>> [*map(tuple, units(["[1]\n", "\n\n[2]\n", ""], bodies, at_lines))]
    [('[1]\n', '', ''), ('One.', '\n\n', 'h1'), ('[2]\n', '', ''), ('Two.', '', 'h2')]
    """
    found: list[Unit] = []
    end = ""
    rest = glue[0]
    for (text, key), following in zip(bodies, glue[1:], strict=True):
        after = following.lstrip("\n")
        tail = following[: len(following) - len(after)]
        body = Unit(text, tail, key) if text else Unit(tail, "", "")
        for unit in (Unit(rest, "", ""), body):
            if not unit.text:
                continue
            if found and not breaks(end, unit.text[0]):
                unit = _merged(found.pop(), unit)  # noqa: PLW2901
            found.append(unit)
            end = (unit.tail or unit.text)[-1]
        rest = after
    if rest:
        last = Unit(rest, "", "")
        found.append(last if not found or breaks(end, rest[0]) else _merged(found.pop(), last))
    return found


def _merged(one: Unit, other: Unit) -> Unit:
    return Unit(one.text + one.tail + other.text, other.tail, "")


def last_word(text: str, breaks: Breaks) -> int:
    """Where the last word begins, its space before it, if counts add up there; else 0.

    >>> last_word("the end.", lambda left, right: left.isalnum() and right == " ")
    3
    """
    at = text.rfind(" ")
    return at if at > 0 and breaks(text[at - 1], " ") else 0

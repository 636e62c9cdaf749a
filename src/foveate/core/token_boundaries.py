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

from foveate.core.text.profile import HashedText

BoundaryTest: TypeAlias = Callable[[str, str], bool]


class TextUnit(NamedTuple):
    """A run of the finished text: `text` with `tail` behind it; `key` is that of `text`."""

    text: str
    tail: str
    key: str


def split_units(
    glue: Sequence[str], bodies: Sequence[HashedText], breaks: BoundaryTest
) -> list[TextUnit]:
    r"""The text `glue[0] bodies[0] glue[1] … bodies[-1] glue[-1]` in units whose counts add up.

    >>> bodies = [HashedText("One.", "h1"), HashedText("Two.", "h2")]
    >>> at_lines = lambda left, right: left == "\n" and not right.isspace()
    >>> [*map(tuple, split_units(["[1]\n", "\n\n[2]\n", ""], bodies, at_lines))]
    [('[1]\n', '', ''), ('One.', '\n\n', 'h1'), ('[2]\n', '', ''), ('Two.', '', 'h2')]
    """
    found: list[TextUnit] = []
    end = ""
    rest = glue[0]
    for (text, key), following in zip(bodies, glue[1:], strict=True):
        after = following.lstrip("\n")
        tail = following[: len(following) - len(after)]
        body = TextUnit(text, tail, key) if text else TextUnit(tail, "", "")
        for unit in (TextUnit(rest, "", ""), body):
            if not unit.text:
                continue
            if found and not breaks(end, unit.text[0]):
                unit = _merge_units(found.pop(), unit)  # noqa: PLW2901
            found.append(unit)
            end = (unit.tail or unit.text)[-1]
        rest = after
    if rest:
        last = TextUnit(rest, "", "")
        found.append(last if not found or breaks(end, rest[0]) else _merge_units(found.pop(), last))
    return found


def _merge_units(one: TextUnit, other: TextUnit) -> TextUnit:
    return TextUnit(one.text + one.tail + other.text, other.tail, "")


def last_word_start(text: str, breaks: BoundaryTest) -> int:
    """Where the last word begins, its space before it, if counts add up there; else 0.

    >>> last_word_start("the end.", lambda left, right: left.isalnum() and right == " ")
    3
    """
    at = text.rfind(" ")
    return at if at > 0 and breaks(text[at - 1], " ") else 0

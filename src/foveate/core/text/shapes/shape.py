"""A shape: a stretch of a text that is made of records, rows, lines or turns.

A reader adds units by where they start (`ShapeBuilder.add`). A unit ends where the next one starts,
or where the headings or comments above that one do, without the white space between, so every
character of the stretch is in exactly one unit and every unit is verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from foveate.core.types import Span

CHARACTERS = "characters"
"""The end of the name of what is counted by its characters."""


class Counted(NamedTuple):
    """What is counted where text is left out: its plural name, and where each one stands."""

    noun: str
    spans: tuple[Span, ...]


class Shape(NamedTuple):
    """`text[start:end]`, read as units.

    `leans[i]`: the unit that i is never shown without, itself where it stands alone. `head`: the
    unit that what goes on in a later part of the same text needs too, -1 if there is none;
    `columns`: of a table, or the indentation of what goes on, else 0. `broken`: it ended in the
    middle of something. `inner`: what its strings hold, as parts of its own units.
    """

    name: str
    start: int
    end: int
    spans: tuple[Span, ...]
    leans: tuple[int, ...]
    counted: tuple[Counted, ...] = ()
    head: int = -1
    columns: int = 0
    broken: bool = False
    inner: tuple[Shape, ...] = ()

    @property
    def is_table(self) -> bool:
        """Whether it has rows with columns."""
        return self.name.startswith(TABLES)

    def without_names(self) -> Shape:
        """The table as one that goes on: what looks like its row of names is a row as others."""
        if self.head or not self.is_table or not self.counted:
            return self
        leans = tuple([lean or unit for unit, lean in enumerate(self.leans)])
        rows = self.counted[0]
        counted = rows._replace(spans=(self.spans[0], *rows.spans)), *self.counted[1:]
        return self._replace(head=-1, leans=leans, counted=counted)


_MARKED = re.compile(r"#{1,6}[ \t]")
_TORN_TAG = re.compile(r"\s*+<[^<>]*+\Z")
_WITH_HEADINGS = ("code", "dialogue", "indented", "log")
"""Shapes in which headings or comments stand between units."""
TABLES = ("csv", "html table", "markdown table", "rows", "tsv")


class ReadResult(NamedTuple):
    """What a reader found at a place, and up to where it looked, which is beyond that place."""

    shape: Shape | None
    stop: int


@dataclass(slots=True)
class ShapeBuilder:
    """The units found so far, by their starts, in order."""

    starts: list[int] = field(default_factory=list)
    leans: list[int] = field(default_factory=list)
    counted: list[tuple[str, list[Span]]] = field(default_factory=list)

    def add(self, start: int, lean: int = -1) -> int:
        """A unit from here on; `lean`: the unit it leans on. Its number."""
        if self.starts and self.starts[-1] >= start:
            return len(self.starts) - 1
        self.starts.append(start)
        self.leans.append(len(self.leans) if lean < 0 else lean)
        return len(self.starts) - 1

    def shape(
        self,
        text: str,
        name: str,
        end: int,
        *,
        head: int = -1,
        columns: int = 0,
        broken: bool = False,
    ) -> Shape:
        """The units as a shape that ends there."""
        starts = [line_start(text, at) for at in self.starts]
        for n in range(len(starts) - 1 if name in _WITH_HEADINGS else 0):
            is_apart = name in ("dialogue", "log")  # which may hold lines like comments
            starts[n + 1] = _above_headings(text, starts[n], starts[n + 1], is_apart=is_apart)
        spans = spans_from(text, starts, end)
        last = spans[-1][1]
        counted = tuple(
            Counted(noun, tuple([(a, min(b, last)) for a, b in found if a < last]))
            for noun, found in self.counted
            if found
        )
        return Shape(
            name, starts[0], last, spans, tuple(self.leans), counted, head, columns, broken
        )


def spans_from(text: str, starts: Sequence[int], end: int) -> tuple[Span, ...]:
    """Each from its start to the next, the last to the end, without the white space between."""
    return tuple([(a, a + len(text[a:b].rstrip())) for a, b in pairwise([*starts, end])])


def line_start(text: str, at: int) -> int:
    """Where the line begins whose indentation ends here; the place itself inside of a line."""
    start = at
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    return start if start == 0 or text[start - 1] == "\n" else at


def _above_headings(text: str, start: int, end: int, *, is_apart: bool) -> int:
    """Where the headings begin at the end of the unit from `start` on; its end if there are none.

    What a heading, or a comment that begins its line, is about is below it. `is_apart`: a heading
    has an empty line before it.
    """
    if text.find("\n#", start, end) < 0 or text[end - 1] != "\n":
        return end
    at = above = end
    lines = text[start:end].splitlines(keepends=True)
    for before, line in reversed(list(pairwise(lines))):
        above -= len(line)
        if not _MARKED.match(line):
            if line.strip():
                break
        elif not (is_apart and before.strip()):
            at = above
    return at


def line_end(text: str, at: int) -> int:
    """Where the line that holds this place ends, its line break left out."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def torn_tag_end(text: str, at: int) -> int:
    """The end of the text if it was cut inside of the tag here, else the place itself."""
    return len(text) if _TORN_TAG.match(text, at) else at


def repair_first(indents: list[int]) -> None:
    """The indentation of the first line, where the text was cut behind it.

    It is deeper than it looks if a later line is less deep than the second, and deeper than it.
    """
    if len(indents) > 2 and indents[0] < (least := min(indents[1:])) < indents[1]:
        indents[0] = least


def indent_of(line: str) -> int:
    """Columns before the first character of the line."""
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))

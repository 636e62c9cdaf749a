"""Units that say nothing by themselves: what names or opens a table, list or record, or closes it.

These are the title of a table and the names of its columns, the keys, brackets and tags that lead
to records, headings and sentences with a colon right above them, and headings with which a text
ends. `pack` shows them only with something that stands in them (SPEC J3, U2).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from foveate.core.text.shapes.blob import NAME as BLOB
from foveate.core.text.shapes.shape import Shape
from foveate.core.text.units import Units

LONGEST = 200
"""Characters; what is longer says something."""
MOST_HEADINGS = 2
"""At the end of a text; a title and a section's name, say."""
_EMPTY = re.compile(
    r"""\s*+(?:
        [\s!-/:-@\[-`{-~]++                         # brackets, the rule of a table
      | (?:[{\[,\s]|"[^"\n]*+"\s*+:(?=\s*+[{\["]))++"?+  # keys that open something
      | (?:\s*+<(?:\?[^<>]*+|/[^\s<>=/]++\s*+)>)*+    # tags that end, and then
        (?:\s*+<!?[^\s<>=/]++\s*+>)*+               # such as begin, without attributes
    )\s*+\Z""",
    re.VERBOSE,
)
"""Brackets, keys that open something, tags and marks alone."""
_OPENER = re.compile(r"[^\n]*+(?<=:)\s*+\Z")
"""A key whose value is below it."""


def structural_units(
    text: str, shapes: Sequence[Shape], units: Units, named: Sequence[bool]
) -> set[int]:
    """The places of the units that say nothing by themselves.

    `named`: by unit, whether the question names it; then a line above a shape is an answer.
    """
    found = {
        n
        for n, (a, b) in enumerate(units.spans)
        if not text[a].isalpha() and b - a <= LONGEST and _EMPTY.match(text[a:b])
    }
    for shape in shapes:
        first = bisect_left(units.spans, shape.spans[0])
        if shape.name == BLOB:
            found.add(first)
            continue
        found.update(first + unit for unit in _openers(text, shape))
        above = first - 1
        while first in found and above >= 0 and units.leans[above] > above:
            if not named[above]:
                found.add(above)
            above -= 1
    return found | _last_headings(units)


def _last_headings(units: Units) -> set[int]:
    """The headings at the end of the text, of which nothing is below; more are an outline."""
    headings = {n for n in units.headings if units.spans[n][1] - units.spans[n][0] <= LONGEST}
    last = len(units.spans)
    while last - 1 in headings:
        last -= 1
    found = range(last, len(units.spans))
    return set(found) if len(found) <= MOST_HEADINGS else set()


def _openers(text: str, shape: Shape) -> Iterator[int]:
    """The names of a table's columns and its title; keys that others stand below."""
    if shape.is_table:
        yield from range(shape.head + 1)
    elif shape.name == "indented":
        for unit in sorted({lean for n, lean in enumerate(shape.leans) if lean != n}):
            if _OPENER.match(text[slice(*shape.spans[unit])]):
                yield unit

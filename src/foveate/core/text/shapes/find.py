"""Finds stretches of a text that have a shape: records, tables, logs, dialogue, code.

Rules: shapes are detected, never trusted, and what does not parse is prose. A line is looked at
once to see what it may open; a reader says up to where it has looked, and nothing is read twice by
it. Readers are tried in one order, and the first that finds its shape has it; those that a recipe
brings come before the built-in ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from foveate.core.text.shapes import code, entries, indented, json, markup, rows
from foveate.core.text.shapes.blob import find_blobs
from foveate.core.text.shapes.shape import (
    Counted,
    ReadResult,
    Shape,
    ShapeReader,
    check_shape,
    line_end,
)

__all__ = ["Counted", "Shape", "find_shapes"]

SHORTEST = 40
"""Characters; a shorter text is shown whole."""
LONGEST_FENCE = 1_600
"""Characters; a longer piece of code between fences is read as code."""
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})[^`\n]*")


class _BuiltIn(NamedTuple):
    """What a line begins with that may open a shape, and what reads it from there.

    `places`: where in `text[at:end]` it may open. `needle`: it may do so in the middle of a line
    that has this; such a reader has no `opens`.
    """

    read: Callable[[str, int], ReadResult]
    places: Callable[[str, int, int], Iterable[int]]
    opens: str = ""
    needle: str = ""


def _at_line(opens: str, read: Callable[[str, int], ReadResult]) -> _BuiltIn:
    match = re.compile(opens).match
    return _BuiltIn(read, lambda text, at, _: (at,) if match(text, at) else (), opens)


def _in_line(
    needle: str, opens: re.Pattern[str], read: Callable[[str, int], ReadResult]
) -> _BuiltIn:
    def places(text: str, at: int, end: int) -> Iterable[int]:
        return (match.start() for match in opens.finditer(text, at, end))

    return _BuiltIn(read, places, needle=needle)


READERS = (
    _at_line(r"[ \t]*+[{\[\"]", json.read_json),
    _at_line(rows.OPENS_PIPES, rows.read_pipe_table),
    _at_line(markup.XML, markup.read_xml),
    _in_line("<", markup.TABLE, markup.read_html_table),
    _at_line(entries.TRACE, entries.read_trace),
    _at_line(entries.TURN, entries.read_dialogue),
    _at_line(entries.ENTRY, entries.read_log),
    _at_line(indented.OPENS, indented.read_indented),
    _in_line("{", json.INLINE, json.read_inline),
    _at_line(code.OPENS, code.read_code),
    _at_line(rows.OPENS, rows.read_delimited),
    _at_line(rows.OPENS_COLUMN, rows.read_column),
)
_TABLES = tuple(one for one in READERS if one.read is markup.read_html_table)
_AT_LINES = [n for n, one in enumerate(READERS) if not one.needle]
_MAY_OPEN = re.compile(
    "|".join(f"({re.sub(r'[?]P<who>', '?:', READERS[n].opens)})" for n in _AT_LINES)
)
"""A group for each reader of lines; the first that matches says whom to ask first."""
ASKED = [
    tuple(one for n, one in enumerate(READERS) if n >= first or one.needle)
    for first in (len(READERS), *_AT_LINES)
]
"""The readers that a line is put to, by the group that matches; 0: it has a needle alone."""
_NEEDLES = tuple(one.needle for one in READERS if one.needle)


def find_shapes(text: str, readers: Sequence[ShapeReader] = ()) -> tuple[Shape, ...]:
    """All shapes of the text in order, none inside another; empty for prose.

    `readers`: those of other packages.
    """
    if len(text) < SHORTEST:
        return ()
    shapes = tuple(_each_shape(text, readers))
    blobs = find_blobs(text)
    return _merge_blobs(shapes, blobs) if blobs else shapes


def _merge_blobs(shapes: Iterable[Shape], blobs: Sequence[Shape]) -> tuple[Shape, ...]:
    """Both in order: a blob inside of a shape is a part of it, and its lines are no shape."""
    kept = [
        shape
        for shape in shapes
        if not any(
            b.start <= shape.start < b.end or shape.start < b.start < shape.end < b.end
            for b in blobs
        )
    ]
    apart = [b for b in blobs if not any(s.start <= b.start < s.end for s in kept)]
    return tuple(sorted([*kept, *apart], key=attrgetter("start")))


def _each_shape(text: str, readers: Sequence[ShapeReader] = ()) -> Iterator[Shape]:
    at, size, last, end = 0, len(text), 0, -1
    # up to where each reader has looked; with few colons nobody speaks
    stops: dict[object, int] = {
        entries.read_dialogue: 0 if text.count(":") >= entries.FEWEST_TURNS else size
    }
    resumed = json.resume_json(text) if "{" in text else None
    if resumed is not None:
        yield resumed
        at = last = line_end(text, resumed.end) + 1
    needles = tuple([one for one in _NEEDLES if one in text])
    while at < size:
        in_line, end = at < end, end if at < end else line_end(text, at)
        found, after = None, end + 1
        if in_line:  # behind a table, there may be others
            found = _read_line(text, at, end, _TABLES, stops)
        elif readers and (found := _read_own(text, at, end, readers, stops)):
            pass
        elif text[at] in "`~ " and (fence := _read_fence(text, at, end)):
            found, after = fence
        elif (opens := _MAY_OPEN.match(text, at)) or any(
            text.find(needle, at, end) >= 0 for needle in needles
        ):
            asked = ASKED[opens.lastindex or 0] if opens else ASKED[0]
            found = _read_line(text, at, end, asked, stops) if end > at else None
            if found and found.name == "code" and not last and _is_inside(text, found.start):
                found = code.read_rest_of_code(text)
        if found is not None:
            yield found
            last = found.end
            after = last if found.name == "html table" else line_end(text, last) + 1
        at = after


def _read_line(
    text: str, at: int, end: int, readers: Iterable[_BuiltIn], stops: dict[object, int]
) -> Shape | None:
    """What the first reader finds in the line; a place that one has passed is left out."""
    for one in readers:
        for place in one.places(text, at, end):
            if place >= stops.get(one.read, 0):
                found, stops[one.read] = one.read(text, place)
                if found is not None:
                    return found
    return None


def _read_own(
    text: str, at: int, end: int, readers: Iterable[ShapeReader], stops: dict[object, int]
) -> Shape | None:
    """What the first of the recipe's readers finds that opens with the line."""
    for one in readers:
        if at >= stops.get(repr(one), 0) and one.opens(text[at:end]):
            found, stops[repr(one)] = one.read(text, at)
            if found is not None:
                return check_shape(found, at, len(text))
    return None


def _is_inside(text: str, start: int) -> bool:
    """Whether the text begins inside of a block of code that goes on here: all is indented."""
    lines = [*text[:start].splitlines()[1:], text[start:]]
    return text[:start].strip() != "" and all(not line or line[0] in " \t" for line in lines)


def _read_fence(text: str, at: int, end: int) -> tuple[Shape | None, int] | None:
    """What is between fences, if it is one shape, with its fences; and where the text goes on."""
    opening = _FENCE.fullmatch(text, at, end)
    if opening is None:
        return None
    closing = re.compile(rf"^[ ]{{0,3}}{re.escape(opening[1])}[ \t]*$", re.MULTILINE)
    close = closing.search(text, end)
    inner_end, after = (close.start(), close.end()) if close else (len(text), len(text))
    inner, by = text[end + 1 : inner_end], end + 1
    found = next(_each_shape(inner), None) if inner.strip() else None
    if (
        found is None
        or f"{inner[: found.start]}{inner[found.end :]}".strip()
        or "```" in inner
        or (found.name == "code" and len(inner) <= LONGEST_FENCE)
    ):
        return None, after + 1
    spans = [(a + by, b + by) for a, b in found.spans]
    spans[0], spans[-1] = (at, spans[0][1]), (spans[-1][0] if len(spans) > 1 else at, after)
    counted = tuple(
        [Counted(noun, tuple([(a + by, b + by) for a, b in own])) for noun, own in found.counted]
    )
    return found._replace(start=at, end=after, spans=tuple(spans), counted=counted), after + 1

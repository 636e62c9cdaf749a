"""Finds stretches of a text that have a shape: records, tables, logs, dialogue, code.

Rules: shapes are detected, never trusted, and what does not parse is prose. A line is looked at
once to see what it may open; a reader says up to where it has looked, and nothing is read twice by
it. Readers are tried in one order, and the first that finds its shape has it.
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
    line_end,
)

SHORTEST = 40
"""Characters; a shorter text is shown whole."""
LONGEST_FENCE = 1_600
"""Characters; a longer piece of code between fences is read as code."""
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})[^`\n]*")


class _BuiltIn(NamedTuple):
    """What a line begins with that may open a shape, and what reads it from there.

    `inside`: the shape may open in the middle of the line, and another one behind its end.
    """

    opens: re.Pattern[str]
    read: Callable[[str, int], ReadResult]
    inside: bool = False


READERS = (
    _BuiltIn(re.compile(r"[ \t]*+[{\[\"]"), json.read_json),
    _BuiltIn(re.compile(rows.OPENS_PIPES), rows.read_pipe_table),
    _BuiltIn(re.compile(markup.XML), markup.read_xml),
    _BuiltIn(re.compile(r"[^\n<]*+<"), markup.read_html_line, inside=True),
    _BuiltIn(re.compile(entries.TRACE), entries.read_trace),
    _BuiltIn(re.compile(entries.TURN), entries.read_dialogue),
    _BuiltIn(re.compile(entries.ENTRY), entries.read_log),
    _BuiltIn(re.compile(indented.OPENS), indented.read_indented),
    _BuiltIn(re.compile(code.OPENS), code.read_code),
    _BuiltIn(re.compile(rows.OPENS), rows.read_delimited),
    _BuiltIn(re.compile(rows.OPENS_COLUMN), rows.read_column),
)
_MAY_OPEN = re.compile(
    "|".join(f"({one.opens.pattern.replace('?P<who>', '?:')})" for one in READERS)
)
"""A group for each reader; the first that matches says whom to ask first."""


def find_shapes(text: str) -> tuple[Shape, ...]:
    """All shapes of the text in order, none inside another; empty for prose."""
    if len(text) < SHORTEST:
        return ()
    shapes = tuple(_each_shape(text))
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


def _each_shape(text: str) -> Iterator[Shape]:
    at, size, last, end = 0, len(text), 0, -1
    # up to where each reader has looked; with few colons nobody speaks
    stops: dict[object, int] = {
        entries.read_dialogue: 0 if text.count(":") >= entries.FEWEST_TURNS else size
    }
    resumed = json.resume_json(text) if "{" in text else None
    if resumed is not None:
        yield resumed
        at = last = line_end(text, resumed.end) + 1
    while at < size:
        in_line, end = at < end, end if at < end else line_end(text, at)
        found, after = None, end + 1
        if in_line:  # behind a table, there may be others
            found = _read_line(text, at, end, [one for one in READERS if one.inside], stops)
        elif text[at] in "`~ " and (fence := _read_fence(text, at, end)):
            found, after = fence
        elif opens := _MAY_OPEN.match(text, at):
            found = _read_line(text, at, end, READERS[(opens.lastindex or 1) - 1 :], stops)
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
    """What the first reader finds from the line on; what one has passed is not read again."""
    for one in readers:
        start = max(at, stops.get(one.read, 0))
        if (start == at or (one.inside and start < end)) and one.opens.match(text, start):
            found, stops[one.read] = one.read(text, start)
            if found is not None:
                return found
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

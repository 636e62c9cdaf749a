"""JSON's long strings read through: the log, table or page in one has units as if it stood alone.

What a command printed, a page that was fetched, JSON in JSON. Spans stay those of the text as it
is, escapes included; each piece leans on the one that opens its string, which has its key.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from foveate.core.json_strings import LONE, unescape, unescape_with_places
from foveate.core.text.shapes.find import SHORTEST, find_shapes
from foveate.core.text.shapes.shape import Counted, Shape, spans_from
from foveate.core.text.units import units_of
from foveate.core.types import Span

LONGEST_LINES, LONGEST_STRING = 400, 1_200
"""Characters; a longer string with line breaks, or without, is read through."""
_STRING = re.compile(
    r""""(?P<body>(?:[^"\\]++|\\.)*+)(?:"|\\?\Z)|'(?P<single>(?:[^'\\\n]++|\\.)*+)'""", re.DOTALL
)
_WORD = re.compile(r"\w")


def read_shapes(text: str) -> tuple[Shape, ...]:
    """The shapes of the text, as `find_shapes` gives them, with JSON's strings read through."""
    if len(text) > LONGEST_LINES and LONE.match(text):
        whole = (text.index('"'), len(text.rstrip()))
        return (_open_strings(text, Shape("json", *whole, (whole,), (0,))),)
    return tuple([_open_strings(text, shape) for shape in find_shapes(text)])


def nested_shapes(shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """The shapes, each with those in its strings behind it."""
    return tuple([one for shape in shapes for one in (shape, *shape.inner)])


def plain_strings(text: str) -> str:
    r"""The text with the strings of its JSON as they read, for their quotes and backslashes.

    >>> print(plain_strings(r'{"name": "M\u00fcller", "stdout": "one\ntwo: \"C:\\new\""}'))
    {"name": "Müller", "stdout": "one
    two: \"C:\\new\""}
    """
    lone = LONE.match(text)
    return _plain(unescape(lone[1]) if lone else text) if "\\" in text else text


def _plain(text: str) -> str:
    if "\\" not in text or len(text) < SHORTEST:
        return text
    parts, at = list[str](), 0
    for shape in find_shapes(text):
        if shape.name.startswith("json"):
            parts += text[at : shape.start], _STRING.sub(_spell, text[shape.start : shape.end])
            at = shape.end
    return "".join([*parts, text[at:]])


def _spell(match: re.Match[str]) -> str:
    body = match[match.lastgroup or 0]
    if "\\" not in body:
        return match[0]
    said = _plain(unescape(body)).replace("\\", "\\\\").replace(match[0][0], "\\" + match[0][0])
    return match[0][0] + said + match[0][1 + len(body) :]


def _open_strings(text: str, shape: Shape) -> Shape:
    """The shape with a unit for each unit of its long strings."""
    if not shape.name.startswith("json") or shape.end - shape.start <= LONGEST_LINES:
        return shape
    starts, leans, places = list[int](), list[int](), list[int]()
    found: list[tuple[int, Shape, list[Counted]]] = []
    for (a, b), lean in zip(shape.spans, shape.leans, strict=True):
        head = len(starts)
        places.append(head)
        starts.append(a)
        leans.append(head if lean == len(places) - 1 else places[lean])
        opened = -1
        for start, end in _long_strings(text, a, b):
            plain, place = unescape_with_places(text[start:end])
            shapes = read_shapes(plain)
            units = units_of(plain, "en", shapes)
            if len(units.spans) < 2:
                continue
            if opened >= 0:  # what is between two strings: the key of the second
                starts.append(opened)
                leans.append(head)
            opened, opener, first = end, len(starts) - 1, len(starts)
            starts += [start + place(one) for one, _ in units.spans]
            leans += [opener if n == to else first + to for n, to in enumerate(units.leans)]
            for inner in nested_shapes(shapes):
                counted = [
                    Counted(noun, tuple([(start + place(x), start + place(y)) for x, y in spans]))
                    for noun, spans in inner.counted
                ]
                found.append((first + bisect_left(units.spans, inner.spans[0]), inner, counted))
        if opened >= 0 and _WORD.search(text, opened, b):
            starts.append(opened)
            leans.append(head)
    if len(starts) == len(shape.spans):
        return shape
    spans = spans_from(text, starts, shape.end)
    nested = tuple(
        one._replace(
            start=spans[first][0],
            end=spans[first + len(one.spans) - 1][1],
            spans=spans[first : first + len(one.spans)],
            counted=tuple(counted),
            inner=(),
        )
        for first, one, counted in found
    )
    return shape._replace(
        spans=spans,
        leans=tuple(leans),
        counted=(*shape.counted, *(one for each in nested for one in each.counted)),
        head=places[shape.head] if shape.head >= 0 else -1,
        inner=nested,
    )


def _long_strings(text: str, start: int, end: int) -> Iterator[Span]:
    """Where the long strings of a unit begin and end, their quotation marks left out."""
    if end - start <= LONGEST_LINES:
        return
    for match in _STRING.finditer(text, start, end):
        a, b = match.span(match.lastgroup or 0)
        has_lines = text.find("\n", a, b) >= 0 or text.find("\\n", a, b) >= 0
        if b - a > (LONGEST_LINES if has_lines else LONGEST_STRING):
            yield a, b

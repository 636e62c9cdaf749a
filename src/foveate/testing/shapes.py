"""The law suite for readers of shapes: `check_shapes(text)`.

The laws of `foveate.core.text.shapes.strings.read_shapes`, and of `units_of`, which rests on it

1. *Verbatim*: shapes are in order and apart, their units too, and all lie inside of the text. No
   unit is white space alone.
2. *Complete*: every character of a shape that is not white space is in exactly one unit.
3. *Leaning*: a unit leans on one of the same shape, and no chain of them comes back.
4. *Counted*: what is counted is in order and apart, inside of the shape.
5. *Pure*: the same text gives the same shapes.
6. *Marked*: units left out are marked, and the numbers in the marks are those of what is left out.

`check_linear(make, n)` holds a reader to time in proportion to the text.
"""

from __future__ import annotations

import gc
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

from foveate.core.text.shapes.gaps import PATTERN, amount, join_spans, spans_within
from foveate.core.text.shapes.shape import Shape
from foveate.core.text.shapes.strings import read_shapes
from foveate.core.text.units import units_of

LINE_ENDS = (" \n", "\t\n", "\r\n", "\u2028\n")
"""Ends of lines that have white space before the line break; the laws hold with each."""
_NUMBERS = re.compile(r"(\d+)(?: of \d+)? ((?:\w+ )?[a-z]+)")
_STEEPEST = 3.0  # times as slow per character at four times the length, and still linear


def check_shapes(text: str) -> tuple[Shape, ...]:
    """The shapes of the text; raises `AssertionError` with the law that is broken."""
    shapes = read_shapes(text)
    assert read_shapes(text) == shapes, "law 5: two readings of one text differ"
    _check_spans([(one.start, one.end) for one in shapes], 0, len(text), "law 1: shapes")
    for one in shapes:
        _check_spans(one.spans, one.start, one.end, f"law 1: units of {one.name}")
        _check_complete(text, one)
        _check_leans(one)
        for counted in one.counted:
            _check_spans(counted.spans, one.start, one.end, f"law 4: {counted.noun}")
    units = units_of(text, shapes=shapes)
    _check_spans(units.spans, 0, len(text), "law 1: units of the text")
    assert all(text[a:b].strip() for a, b in units.spans), "law 1: a unit is white space alone"
    covered = "".join(text[a:b] for a, b in units.spans)
    assert "".join(covered.split()) == "".join(text.split()), "law 2: units leave something out"
    _check_marks(text, shapes)
    return shapes


def check_line_ends(text: str) -> None:
    """Hold the text to the laws with each of `LINE_ENDS` in the place of its line breaks."""
    for end in LINE_ENDS:
        check_shapes(f"{text}\n".replace("\n", end))
        check_shapes(text.replace("\n", end) + end.removesuffix("\n"))


def check_linear(
    make: Callable[[int], str], size: int, read: Callable[[str], object] = read_shapes
) -> None:
    """Hold a reader of texts to linear time on `make(n)`, a text whose length grows with n."""
    short, long = make(size), make(4 * size)
    few = min(_seconds(short, read) for _ in range(2))
    most = _STEEPEST * 4 * max(few, 0.005)
    for _ in range(3):  # another process may have been in the way once
        many = _seconds(long, read)
        if many < most:
            return
    raise AssertionError(f"{few:.4f} s, and {many:.4f} s for 4 times it")


def _seconds(text: str, read: Callable[[str], object]) -> float:
    collecting = gc.isenabled()
    gc.disable()  # what else the process holds is no matter
    try:
        start = time.process_time()
        read(text)
        return time.process_time() - start
    finally:
        if collecting:
            gc.enable()


def _check_spans(spans: Sequence[tuple[int, int]], start: int, end: int, what: str) -> None:
    assert all(a < b for a, b in spans), f"{what}: one is empty"
    assert all(one[1] <= other[0] for one, other in pairwise(spans)), f"{what}: two overlap"
    assert not spans or (start <= spans[0][0] and spans[-1][1] <= end), f"{what}: beyond the end"


def _check_complete(text: str, shape: Shape) -> None:
    bounds = [shape.start, *(bound for span in shape.spans for bound in span), shape.end]
    for a, b in zip(bounds[::2], bounds[1::2], strict=True):
        assert not text[a:b].strip(), f"law 2: {text[a:b]!r} of {shape.name} is in no unit"


def _check_leans(shape: Shape) -> None:
    assert len(shape.leans) == len(shape.spans), "law 3: not one for each unit"
    for unit, lean in enumerate(shape.leans):  # in strings, a heading leans on what follows
        last = len(shape.leans) - 1 if shape.name.startswith("json") else unit
        assert 0 <= lean <= last, f"law 3: unit {unit} of {shape.name} leans on {lean}"


def _check_marks(text: str, shapes: Sequence[Shape]) -> None:
    """Show every third unit of each shape, and add up."""
    counted = [counted for shape in shapes for counted in shape.counted]
    for shape in shapes:
        some = shape.spans[1::3]
        if not some:
            continue
        shown, ranges = join_spans(text, some, counted)
        said = Counter[str]()
        for mark in PATTERN.findall(shown):
            for number, noun in _NUMBERS.findall(mark):
                said[noun] += int(number)
        gaps = list(pairwise([0, *(bound for one in ranges for bound in one), len(text)]))[::2]
        meant = Counter[str]()
        for noun, spans in counted:
            meant[noun] += bool(noun) * sum(
                amount(noun, spans_within(spans, a, b)) for a, b in gaps
            )
        assert said == meant, f"law 6: marks say {said}, left out are {meant}"

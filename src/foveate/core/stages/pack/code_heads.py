"""Code leans on the signatures around it that stand in earlier chunks (SPEC U1, U2).

What is open where a text ends is known by indentation: a later line that is deeper is in it.
What is open at the end of the nearest code before it is taken. Where the metadata of a chunk name
the chunks with the signatures around it, no others count.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from foveate.core.grouping import head_places
from foveate.core.renditions import shapes_of
from foveate.core.text.shapes.shape import Shape, indent_of, line_end, line_start, repair_first
from foveate.core.types import CODE_HEADS, Candidate, Chunk, Span

INNERMOST = 1_000_000
"""The indentation of a line that was cut, which is in all that is open."""
_GOES_ON_DEEPER = tuple(":{([,\\")
"""Ends of a line below which deeper ones may stand."""
_LOOKED_AT = 60  # lines from which the indentation of the first is read


class Pieces(NamedTuple):
    """The pieces of a text in order: where each of them stands, and its number."""

    spans: list[Span]
    numbers: list[int]

    def holding(self, start: int, end: int) -> tuple[Span, int]:
        """Where the piece stands that has this as a whole, and its number, -1 if none has."""
        at = bisect_right(self.spans, start, key=itemgetter(0)) - 1
        if at >= 0 and end <= self.spans[at][1]:
            return self.spans[at], self.numbers[at]
        return (0, 0), -1


@dataclass(slots=True)
class _Signature:
    """What deeper lines are in: its indentation, its piece, and the indentation of its lines.

    `sequence`: of the chunk that it stands in.
    """

    indent: int
    piece: int
    sequence: int
    inner: int = -1


@dataclass(slots=True)
class _OpenCode:
    """What is open at the place that was reached.

    `end`, `line`: where the last text ends in the document, and its last line.
    """

    heads: list[int]
    open: list[_Signature] = field(default_factory=list)
    end: int | None = None
    line: str = ""


def link_code(texts: Sequence[tuple[Candidate, Pieces]], heads: list[int]) -> None:
    """Let the code of a document's texts lean on what it is in; `heads` is changed."""
    state = _OpenCode(heads)
    for candidate, pieces in texts:
        text, parts, at = candidate.text, parts_of(candidate), 0
        for shape in shapes_of(candidate.chunk, candidate.parts):
            if shape.name != "code":
                continue
            if text[at : shape.start].strip():
                state.open = []
            chunk, (first, _) = next(part for part in parts if shape.start < part[1][1])
            indent = _indent_at(text, shape.start)
            if CODE_HEADS in chunk.metadata and not text[first : shape.start].strip():
                around = {sequence for _, sequence in head_places(chunk)}
                state.open = [one for one in state.open if one.sequence in around]
                indent = indent or INNERMOST
            elif not at:
                indent = _first_indent(text[shape.start : shape.end], chunk, state)
            _read(text, shape, indent, (pieces, parts), state)
            at = shape.end
        if text[at:].strip():
            state.open = []
        last = parts[-1][0]
        state.end, state.line = last.end, last.text[last.text.rfind("\n") + 1 :]


def parts_of(candidate: Candidate) -> list[tuple[Chunk, Span]]:
    """The chunks of a candidate, and where each stands in its text."""
    return [(part.chunk, part.span) for part in candidate.parts] or [
        (candidate.chunk, (0, len(candidate.text)))
    ]


def _read(
    text: str,
    shape: Shape,
    first: int,
    places: tuple[Pieces, Sequence[tuple[Chunk, Span]]],
    state: _OpenCode,
) -> None:
    """Link the units of a stretch of code; `first`: how deep the first of them is.

    `places`: the pieces of the text, and its chunks.
    """
    pieces, parts = places
    heads, last = state.heads, len(shape.spans) - 1
    holders = {lean for unit, lean in enumerate(shape.leans) if lean != unit}
    for unit, (start, _) in enumerate(shape.spans):
        indent = _indent_at(text, start) if unit else first
        while state.open and state.open[-1].indent >= indent:
            state.open.pop()
        around = state.open[-1] if state.open else None
        _, piece = pieces.holding(start, start + 1)
        if around is not None and indent < INNERMOST:
            around.inner = indent if around.inner < 0 else around.inner
        if around is not None and piece >= 0 and heads[piece] == piece != around.piece:
            heads[piece] = around.piece
        if piece >= 0 and (unit in holders or unit == last):
            chunk, _ = parts[bisect_right(parts, start, key=lambda part: part[1][0]) - 1]
            state.open.append(_Signature(indent, piece, chunk.sequence))


def _indent_at(text: str, at: int) -> int:
    return indent_of(text[line_start(text, at) : line_end(text, at)])


def _first_indent(code: str, chunk: Chunk, state: _OpenCode) -> int:
    """How deep its first line is, which may have lost its indentation or its beginning."""
    lines = [*islice(filter(str.strip, code.splitlines()), _LOOKED_AT)]
    indents = [*map(indent_of, lines)]
    repair_first(indents)
    if chunk.start is not None and chunk.start == state.end and state.line:
        is_torn = bool(state.line.strip())
        return INNERMOST if is_torn else indent_of(state.line) + indents[0]
    following = max(indents[1:2], default=0)
    if indents[0] < following and not lines[0].rstrip().endswith(_GOES_ON_DEEPER):
        return INNERMOST
    deeper = [own.inner for own in state.open if 0 <= own.inner < following]
    return deeper[-1] if deeper and not indents[0] else indents[0]

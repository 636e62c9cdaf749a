"""Code leans on the signatures around it that stand in earlier chunks (SPEC U1, U2).

What is open where a text ends is known by indentation: a later line that is deeper is in it.
The metadata of an indexed chunk name the chunks with the signatures around it; without them, what
was open at the end of the nearest code before it is taken.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from foveate.core.renditions import shapes_of
from foveate.core.text.shapes.shape import indent_of, line_end, line_start, repair_first
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
    """What deeper lines are in: its indentation, its piece, and the indentation of its lines."""

    indent: int
    piece: int
    inner: int = -1


@dataclass(slots=True)
class _OpenCode:
    """What is open at the place that was reached.

    `ended`: by the sequence of a chunk, what is open at its end; `coming`: the chunks of the text
    whose end is not reached, the next one last. `end`, `line`: where the last text ends in the
    document, and its last line.
    """

    heads: list[int]
    open: list[_Signature] = field(default_factory=list)
    ended: dict[int, list[_Signature]] = field(default_factory=dict)
    coming: list[tuple[Chunk, Span]] = field(default_factory=list)
    end: int | None = None
    line: str = ""


def link_code(texts: Sequence[tuple[Candidate, Pieces]], heads: list[int]) -> None:
    """Let the code of a document's texts lean on what it is in; `heads` is changed."""
    chunks = [chunk for candidate, _ in texts for chunk, _ in parts_of(candidate)]
    wanted = {sequence for chunk in chunks for sequence in _enclosing(chunk)}
    state = _OpenCode(heads)
    for candidate, pieces in texts:
        text, parts, at = candidate.text, parts_of(candidate), 0
        is_code = any(chunk.sequence in wanted or _enclosing(chunk) for chunk, _ in parts)
        for start, end, units in _stretches(candidate, pieces, is_code=is_code):
            if text[at:start].strip():
                state.open = []
            chunk, (first, _) = next(part for part in parts if start < part[1][1])
            indent = _indent_at(text, start)
            if _enclosing(chunk) and not text[first:start].strip():
                state.open = _open_signatures(chunk, state)
                indent = indent or INNERMOST
            elif not at:
                indent = _first_indent(text[start:end], chunk, state)
            state.coming = parts[::-1]
            _read(text, units, indent, pieces, state)
            at = end
        if text[at:].strip():
            state.open = []
        for chunk, _ in parts:
            state.ended.setdefault(chunk.sequence, state.open.copy())
        last = parts[-1][0]
        state.end, state.line = last.end, last.text[last.text.rfind("\n") + 1 :]


def parts_of(candidate: Candidate) -> list[tuple[Chunk, Span]]:
    """The chunks of a candidate, and where each stands in its text."""
    return [(part.chunk, part.span) for part in candidate.parts] or [
        (candidate.chunk, (0, len(candidate.text)))
    ]


def _enclosing(chunk: Chunk) -> Sequence[int]:
    """The sequences of the chunks with the signatures around it, by its metadata."""
    found = chunk.metadata.get(CODE_HEADS, ())
    return [n for n in found if type(n) is int] if isinstance(found, list | tuple) else ()


def _open_signatures(chunk: Chunk, state: _OpenCode) -> list[_Signature]:
    """The signatures that its metadata say are around the chunk, the outermost first."""
    found: list[_Signature] = []
    for sequence in _enclosing(chunk):
        for own in state.ended.get(sequence, ()):
            while found and found[-1].indent >= own.indent:
                found.pop()
            found.append(own)
    return found


def _stretches(
    candidate: Candidate, pieces: Pieces, *, is_code: bool
) -> Iterator[tuple[int, int, list[tuple[int, bool]]]]:
    """Each stretch of code: where it begins and ends, and its units.

    A unit: where it begins, and whether deeper lines behind it are in it. `is_code`: the metadata
    say so, also of a text that is too short to be known as code.
    """
    shapes = [s for s in shapes_of(candidate.chunk, candidate.parts) if s.name == "code"]
    for shape in shapes:
        inside = {own for unit, own in enumerate(shape.leans) if own != unit}
        inside.add(len(shape.spans) - 1)
        yield shape.start, shape.end, [(a, u in inside) for u, (a, _) in enumerate(shape.spans)]
    if is_code and not shapes and pieces.spans:
        text = candidate.text
        starts = [(a, line_start(text, a)) for a, _ in pieces.spans]
        at_lines = [a for a, line in starts if line == 0 or text[line - 1] == "\n"]
        lines = [text[a : line_end(text, a)].rstrip() for a in at_lines]
        opens = [line.endswith(_GOES_ON_DEEPER) for line in lines]
        yield pieces.spans[0][0], len(text), [*zip(at_lines, opens, strict=True)]


def _read(
    text: str,
    units: Sequence[tuple[int, bool]],
    first: int,
    pieces: Pieces,
    state: _OpenCode,
) -> None:
    """Link the units of a stretch; `first`: how deep the first of them is."""
    heads, coming = state.heads, state.coming
    for unit, (start, opens) in enumerate(units):
        while coming[-1][1][1] <= start:
            state.ended.setdefault(coming.pop()[0].sequence, state.open.copy())
        indent = _indent_at(text, start) if unit else first
        while state.open and state.open[-1].indent >= indent:
            state.open.pop()
        around = state.open[-1] if state.open else None
        _, piece = pieces.holding(start, start + 1)
        if around is not None and indent < INNERMOST:
            around.inner = indent if around.inner < 0 else around.inner
        if around is not None and piece >= 0 and heads[piece] == piece != around.piece:
            heads[piece] = around.piece
        if piece >= 0 and opens:
            state.open.append(_Signature(indent, piece))


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

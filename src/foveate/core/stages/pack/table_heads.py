"""Rows of a table whose names stand in an earlier chunk lean on the names there (SPEC U2).

A table, or a list of records, that was cut into chunks goes on in the next ones without its header.
The chunk that has it is looked for among the candidates of the same document that come before: the
nearest whose last shape is of the same kind, with as many columns, and open at its end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from foveate.core.renditions import shapes_of
from foveate.core.text.shapes.shape import Shape
from foveate.core.types import Candidate

LAID_OUT = ("indented", "code")
"""Shapes in which indentation says what goes on."""


def link_heads(pool: Sequence[Candidate], firsts: Sequence[int], heads: list[int]) -> None:
    """Let rows without names lean on the piece that has them; `heads` is changed.

    Pieces of candidate i are `firsts[i]` up to `firsts[i + 1]`.
    """
    documents: dict[str, list[int]] = {}
    for owner, candidate in enumerate(pool):
        if candidate.sentences is not None:
            documents.setdefault(candidate.document_id, []).append(owner)
    for owners in documents.values():
        if len(owners) > 1:
            _link_document(pool, sorted(owners, key=lambda o: _place(pool[o])), firsts, heads)


def _place(candidate: Candidate) -> tuple[int, int]:
    chunk = candidate.chunk
    return (chunk.start if chunk.start is not None else chunk.sequence, chunk.sequence)


def _link_document(
    pool: Sequence[Candidate], owners: Sequence[int], firsts: Sequence[int], heads: list[int]
) -> None:
    open_table: tuple[Shape, int] | None = None  # and the piece that has its names
    for owner in owners:
        candidate = pool[owner]
        shapes = shapes_of(candidate.chunk)
        if not shapes:
            open_table = None
            continue
        pieces = _pieces(candidate, firsts[owner])
        first, last = shapes[0], shapes[-1]
        begins = not candidate.text[: first.start].strip()
        if open_table is not None and begins and _continues(open_table[0], first):
            for piece in _rows_of(open_table[0], first, candidate.text, pieces):
                if heads[piece] == piece:
                    heads[piece] = open_table[1]
        if candidate.text[last.end :].strip():
            open_table = None
        elif last.head >= 0:
            piece = pieces.get(last.spans[last.head], -1)
            if piece >= 0:
                open_table = last, piece
            elif len(shapes) > 1 or last.start:
                open_table = None


def _rows_of(
    before: Shape, shape: Shape, text: str, pieces: Mapping[tuple[int, int], int]
) -> Iterator[int]:
    """The pieces of the shape that need the head of the one before."""
    rows = sorted({a for counted in shape.counted for a, _ in counted.spans})
    deep = before.columns if shape.name in LAID_OUT else -1
    for (a, b), piece in pieces.items():
        lead = b - a - len(text[a:b].lstrip(" \t"))
        if _holds(rows, a, b) and (deep in (-1, lead) or a == 0):
            yield piece


def _pieces(candidate: Candidate, first: int) -> Mapping[tuple[int, int], int]:
    spans = candidate.sentences.spans if candidate.sentences else ()
    return {span: first + n for n, span in enumerate(spans)}


def _continues(before: Shape, shape: Shape) -> bool:
    """Whether the shape may be the rest of the one before."""
    if before.name in LAID_OUT:
        return before.name == shape.name
    if shape.head >= 0 and shape.columns:
        return False
    kind = before.name.partition(" ")[0]
    return kind == shape.name.partition(" ")[0] and before.columns == shape.columns


def _holds(starts: Sequence[int], first: int, end: int) -> bool:
    """Whether one of the starts, which are in order, is in the range."""
    at = bisect_left(starts, first)
    return at < len(starts) and starts[at] < end

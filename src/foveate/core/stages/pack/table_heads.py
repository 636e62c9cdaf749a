"""Rows whose names stand in an earlier chunk lean on them there (SPEC U2).

A table, or a list of records, that was cut into chunks goes on in the next ones without its header.
The header is looked for before it in the candidates of the same document: in the chunk that the
rows' metadata name, or else that of the nearest shape of the same kind, with as many columns, that
is open at its end.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from foveate.core.grouping import place_in_document
from foveate.core.renditions import shapes_of
from foveate.core.stages.pack.code_heads import Pieces, link_code, parts_of
from foveate.core.text.shapes.shape import Shape
from foveate.core.types import CODE_HEADS, TABLE_NAMES, Candidate, Chunk, Part, Span

LONGEST_REST = 4_000
"""Characters at the beginning of a chunk that may be the rest of a record."""
_EMPTY_LINE = re.compile(r"\n[ \t\r]*\n")
"""Between prose and a table that has nothing to do with the one before."""


def link_heads(pool: Sequence[Candidate], firsts: Sequence[int], heads: list[int]) -> None:
    """Let rows without names lean on the piece that has them; `heads` is changed.

    Pieces of candidate i are `firsts[i]` up to `firsts[i + 1]`.
    """
    documents: dict[str, list[int]] = {}
    for owner, candidate in enumerate(pool):
        if candidate.sentences is not None:
            documents.setdefault(candidate.document_id, []).append(owner)
    for owners in documents.values():
        if any(map(_may_lean, (pool[owner] for owner in owners))):
            _link_document(
                pool, sorted(owners, key=lambda o: place_in_document(pool[o].chunk)), firsts, heads
            )


def _may_lean(candidate: Candidate) -> bool:
    """Whether it is of records, rows or code, as most texts are not."""
    return bool(shapes_of(candidate.chunk, candidate.parts)) or any(
        CODE_HEADS in chunk.metadata for chunk, _ in parts_of(candidate)
    )


def _link_document(
    pool: Sequence[Candidate], owners: Sequence[int], firsts: Sequence[int], heads: list[int]
) -> None:
    texts = list(_texts(pool, owners, firsts))
    link_code(texts, heads)
    table: _OpenTable | None = None
    tables: dict[int, _OpenTable] = {}  # by the sequence of a chunk, its last table with names
    for candidate, pieces in texts:
        shapes, at = shapes_of(candidate.chunk, candidate.parts), 0
        chunks = [part.chunk for part in candidate.parts] or [candidate.chunk]
        for shape in shapes:
            is_next = _is_next(candidate.text[at : shape.start], is_first=not at)
            if at and not is_next:
                table = None
            elif not at and TABLE_NAMES in chunks[0].metadata:
                table = tables.get(_names_before(chunks[0]))
            if table is not None and is_next and _continues(table.shape, shape):
                for piece in _rows_of(table.shape, shape, candidate.text, pieces):
                    heads[piece] = table.names if heads[piece] == piece else heads[piece]
            if shape.head >= 0:
                _, names = pieces.holding(*shape.spans[shape.head])
                table = _OpenTable(shape, names) if names >= 0 else None
            if table is not None and shape.head >= 0:
                tables[_sequence_at(candidate, shape.spans[shape.head][0])] = table
            at = shape.end
        if not shapes or candidate.text[at:].strip():
            table = None


def _is_next(between: str, *, is_first: bool) -> bool:
    """Whether a shape with this above it may go on with the one before.

    `is_first`: this is the beginning of a chunk, which may be the rest of a record.
    """
    if is_first and len(between) <= LONGEST_REST:
        return not _EMPTY_LINE.search(between)
    return not between.strip()


def _names_before(chunk: Chunk) -> int:
    """The sequence of the chunk with the names of its columns, by its metadata; -1 for none."""
    sequence = chunk.metadata.get(TABLE_NAMES)
    return sequence if type(sequence) is int else -1


def _sequence_at(candidate: Candidate, at: int) -> int:
    """The sequence of the chunk that has this place of the candidate's text."""
    part = bisect_right(candidate.parts, at, key=lambda part: part.span[0]) - 1
    return (candidate.parts[part].chunk if part >= 0 else candidate.chunk).sequence


def _texts(
    pool: Sequence[Candidate], owners: Sequence[int], firsts: Sequence[int]
) -> Iterator[tuple[Candidate, Pieces]]:
    """The texts with their pieces; a passage that was divided is one again, with all its chunks."""
    texts: dict[str, list[int]] = {}
    for owner in owners:
        one = pool[owner]
        texts.setdefault(one.chunk.content_hash if one.parts else one.id, []).append(owner)
    for same in texts.values():
        numbers: dict[Span, int] = {}
        parts: dict[Span, Part] = {}
        for owner in same:
            sentences = pool[owner].sentences
            numbers |= zip(sentences.spans if sentences else (), count(firsts[owner]))
            parts |= {part.span: part for part in pool[owner].parts}
        whole = tuple([parts[span] for span in sorted(parts)])
        spans = sorted(numbers)
        pieces = Pieces(spans, [numbers[span] for span in spans])
        yield replace(pool[same[0]], parts=whole), pieces


class _OpenTable(NamedTuple):
    """A table that may go on: its shape, and the piece with the names of its columns."""

    shape: Shape
    names: int


def _rows_of(before: Shape, shape: Shape, text: str, pieces: Pieces) -> Iterator[int]:
    """The pieces of the shape that need the head of the one before."""
    rows = {a for counted in shape.counted for a, _ in counted.spans}
    starts = sorted(rows) or [a for a, _ in shape.spans]  # of a few lines none is counted
    deep = before.columns if shape.name == "indented" else -1
    for (a, b), piece in dict([pieces.holding(row, row + 1) for row in starts]).items():
        lead = b - a - len(text[a:b].lstrip(" \t"))
        if piece >= 0 and (deep in (-1, lead) or a == 0):
            yield piece


def _continues(before: Shape, shape: Shape) -> bool:
    """Whether the shape may be the rest of the one before."""
    if "code" in (before.name, shape.name):
        return False  # see code_heads.py
    if before.name == "indented":
        return before.name == shape.name
    if shape.head >= 0 and shape.columns:
        return False
    kind = before.name.partition(" ")[0]
    return kind == shape.name.partition(" ")[0] and before.columns == shape.columns

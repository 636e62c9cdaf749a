"""Rows whose names, or group's title, stand in an earlier chunk lean on them there (SPEC U2).

A table, or a list of records, that was cut into chunks goes on in the next ones without its header.
The header is looked for before it in the candidates of the same document: in the chunk that the
rows' metadata name, or else that of the nearest shape of the same kind, with as many columns, that
is open at its end. The title of the group that is open there goes on up to the next title or total.
A chunk that is missing between may have had one of those, so the title goes on only without a gap,
or if the metadata say where it is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from foveate.core.grouping import place_in_document
from foveate.core.renditions import shapes_of
from foveate.core.stages.pack.code_heads import Pieces, link_code, parts_of
from foveate.core.text.shapes.shape import Shape
from foveate.core.types import CODE_HEADS, TABLE_NAMES, TABLE_TITLE, Candidate, Chunk, Part, Span

_GAP = 2  # characters of white space between chunks


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
    # by the sequence of a chunk, the last table with names in it, and the piece with the last title
    tables: dict[int, _OpenTable] = {}
    titles: dict[int, int] = {}
    for candidate, pieces in texts:
        shapes, at = shapes_of(candidate.chunk, candidate.parts), 0
        chunks = [part.chunk for part in candidate.parts] or [candidate.chunk]
        for shape in shapes:
            is_next, title = not candidate.text[at : shape.start].strip(), -1
            if at and not is_next:
                table = None
            elif not at and TABLE_NAMES in chunks[0].metadata:
                table = tables.get(_sequence_in(chunks[0], TABLE_NAMES))
            if table is not None and is_next and _continues(table.shape, shape):
                title = table.title if at else _title_for(chunks[0], table, titles)
                rows = _rows_of(table.shape, shape, candidate.text, pieces)
                title = _link_rows(shape, rows, heads, table.names, title)
            table = _table_after(table, shape, pieces, title)
            if table is not None and shape.head >= 0:
                tables[_sequence_at(candidate, shape.spans[shape.head][0])] = table
            if table is not None and shape.title >= 0:
                titles[_sequence_at(candidate, shape.spans[shape.title][0])] = table.title
            at = shape.end
        if not shapes or candidate.text[at:].strip():
            table = None
        if table is not None:
            table = table._replace(reached=chunks[-1])


def _link_rows(
    shape: Shape, rows: Iterable[tuple[int, int]], heads: list[int], names: int, title: int
) -> int:
    """Let the rows lean on the title of their group, or on the names; the title if it goes on."""
    grouped = shape.spans[shape.untitled - 1][1] if title >= 0 and shape.untitled else 0
    for start, piece in rows:
        if heads[piece] == piece:
            heads[piece] = title if start < grouped else names
    return title if shape.untitled == len(shape.spans) else -1


def _sequence_in(chunk: Chunk, key: str) -> int:
    """The sequence of another chunk in the metadata of this one; -1 if it is none."""
    sequence = chunk.metadata.get(key)
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
    """A table that may go on: its shape, and the pieces that later rows need.

    `names`: the piece with the names of its columns; `title`: with the title of the group that is
    open where the chunk `reached` ends, -1 if none is.
    """

    shape: Shape
    names: int
    title: int = -1
    reached: Chunk | None = None


def _table_after(
    table: _OpenTable | None, shape: Shape, pieces: Pieces, title: int
) -> _OpenTable | None:
    """The table that is open behind the shape; `title`: of the group that goes on over it all."""
    if shape.head >= 0:
        _, names = pieces.holding(*shape.spans[shape.head])
        table = _OpenTable(shape, names) if names >= 0 else None
    if shape.title >= 0:
        _, title = pieces.holding(*shape.spans[shape.title])
    return table and table._replace(title=title)


def _title_for(chunk: Chunk, table: _OpenTable, titles: Mapping[int, int]) -> int:
    """The piece with the title of the group that goes on in the chunk; -1 if none is known."""
    if TABLE_NAMES in chunk.metadata:
        return titles.get(_sequence_in(chunk, TABLE_TITLE), -1)
    before = table.reached
    if before is None or before.end is None or chunk.start is None:
        follows = before is not None and chunk.sequence == before.sequence + 1
    else:
        follows = chunk.start <= before.end + _GAP
    return table.title if follows else -1


def _rows_of(before: Shape, shape: Shape, text: str, pieces: Pieces) -> Iterator[tuple[int, int]]:
    """The pieces of the shape that need the head of the one before, and where they start."""
    rows = {a for counted in shape.counted for a, _ in counted.spans}
    starts = sorted(rows) or [a for a, _ in shape.spans]  # of a few lines none is counted
    deep = before.columns if shape.name == "indented" else -1
    for (a, b), piece in dict([pieces.holding(row, row + 1) for row in starts]).items():
        lead = b - a - len(text[a:b].lstrip(" \t"))
        if piece >= 0 and (deep in (-1, lead) or a == 0):
            yield a, piece


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

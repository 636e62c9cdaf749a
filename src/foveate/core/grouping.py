"""Candidates as documents: which belong together, and which document comes first.

Not a stage: `group`, `order` and whoever packs whole documents ask here, so that they agree.
Rules: side knowledge belongs to no document and stands first; every order is total.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from foveate.core.types import (
    CODE_HEADS,
    TABLE_NAMES,
    Candidate,
    Chunk,
)

MOST_CHUNKS = 2**31
"""No document has so many; stores count with 64 bits, and metadata may name any place."""


def group_by_document(candidates: Iterable[Candidate]) -> list[tuple[Candidate, ...]]:
    """Document groups, best score first (ties by source, then document id), each as it reads."""
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.document_id, []).append(candidate)
    read = [tuple(sorted(group, key=lambda c: reading_order(c)[1:])) for group in groups.values()]
    return sorted(read, key=_document_order_key)


def split_supplements(
    candidates: Sequence[Candidate],
) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """Side knowledge and the rest, each in its present order."""
    aside = tuple(c for c in candidates if c.origin == "supplement")
    if not aside:
        return (), tuple(candidates)
    return aside, tuple(c for c in candidates if c.origin != "supplement")


def reading_order(candidate: Candidate) -> tuple[str, tuple[int, ...], str]:
    """As a reader meets them: source, place in the document, id."""
    chunk = candidate.chunk
    return (chunk.source, place_in_document(chunk), chunk.id)


def _document_order_key(group: tuple[Candidate, ...]) -> tuple[float, str, str]:
    best = max(candidate.score for candidate in group)
    return (-best, min(candidate.chunk.source for candidate in group), group[0].document_id)


def place_in_document(chunk: Chunk) -> tuple[int, ...]:
    """Where it stands, as far as is known: page, sequence, offsets, line, row."""
    places = (chunk.page, chunk.sequence, chunk.start, chunk.byte_offset, chunk.line, chunk.row)
    return tuple([place or 0 for place in places])


def document_offset(chunk: Chunk) -> int | None:
    """The chunk's start in the document; None if it is unknown or not consistent with its text."""
    start, end = chunk.start, chunk.end
    if start is None or end is None or end - start == len(chunk.text):
        return start
    return None


def head_places(chunk: Chunk) -> list[tuple[str, int]]:
    """Where the chunks are that name the columns of rows, or define code."""
    several = chunk.metadata.get(CODE_HEADS)
    heads = several if isinstance(several, list | tuple) else ()
    return [
        (chunk.document_id, sequence)
        for sequence in (chunk.metadata.get(TABLE_NAMES), *heads)
        if type(sequence) is int and 0 <= sequence < MOST_CHUNKS
    ]

"""A document and its chunks as rows, with what is derived from them before anything is written."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foveate.core.errors import BadInput
from foveate.core.types import Chunk
from foveate.ports import Document
from foveate.stores.int8 import quantise_or_zeros
from foveate.stores.rows import chunk_row, document_row, terms_to_index


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedDocument:
    """`packed`: the text, compressed. `vectors`: int8, a row a chunk. `counts`: tokens by hash."""

    row: dict[str, Any]
    packed: bytes
    chunks: list[dict[str, Any]]
    vectors: Any
    terms: list[list[str]]
    counts: Mapping[str, int]
    fingerprint: str


def prepare_document(
    document: Document,
    chunks: Sequence[Chunk],
    vectors: Any,
    counts: Sequence[int],
    *,
    fingerprint: str,
    dimensions: int,
) -> PreparedDocument:
    """What `Store.put` was given, as rows; raises `BadInput`."""
    check_counts(counts, chunks)
    row = document_row(document)
    rows = [chunk_row(document, chunk) for chunk in chunks]
    seen: set[str] = set()
    for each in rows:
        if each["chunk_id"] in seen:
            raise duplicate_id_error("this document", each["chunk_id"])
        seen.add(each["chunk_id"])
    return PreparedDocument(
        row=row,
        packed=zlib.compress(document.text.encode()),
        chunks=rows,
        vectors=quantise_or_zeros(vectors, rows=len(chunks), dimensions=dimensions),
        terms=[terms_to_index(each) for each in rows],
        counts=counts_by_hash(chunks, counts) if fingerprint else {},
        fingerprint=fingerprint,
    )


def check_counts(counts: Sequence[int], chunks: Sequence[Chunk]) -> None:
    """Raise `BadInput` unless there is no count, or one for each chunk."""
    if counts and len(counts) != len(chunks):
        raise BadInput(f"{len(counts)} counts for {len(chunks)} chunks", field="counts")


def counts_by_hash(chunks: Sequence[Chunk], counts: Sequence[int]) -> dict[str, int]:
    """Content hash → tokens; empty without counts."""
    return dict(zip((chunk.content_hash for chunk in chunks), counts, strict=False))


def duplicate_id_error(whose: str, name: str) -> BadInput:
    """The error for a chunk id that is taken."""
    return BadInput(f"{whose} has a chunk {name!r} already; ids are unique", field="id")

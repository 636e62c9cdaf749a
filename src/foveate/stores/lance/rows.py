"""Documents as rows of the table, and what each row adds to the head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foveate.stores.base import PutRequest
from foveate.stores.filters import facts_to_index
from foveate.stores.int8 import quantise_or_zeros
from foveate.stores.lance.tables import Head
from foveate.stores.rows import (
    SHARED,
    Rows,
    chunk_members,
    chunk_rows,
    document_member,
    document_row,
    pack_text,
    terms_to_index,
)
from foveate.stores.totals import CHUNKS, DOCUMENTS


def build_rows(given: PutRequest, dimensions: int) -> Rows:
    """The document and its chunks; raises `BadInput`."""
    document = document_row(given.document)
    chunks = chunk_rows(given.document, document, given.chunks)
    vectors = quantise_or_zeros(given.vectors, rows=len(chunks), dimensions=dimensions)
    shared = {name: document[name] for name in ("document_id", *SHARED)}
    for chunk, vector in zip(chunks, vectors, strict=True):
        chunk |= {
            **shared,
            "key": f"c{chunk['chunk_id']}",
            "words": " ".join(terms_to_index(chunk)),
            "labels": facts_to_index(document, chunk),
            "vector": vector.astype("f2") if vector.any() else None,
        }
    packed = pack_text(given.document.text)
    return [{**document, "key": f"d{given.document.id}", "packed": packed}, *chunks]


def count_rows(head: Head, rows: Sequence[Mapping[str, Any]], *, sign: int = 1) -> None:
    """Add the rows (`MEMBER_COLUMNS`) to what readers hold, or take them away (`sign` -1)."""
    named = [{**row, "audience": row["principals"]} for row in rows]
    documents = [document_member(row) for row in named if row.get("chunk_id") is None]
    chunks = [pair for row in named if row.get("chunk_id") for pair in chunk_members(row, [row])]
    head.apply(documents, DOCUMENTS, sign)
    head.apply(chunks, CHUNKS, sign)

"""Documents as rows of the table, and what each row adds to the head."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from foveate.stores.lance.tables import Head, store_schema
from foveate.stores.rows import (
    SHARED,
    PreparedDocument,
    chunk_members,
    document_member,
)
from foveate.stores.totals import CHUNKS, DOCUMENTS


def build_rows(given: Iterable[PreparedDocument], dimensions: int) -> Any:
    """The documents and their chunks as an Arrow table."""
    rows: list[dict[str, Any]] = []
    for one in given:
        rows.append({**one.row, "key": f"d{one.row['document_id']}", "packed": one.packed})
        shared = {name: one.row[name] for name in ("document_id", *SHARED)}
        for chunk, vector, terms, facts in zip(
            one.chunks, one.vectors, one.terms, one.facts, strict=True
        ):
            made = {
                **shared,
                **chunk,
                "key": f"c{chunk['chunk_id']}",
                "words": " ".join(terms),
                "labels": facts,
            }
            if dimensions:
                made["vector"] = vector.astype("f2") if vector.any() else None
            rows.append(made)
    return pa.Table.from_pylist(rows, schema=store_schema(dimensions))


def count_rows(head: Head, rows: Sequence[Mapping[str, Any]], *, sign: int = 1) -> None:
    """Add the rows (`MEMBER_COLUMNS`) to what readers hold, or take them away (`sign` -1)."""
    named = [{**row, "audience": row["principals"]} for row in rows]
    documents = [document_member(row) for row in named if row["chunk_id"] is None]
    chunks = [pair for row in named if row["chunk_id"] for pair in chunk_members(row, [row])]
    head.apply(documents, DOCUMENTS, sign)
    head.apply(chunks, CHUNKS, sign)

"""The check of a Lance store: texts, words and states of one version, from the rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from foveate.core.seal import content_hash
from foveate.stores.base import Report
from foveate.stores.checksums import StoreDamaged
from foveate.stores.lance.rows import count_rows
from foveate.stores.lance.snapshot import Snapshot
from foveate.stores.lance.tables import MEMBER_COLUMNS
from foveate.stores.recount import Recount
from foveate.stores.rows import terms_to_index, with_text


def check(now: Snapshot, *, embedder: str) -> Report:
    """Check one version; what is wrong is a finding, at most 100 a part."""
    found = Recount[str]()
    found.take("rows", _row_findings(now, found))
    if {key: one for key, one in found.totals.figures.items() if any(one)} != now.head.figures or (
        found.report(embedder).state_root != now.state_root(now.readers(None), embedder)
    ):
        found.take("state", ["what readers may read is not what the head says"])
    return found.report(embedder)


def _row_findings(now: Snapshot, found: Recount[str]) -> Iterator[str]:
    seen = set[str]()
    columns = ["key", *MEMBER_COLUMNS, "packed", "words"]
    for batch in now.dataset.to_batches(columns=columns, filter="key != 'head'", batch_size=1_000):
        rows: list[dict[str, Any]] = batch.to_pylist()
        count_rows(found.totals, rows)
        for row in rows:
            if row["key"] in seen:
                yield f"{row['chunk_id'] or row['document_id']!r} is there twice; ids are unique"
            seen.add(row["key"])
            found.chunks += row["chunk_id"] is not None
            found.documents += row["chunk_id"] is None
            yield from _text_findings(row)


def _text_findings(row: dict[str, Any]) -> Iterator[str]:
    if row["chunk_id"] is None:
        try:
            with_text(row, row["packed"])
        except StoreDamaged:
            yield f"document {row['document_id']!r}: its text is not the one that was put"
    elif content_hash(row["text"]) != row["content_hash"]:
        yield f"chunk {row['chunk_id']!r}: its text is not the one that was put"
    elif row["words"].split() != terms_to_index(row):
        yield f"chunk {row['chunk_id']!r} is found by other words than its own"

"""What a store on Lance holds and how much room it takes, and whole documents. Only reads."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from foveate.ports import Document
from foveate.stores.lance.labels import in_condition, quote_literal
from foveate.stores.lance.scan import Scan
from foveate.stores.lance.schema import DOCUMENT_COLUMNS, VERSION
from foveate.stores.lance.snapshot import Snapshot
from foveate.stores.report import Stats
from foveate.stores.rows import DOCUMENT_FIELDS, document_from_row, textless_document_from_row


def compute_stats(
    snapshot: Snapshot,
    scan: Scan,
    readers: Sequence[int] | None,
    made_with: tuple[str, int],
    state_root: str,
    *,
    known: int = 0,
) -> Stats:
    """The store in figures; of what the audiences `readers` hold, or None for everything.

    `known`: bytes of what is remembered of texts.
    """
    import numpy as np

    head = snapshot.head
    audiences = [*head.audiences] if readers is None else readers
    mine = [head.audiences[number] for number in audiences if number in head.audiences]
    mask = scan.view(audiences).mask
    return Stats(
        documents=sum(audience.documents for audience in mine),
        chunks=sum(audience.chunks for audience in mine),
        # Those whose vector has a direction.
        vectors=int(np.count_nonzero(scan.norms if mask is None else scan.norms[mask])),
        embedder=made_with[0],
        dimensions=made_with[1],
        schema=VERSION,
        state_root=state_root,
        bytes={**bytes_by_kind(snapshot), "known": known} if readers is None else {},
    )


def bytes_by_kind(snapshot: Snapshot) -> dict[str, int]:
    """Bytes of this version's files by kind, and of its indexes; older versions are not in it."""
    kinds = {
        name: kind
        for segment in snapshot.head.segments.values()
        for kind, name in segment.files.items()
    }
    found = dict.fromkeys(("documents", "chunks", "postings", "head"), 0)
    for name, fragment in snapshot.files.items():
        found[kinds.get(name, "head")] += fragment.data_files()[0].file_size_bytes or 0
    found["indexes"] = sum(one.total_size_bytes or 0 for one in snapshot.dataset.describe_indices())
    return found


def load_document(snapshot: Snapshot, name: str, audiences: Sequence[int]) -> Document | None:
    """One document with its text; None where it is not there, or not all of it to be read."""
    named, mine = in_condition("document_id", [name]), in_condition("audience", audiences)
    found = snapshot.read_rows("documents", DOCUMENT_COLUMNS, f"{named} AND {mine}")
    if found is None or not found.num_rows:
        return None
    hidden = snapshot.read_rows("chunks", ["key"], f"{named} AND NOT ({mine})")
    if hidden is not None and hidden.num_rows:
        return None
    row = found.to_pylist()[0]
    return document_from_row({**row, "text": row["packed"]})


def list_documents(
    snapshot: Snapshot, after: str, limit: int, audiences: Sequence[int]
) -> list[Document]:
    """Documents behind `after` by id, without their texts; those alone that `document` gives."""
    mine = in_condition("audience", audiences)
    ids = snapshot.read_rows(
        "documents", ["document_id"], f"{mine} AND document_id > {quote_literal(after)}"
    )
    waiting = sorted(ids.column(0).to_pylist()) if ids is not None else []
    found: list[Document] = []
    while waiting and len(found) < limit:
        some, waiting = waiting[:limit], waiting[limit:]
        named = in_condition("document_id", some)
        hidden = snapshot.read_rows("chunks", ["document_id"], f"{named} AND NOT ({mine})")
        closed = set(hidden.column(0).to_pylist()) if hidden is not None else set()
        rows = snapshot.read_rows("documents", DOCUMENT_FIELDS, f"{named} AND {mine}")
        readable = (row for row in rows.to_pylist() if row["document_id"] not in closed)
        found += [
            textless_document_from_row(row)
            for row in sorted(readable, key=itemgetter("document_id"))
        ]
    return found[:limit]


def list_content_hashes(snapshot: Snapshot) -> list[tuple[str, str]]:
    """(document id, content hash) of every document, by id."""
    found = snapshot.read_rows("documents", ["document_id", "content_hash"])
    if found is None:
        return []
    return sorted(zip(*(found.column(n).to_pylist() for n in (0, 1)), strict=True))

"""The words leg: a question's postings out of the table, scored over what one may read.

Postings of chunks that are gone stay in their file until it is written anew; they are left out
here, so that no score knows of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foveate.stores.access_control import View
from foveate.stores.lance import postings
from foveate.stores.lance.commit import iter_batches
from foveate.stores.lance.labels import in_condition
from foveate.stores.lance.scan import Scan
from foveate.stores.lance.schema import LOCAL_BITS, POSTING_COLUMNS
from foveate.stores.lance.snapshot import Snapshot
from foveate.stores.lexical import bm25, read_through_cache


def lexical_scores(snapshot: Snapshot, scan: Scan, terms: Sequence[str], view: View) -> Any:
    """BM25 of every row, by position; statistics are of what the view holds alone."""
    with scan.lock:
        found = read_through_cache(
            scan, terms, lambda missing: _read_postings(snapshot, scan, missing)
        )
        return bm25(found, view)


def _read_postings(snapshot: Snapshot, scan: Scan, terms: Sequence[str]) -> list[tuple[Any, Any]]:
    """Per term: positions in the scan, and how often."""
    import numpy as np

    gathered: dict[str, list[tuple[Any, Any]]] = {term: [] for term in terms}
    for some in iter_batches(terms):
        rows = snapshot.read_rows("postings", POSTING_COLUMNS, in_condition("term", some))
        if rows is None:
            break
        segments = rows.column("segment").to_numpy()
        ends, places = postings.places_from_binary(rows.column("places"))
        start = 0
        for term, segment, end in zip(
            rows.column("term").to_pylist(), segments.tolist(), ends.tolist(), strict=True
        ):
            local, times = postings.decode_places(places[start:end])
            gathered[term].append(((segment << LOCAL_BITS) + local, times))
            start = end
    read = []
    for parts in gathered.values():
        keys = np.concatenate([part[0] for part in parts]) if parts else np.zeros(0, np.int64)
        times = np.concatenate([part[1] for part in parts]) if parts else np.zeros(0, np.int64)
        positions, live = scan.positions(keys)
        read.append((positions[live].astype(np.int32), times[live].astype(np.uint16)))
    return read

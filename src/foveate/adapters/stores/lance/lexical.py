"""The words leg: a question's postings out of the table, scored over what one may read.

Postings of chunks that are gone stay in their file until it is written anew; they are left out
here, so that no score knows of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foveate.adapters.stores import bm25
from foveate.adapters.stores.lance import words
from foveate.adapters.stores.lance.commit import sliced
from foveate.adapters.stores.lance.labels import among
from foveate.adapters.stores.lance.scan import Scan
from foveate.adapters.stores.lance.schema import LOCAL_BITS, POSTING
from foveate.adapters.stores.lance.snapshot import Snapshot

_KEPT = 8_000_000
"""Postings that are kept in memory, of 12 bytes each: 96 MB at the most."""


def scores(snapshot: Snapshot, scan: Scan, terms: Sequence[str], readable: Any) -> Any:
    """BM25 of every row, by position; statistics are of the readable rows (booleans) alone."""
    import numpy as np

    mine = []
    for positions, times in found(snapshot, scan, terms):
        kept = readable[positions]
        mine.append((positions[kept], times[kept]))
    return bm25.scores(
        mine,
        scan.terms,
        total=int(np.count_nonzero(readable)),
        words=int(scan.terms[readable].sum(dtype=np.int64)),
    )


def found(snapshot: Snapshot, scan: Scan, terms: Sequence[str]) -> list[tuple[Any, Any]]:
    """Per term, in the order given: positions, and how often; kept with the scan."""
    missing = [term for term in terms if term not in scan.words]
    read = _read(snapshot, scan, missing)
    mine = {term: read[term] if term in read else scan.words[term] for term in terms}
    for term in terms:  # taken out and put in again: the front is what was not asked for longest
        scan.words.pop(term, None)
    scan.words.update(mine)
    kept = sum(len(one[0]) + 2_000 for one in list(scan.words.values()))
    for term in list(scan.words):
        if kept <= _KEPT:
            break
        kept -= len(scan.words.pop(term)[0]) + 2_000
    return [mine[term] for term in terms]


def _read(snapshot: Snapshot, scan: Scan, terms: Sequence[str]) -> dict[str, tuple[Any, Any]]:
    import numpy as np

    gathered: dict[str, list[tuple[Any, Any]]] = {term: [] for term in terms}
    for some in sliced(terms):
        rows = snapshot.rows("postings", POSTING, among("term", some))
        if rows is None:
            break
        segments = rows.column("segment").to_numpy()
        ends, places = words.from_binary(rows.column("places"))
        start = 0
        for term, segment, end in zip(
            rows.column("term").to_pylist(), segments.tolist(), ends.tolist(), strict=True
        ):
            local, times = words.unpacked(places[start:end])
            gathered[term].append(((segment << LOCAL_BITS) + local, times))
            start = end
    read = {}
    for term, parts in gathered.items():
        keys = np.concatenate([part[0] for part in parts]) if parts else np.zeros(0, np.int64)
        times = np.concatenate([part[1] for part in parts]) if parts else np.zeros(0, np.int64)
        positions, live = scan.positions(keys)
        read[term] = positions[live], times[live].astype(np.uint16)
    return read

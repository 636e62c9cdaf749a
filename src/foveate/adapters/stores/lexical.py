"""BM25 over an inverted index in plain tables: exact, and blind to what one may not read.

Not FTS5: its `bm25()` takes idf and average length over all rows, so that a score tells about
documents that the reader may not see. Here both are taken over what the request may read. The
formula is in `bm25.py`, the tables in `postings.py`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from foveate.adapters.stores.bm25 import MOST, idfs, weighed
from foveate.adapters.stores.filters import marks, sliced
from foveate.adapters.stores.readable import View
from foveate.adapters.stores.vectors import Scan
from foveate.core.errors import OutsideFailure

_KEPT, _KEPT_A_ROW = 8_000_000, 32
"""Postings that are kept in memory, of 6 bytes each, whichever is more: 48 MB, or 192 a row."""
_NOTED = 65_536
"""Terms of which a view keeps in how many rows they are."""


class Remembered(Protocol):
    """Rows in memory, and the postings that were read of them."""

    @property
    def ids(self) -> Any: ...  # noqa: D102
    @property
    def words(self) -> dict[str, tuple[Any, Any]]: ...  # noqa: D102


def postings(
    connection: sqlite3.Connection, scan: Scan, terms: Sequence[str]
) -> dict[str, tuple[Any, Any]]:
    """Term, in the order given → (positions in the scan, occurrences).

    What was read is kept with the scan, which is of one state; words of questions come again.
    """
    return kept(scan, terms, lambda missing: _read(connection, scan, missing))


def kept(
    scan: Remembered, terms: Sequence[str], read_: Callable[[list[str]], list[tuple[Any, Any]]]
) -> dict[str, tuple[Any, Any]]:
    """The terms' postings, of which only those that are not in memory are read."""
    missing = [term for term in terms if term not in scan.words]
    read = dict(zip(missing, read_(missing) if missing else [], strict=True))
    # Taken out and put in again: the front of the dictionary is what was not asked for longest.
    found = {term: read[term] if term in read else scan.words.pop(term) for term in terms}
    scan.words.update(found)
    if not missing:
        return found
    kept = sum(_weight(one) for one in scan.words.values())
    for term in list(scan.words):
        if kept <= max(_KEPT, _KEPT_A_ROW * len(scan.ids)):
            break
        kept -= _weight(scan.words.pop(term))
    return found


def _weight(found: tuple[Any, Any]) -> int:
    return len(found[0]) + 2_000  # so that there are never very many rare terms


def _read(connection: sqlite3.Connection, scan: Scan, terms: Sequence[str]) -> list[Any]:
    import numpy as np

    blobs: dict[str, list[bytes]] = {term: [] for term in terms}
    for some in sliced(terms):
        query = (
            "SELECT t.term, p.places FROM terms AS t JOIN postings AS p ON p.term = t.id "
            f"WHERE t.term IN ({marks(some)})"
        )
        for term, blob in connection.execute(query, some):
            blobs[term].append(blob)
    found = []
    for term in terms:
        places = np.frombuffer(b"".join(blobs[term]), dtype="<i8")
        ids = places >> 16
        positions = np.searchsorted(scan.ids, ids)
        if not np.array_equal(scan.ids.take(positions, mode="clip"), ids):
            raise OutsideFailure(
                "the store's full-text index is damaged; foveate store check says where"
            )
        found.append((positions.astype(np.int32), (places & MOST).astype(np.uint16)))
    return found


def bm25(found: Mapping[str, tuple[Any, Any]], view: View) -> Any:
    """BM25 of every row, float64; idf and average length are of what the view holds.

    A term that stands in more than half of the rows is left out where a rarer one is there. Rows
    that are not readable score 0.
    """
    import numpy as np

    weights = idfs([_frequency(view, term, found[term][0]) for term in found], view.rows)
    told = [
        (positions, weighed(occurrences, view.damping.take(positions), weight))
        for (positions, occurrences), weight in zip(found.values(), weights, strict=True)
        if weight
    ]
    rows = len(view.damping)
    if not told:
        return np.zeros(rows)
    # Added up in this order, term by term, as a loop over the terms would.
    where, what = (np.concatenate(part) for part in zip(*told, strict=True))
    scores = np.bincount(where, weights=what, minlength=rows)
    if view.mask is not None:
        scores[~view.mask] = 0
    return scores


def _frequency(view: View, term: str, positions: Any) -> int:
    """In how many of the readable rows the term is."""
    import numpy as np

    known = view.frequencies.get(term)
    if known is None:
        mine = positions if view.mask is None else view.mask[positions]
        known = len(mine) if view.mask is None else int(np.count_nonzero(mine))
        if len(view.frequencies) < _NOTED:
            view.frequencies[term] = known
    return known

"""BM25 over an inverted index in plain tables: exact, and blind to what one may not read.

Not FTS5: its `bm25()` takes idf and average length over all rows, so that a score tells about
documents that the reader may not see. Here both are taken over what the request may read. The
formula is in `bm25.py`, the tables in `postings.py`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from foveate.stores.access_control import View
from foveate.stores.checksums import damage, sum_of_places
from foveate.stores.filters import iter_batches, placeholders
from foveate.stores.scoring import MAX_COUNT, idfs, term_scores
from foveate.stores.vectors import Scan

_MAX_CACHED_POSTINGS, _CACHED_POSTINGS_PER_ROW = 8_000_000, 32
"""Postings that are kept in memory, of 6 bytes each, whichever is more: 48 MB, or 192 a row."""
_MAX_CACHED_FREQUENCIES = 4_096
"""Terms of which a view keeps in how many rows they are: about as many as have postings kept."""

_WHAT = "its full-text index is not as it was written"


class PostingsRows(Protocol):
    """Rows in memory, and the postings that were read of them."""

    @property
    def ids(self) -> Any: ...  # noqa: D102
    @property
    def cached_postings(self) -> dict[str, tuple[Any, Any]]: ...  # noqa: D102


def load_postings(
    connection: sqlite3.Connection, scan: Scan, terms: Sequence[str]
) -> dict[str, tuple[Any, Any]]:
    """Term, in the order given → (positions in the scan, occurrences).

    What was read is kept with the scan, which is of one state; words of questions come again.
    """
    return read_through_cache(
        scan, terms, lambda missing: _read_postings(connection, scan, missing)
    )


def read_through_cache(
    scan: PostingsRows, terms: Sequence[str], read_: Callable[[list[str]], list[tuple[Any, Any]]]
) -> dict[str, tuple[Any, Any]]:
    """The terms' postings, of which only those that are not in memory are read."""
    missing = [term for term in terms if term not in scan.cached_postings]
    read = dict(zip(missing, read_(missing) if missing else [], strict=True))
    # Taken out and put in again: the front of the dictionary is what was not asked for longest.
    found = {term: read[term] if term in read else scan.cached_postings.pop(term) for term in terms}
    scan.cached_postings.update(found)
    if not missing:
        return found
    kept = sum(_cache_cost(one) for one in scan.cached_postings.values())
    for term in list(scan.cached_postings):
        if kept <= max(_MAX_CACHED_POSTINGS, _CACHED_POSTINGS_PER_ROW * len(scan.ids)):
            break
        kept -= _cache_cost(scan.cached_postings.pop(term))
    return found


def _cache_cost(found: tuple[Any, Any]) -> int:
    return len(found[0]) + 2_000  # so that there are never very many rare terms


def _read_postings(connection: sqlite3.Connection, scan: Scan, terms: Sequence[str]) -> list[Any]:
    import numpy as np

    known = _known(connection, terms)
    blobs: dict[int, list[bytes]] = {number: [] for number, _ in known.values()}
    for some in iter_batches(sorted(blobs)):
        query = (
            f"SELECT term, CAST(places AS BLOB) FROM postings WHERE term IN ({placeholders(some)})"
        )
        for number, blob in connection.execute(query, some):
            blobs[number].append(blob)
    found = []
    for term in terms:
        number, checksum = known.get(term, (0, 0))
        data = b"".join(blobs.get(number, ()))
        places = np.frombuffer(data[: len(data) // 8 * 8], dtype="<i8")
        total = int(np.sum(places.view("<u8"), dtype=np.uint64))
        ids = places >> 16
        positions = np.searchsorted(scan.ids, ids)
        if sum_of_places(term, total, len(places)) != checksum or not np.array_equal(
            scan.ids.take(positions, mode="clip"), ids
        ):
            raise damage(_WHAT)
        found.append((positions.astype(np.int32), (places & MAX_COUNT).astype(np.uint16)))
    return found


def _known(connection: sqlite3.Connection, terms: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Term → its row id and checksum, as far as there are any."""
    found: dict[str, tuple[int, int]] = {}
    for some in iter_batches(terms):
        query = (
            "SELECT term, id, checksum FROM terms INDEXED BY sqlite_autoindex_terms_1 "
            f"WHERE term IN ({placeholders(some)})"
        )
        found.update((row[0], row[1:]) for row in connection.execute(query, some))
    for some in iter_batches([term for term in terms if term not in found]):
        query = f"SELECT 1 FROM terms INDEXED BY terms_again WHERE term IN ({placeholders(some)})"
        if connection.execute(query, some).fetchone():
            raise damage(_WHAT)
    return found


def bm25(found: Mapping[str, tuple[Any, Any]], view: View) -> Any:
    """BM25 of every row, float64; idf and average length are of what the view holds.

    A term that stands in more than half of the rows is left out where a rarer one is there. Rows
    that are not readable score 0.
    """
    import numpy as np

    weights = idfs(
        [_document_frequency(view, term, found[term][0]) for term in found], view.row_count
    )
    told = [
        (positions, term_scores(occurrences, view.damping.take(positions), weight))
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


def _document_frequency(view: View, term: str, positions: Any) -> int:
    """In how many of the readable rows the term is."""
    import numpy as np

    known = view.frequencies.get(term)
    if known is None:
        mine = positions if view.mask is None else view.mask[positions]
        known = len(mine) if view.mask is None else int(np.count_nonzero(mine))
        if len(view.frequencies) < _MAX_CACHED_FREQUENCIES:
            view.frequencies[term] = known
    return known

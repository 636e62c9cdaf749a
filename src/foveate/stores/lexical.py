"""The rows that a reader may read, and exact BM25 with statistics of these rows alone.

FTS5's `bm25()` takes its statistics over all rows, which would reveal documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

import numpy as np

from foveate.core.state import combine_states
from foveate.stores.checksums import damage, sum_of_places
from foveate.stores.filters import iter_batches, placeholders
from foveate.stores.int8 import ScannedRows
from foveate.stores.scoring import damping, decode_places, idfs, term_scores
from foveate.stores.sqlite import contents
from foveate.stores.vectors import Scan

_MAX_VIEWS = 16
"""Views, of 9 bytes a row each; and readers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """The rows of some audiences. `mask`: booleans by position, None where all are."""

    audiences: tuple[int, ...]
    mask: Any
    row_count: int
    term_count: int
    damping: Any
    """By position, float64: what BM25 adds to a term's occurrences."""


def view_for_principals(
    connection: Connection, scan: Scan, principals: Iterable[str]
) -> tuple[View, bytes]:
    """What these principals may read, and the lattice hash of it."""
    names = tuple(sorted(set(principals)))
    known = scan.readers.pop(names, None)
    if known is None:
        found = contents.readable_audiences(connection, names)
        known = tuple(row[0] for row in found), combine_states(row[2] for row in found)
    scan.readers[names] = known
    for old in list(scan.readers)[:-_MAX_VIEWS]:
        scan.readers.pop(old, None)
    return view_for_audiences(scan, known[0]), known[1]


def view_for_audiences(scan: ScannedRows, ids: Iterable[int]) -> View:
    """What these audiences may read."""
    allowed = tuple(sorted(ids))
    # Taken out and put in again: the front is what was not asked for longest.
    view: View = scan.views.pop(allowed, None) or build_view(scan, allowed)
    scan.views[allowed] = view
    for old in list(scan.views)[:-_MAX_VIEWS]:
        scan.views.pop(old, None)
    return view


def build_view(scan: ScannedRows, allowed: tuple[int, ...]) -> View:
    """The view of these audiences."""
    mask = np.isin(scan.audiences, np.array(allowed, dtype=np.int32))
    rows = int(np.count_nonzero(mask))
    words = int(scan.terms[mask].sum(dtype=np.int64))
    return View(
        audiences=allowed,
        mask=None if rows == len(mask) else mask,
        row_count=rows,
        term_count=words,
        damping=damping(scan.terms, total=rows, words=max(words, 1)),
    )


_MAX_CACHED_POSTINGS, _CACHED_POSTINGS_PER_ROW = 8_000_000, 32
"""Postings that are kept in memory, of 6 bytes each, whichever is more: 48 MB, or 192 a row."""

_WHAT = "its full-text index is not as it was written"


def read_through_cache(
    scan: ScannedRows, terms: Sequence[str], read_: Callable[[list[str]], list[tuple[Any, Any]]]
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


def read_postings(connection: Connection, scan: Scan, terms: Sequence[str]) -> list[Any]:
    """Per term: positions in the scan, and how often; raises for damage."""
    known = _load_term_rows(connection, terms)
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
        ids, counts = decode_places(places)
        positions = np.searchsorted(scan.ids, ids)
        if sum_of_places(term, total, len(places)) != checksum or not np.array_equal(
            scan.ids.take(positions, mode="clip"), ids
        ):
            raise damage(_WHAT)
        found.append((positions.astype(np.int32), counts))
    return found


def _load_term_rows(connection: Connection, terms: Sequence[str]) -> dict[str, tuple[int, int]]:
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
    """BM25 of every row, float64, with the view's statistics; 0 for rows that may not be read."""
    frequencies = [
        len(rows) if view.mask is None else int(np.count_nonzero(view.mask[rows]))
        for rows, _ in found.values()
    ]
    weights = idfs(frequencies, view.row_count)
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

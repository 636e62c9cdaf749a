"""BM25 over an inverted index in plain tables: exact, and blind to what one may not read.

Not FTS5: its `bm25()` takes idf and average length over all rows, so that a score tells about
documents that the reader may not see. Here both are taken over what the request may read. The
formula is in `bm25.py`.
"""

from __future__ import annotations

import sqlite3
import sys
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from foveate.adapters.stores.bm25 import MOST, scores
from foveate.adapters.stores.filters import marks, sliced
from foveate.adapters.stores.vectors import Scan
from foveate.core.errors import OutsideFailure

_KEPT = 8_000_000
"""Postings that are kept in memory, of 6 bytes each: 48 MB at the most."""


def index(
    connection: sqlite3.Connection, document: int, terms: Mapping[int, Sequence[str]]
) -> None:
    """Add a document's postings; `terms`: chunk row id → its terms."""
    places = places_of(terms)
    connection.executemany(
        "INSERT OR IGNORE INTO terms (term) VALUES (?)", [(term,) for term in sorted(places)]
    )
    named: list[tuple[int, str]] = []
    for some in sliced(list(places)):
        query = f"SELECT id, term FROM terms WHERE term IN ({marks(some)})"
        named.extend(connection.execute(query, some))
    named.sort()  # by id, as the table is ordered: neighbouring rows share pages
    connection.executemany(
        "INSERT INTO postings VALUES (?, ?, ?)",
        [(number, document, packed(places[term])) for number, term in named],
    )
    numbers = packed([number for number, _ in named])
    connection.execute("INSERT INTO indexed VALUES (?, ?)", (document, numbers))


def places_of(terms: Mapping[int, Sequence[str]]) -> dict[str, list[int]]:
    """Per term, the chunks that hold it and how often, as one number each, ascending."""
    places: dict[str, list[int]] = {}
    for chunk in sorted(terms):
        for term, count in Counter(terms[chunk]).items():
            places.setdefault(term, []).append(chunk << 16 | min(count, MOST))
    return places


def unindex(connection: sqlite3.Connection, document: int) -> None:
    """Take a document's postings out; terms that are left without any do no harm."""
    query = "SELECT terms FROM indexed WHERE document = ?"
    for (numbers,) in connection.execute(query, (document,)).fetchall():
        connection.executemany(
            "DELETE FROM postings WHERE term = ? AND document = ?",
            [(number, document) for number in unpacked(numbers)],
        )
    connection.execute("DELETE FROM indexed WHERE document = ?", (document,))


def postings(connection: sqlite3.Connection, scan: Scan, terms: Sequence[str]) -> list[Any]:
    """Per term, in the order given: (positions in the scan, occurrences).

    What was read is kept with the scan, which is of one state; words of questions come again.
    """
    missing = [term for term in terms if term not in scan.words]
    read = dict(zip(missing, _read(connection, scan, missing), strict=True))
    # Taken out and put in again: the front of the dictionary is what was not asked for longest.
    found = {term: read[term] if term in read else scan.words.pop(term) for term in terms}
    scan.words.update(found)
    kept = sum(_weight(one) for one in scan.words.values())
    for term in list(scan.words):
        if kept <= _KEPT:
            break
        kept -= _weight(scan.words.pop(term))
    return [found[term] for term in terms]


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


def bm25(found: Sequence[Any], lengths: Any, readable: Any) -> Any:
    """BM25 of every row; `readable` (booleans) is what idf and average length are taken over.

    Rows that are not readable score 0.
    """
    import numpy as np

    total = int(np.count_nonzero(readable))
    words = int(lengths[readable].sum(dtype=np.int64))
    seen = []
    for positions, occurrences in found:
        mine = readable[positions]
        seen.append((positions[mine], occurrences[mine]))
    return scores(seen, lengths, total=total, words=words)


def packed(numbers: Sequence[int]) -> bytes:
    """Little-endian int64, on any machine."""
    blob = array("q", numbers)
    if sys.byteorder == "big":
        blob.byteswap()
    return blob.tobytes()


def unpacked(blob: bytes) -> array[int]:
    """The numbers that were packed."""
    numbers = array("q", blob)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers

"""The inverted index in plain tables: which chunks hold a term, and how often.

Rules: a row holds a term's places in one document or in several that follow one another; it stands
under the first of them, its places ascend, and no row of a term reaches into the next one's
documents, so that the row which holds a document can be found. What one transaction puts waits in
memory until somebody reads or the transaction ends: a hundred documents then write a term once.
"""

from __future__ import annotations

import sqlite3
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from foveate.adapters.stores.bm25 import MOST
from foveate.adapters.stores.filters import marks, sliced

_WIDE = 120
"""Places in a row, unless one document has more: 960 bytes, beyond which SQLite splits a row."""
_WAITING = 2_000_000
"""Places that may wait in memory: some 200 MB."""


@dataclass(slots=True)
class Pending:
    """Documents of a transaction whose terms are not in the tables yet."""

    entries: list[tuple[int, Mapping[str, list[int]]]] = field(default_factory=list)
    waiting: int = 0

    def add(self, document: int, terms: Mapping[int, Sequence[str]]) -> None:
        """A document that comes after all others; `terms`: chunk row id → its terms."""
        places = places_of(terms)
        self.entries.append((document, places))
        self.waiting += sum(map(len, places.values()))

    def full(self) -> bool:
        """Whether it should be written before more is added."""
        return self.waiting > _WAITING

    def drop(self, document: int) -> None:
        """A document that goes again before it was written."""
        self.entries = [entry for entry in self.entries if entry[0] != document]

    def restore(self, entries: Sequence[tuple[int, Mapping[str, list[int]]]]) -> None:
        """What waited when a transaction began that has failed."""
        self.entries = list(entries)
        self.waiting = sum(len(some) for _, places in entries for some in places.values())

    def flush(self, connection: sqlite3.Connection) -> None:
        """Write it all, or nothing and it goes on waiting."""
        if not self.entries:
            return
        connection.execute("SAVEPOINT words")
        try:
            _write(connection, self.entries)
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK TO words")
            raise
        connection.execute("RELEASE words")
        self.restore(())


def _write(
    connection: sqlite3.Connection, entries: Iterable[tuple[int, Mapping[str, list[int]]]]
) -> None:
    rows: dict[str, list[tuple[int, list[int]]]] = {}
    for document, places in entries:
        for term, some in places.items():
            of_term = rows.setdefault(term, [])
            if of_term and len(of_term[-1][1]) + len(some) <= _WIDE:
                of_term[-1][1].extend(some)
            else:
                of_term.append((document, some.copy()))
    numbers = _numbers(connection, sorted(rows))
    # By id, as the table is ordered: neighbouring rows share pages.
    connection.executemany(
        "INSERT INTO postings VALUES (?, ?, ?)",
        [
            (number, document, packed(places))
            for term, number in sorted(numbers.items(), key=itemgetter(1))
            for document, places in rows[term]
        ],
    )
    connection.executemany(
        "INSERT INTO indexed VALUES (?, ?)",
        [
            (document, packed(sorted(numbers[term] for term in places)))
            for document, places in entries
        ],
    )


def _numbers(connection: sqlite3.Connection, terms: Sequence[str]) -> dict[str, int]:
    """The terms' row ids, made where they are new."""
    connection.executemany(
        "INSERT OR IGNORE INTO terms (term) VALUES (?)", [(term,) for term in terms]
    )
    found: dict[str, int] = {}
    for some in sliced(terms):
        query = f"SELECT term, id FROM terms WHERE term IN ({marks(some)})"
        found.update(connection.execute(query, some))
    return found


def places_of(terms: Mapping[int, Sequence[str]]) -> dict[str, list[int]]:
    """Per term, the chunks that hold it and how often, as one number each, ascending."""
    places: dict[str, list[int]] = {}
    for chunk in sorted(terms):
        for term, count in Counter(terms[chunk]).items():
            number = chunk << 16 | min(count, MOST)
            if term in places:
                places[term].append(number)
            else:
                places[term] = [number]
    return places


def unindex(connection: sqlite3.Connection, document: int) -> None:
    """Take a document's places out while its chunks are there; terms left without any do no harm.

    Raises `ValueError` where its list of terms holds other than whole numbers.
    """
    noted = connection.execute("SELECT terms FROM indexed WHERE document = ?", (document,))
    query = "SELECT id FROM chunks WHERE document = ?"
    chunks = {row[0] for row in connection.execute(query, (document,))}
    query = (
        "SELECT document, places FROM postings WHERE term = ? AND document <= ? "
        "ORDER BY document DESC LIMIT 1"
    )
    for (numbers,) in noted.fetchall():
        for term in unpacked(numbers):
            row = connection.execute(query, (term, document)).fetchone()
            if row is None:
                continue
            kept = [place for place in unpacked(row[1]) if place >> 16 not in chunks]
            if kept:
                update = "UPDATE postings SET places = ? WHERE term = ? AND document = ?"
                connection.execute(update, (packed(kept), term, row[0]))
            else:
                delete = "DELETE FROM postings WHERE term = ? AND document = ?"
                connection.execute(delete, (term, row[0]))
    connection.execute("DELETE FROM indexed WHERE document = ?", (document,))


def merge(connection: sqlite3.Connection) -> None:
    """Write the places anew, so many documents to a row as fit: fewer rows to read."""
    connection.execute(
        "CREATE TABLE merged (term INTEGER NOT NULL, document INTEGER NOT NULL, "
        "places BLOB NOT NULL, PRIMARY KEY (term, document)) WITHOUT ROWID"
    )
    found = connection.execute("SELECT term, document, places FROM postings ORDER BY 1, 2")
    connection.executemany("INSERT INTO merged VALUES (?, ?, ?)", _merged(found))
    connection.execute("DROP TABLE postings")
    connection.execute("ALTER TABLE merged RENAME TO postings")


def _merged(rows: Iterable[tuple[int, int, bytes]]) -> Iterator[tuple[int, int, bytes]]:
    for term, of_term in groupby(rows, key=itemgetter(0)):
        first, waiting = 0, b""
        for _, document, places in of_term:
            if waiting and len(waiting) + len(places) <= 8 * _WIDE:
                waiting += places
                continue
            if waiting:
                yield term, first, waiting
            first, waiting = document, places
        yield term, first, waiting


def packed(numbers: Iterable[int]) -> bytes:
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

"""The inverted index in plain tables: which chunks hold a term, and how often.

A row holds a term's places, ascending, in one document or several, under the first of them; no row
reaches into the documents of the next. Places wait in memory until a read or the end of the
transaction, so that a hundred documents write a term once.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from sqlite3 import Connection

from foveate.stores.checksums import MASK, damage, sum_of_places
from foveate.stores.filters import iter_batches, placeholders
from foveate.stores.scoring import MAX_COUNT

_PLACES_PER_ROW = 120
"""Places in a row, unless one document has more: 960 bytes, beyond which SQLite splits a row."""
_MAX_PENDING_PLACES = 2_000_000
"""Places that may wait in memory: some 200 MB."""


@dataclass(slots=True)
class PendingPostings:
    """Documents of a transaction whose terms are not in the tables yet."""

    entries: list[tuple[int, dict[str, list[int]]]] = field(default_factory=list)
    place_count: int = 0
    parted: set[int] = field(default_factory=set)
    """Documents that are written in parts; their rows hold no places of those before them."""

    def add(self, document: int, terms: Mapping[int, Sequence[str]]) -> None:
        """More of the last document, or one behind it; `terms`: chunk row id → its terms."""
        places = places_from_terms(terms)
        if self.entries and self.entries[-1][0] == document:
            for term, some in places.items():
                self.entries[-1][1].setdefault(term, []).extend(some)
        else:
            self.entries.append((document, places))
        self.place_count += sum(map(len, places.values()))

    def is_full(self) -> bool:
        """Whether it should be written before more is added."""
        return self.place_count > _MAX_PENDING_PLACES

    def drop(self, document: int) -> None:
        """A document that goes again before it was written."""
        self.entries = [entry for entry in self.entries if entry[0] != document]

    def begin(self) -> None:
        """Nothing waits: a transaction begins."""
        self.parted.clear()
        self.restore(())

    def restore(self, entries: Sequence[tuple[int, dict[str, list[int]]]]) -> None:
        """What waited when a transaction began that has failed."""
        self.entries = list(entries)
        self.place_count = sum(len(some) for _, places in entries for some in places.values())

    def flush(self, connection: Connection, *, unfinished: int = 0) -> None:
        """Write it all, or nothing and it goes on waiting; `unfinished`: more of that will come."""
        if not self.entries:
            return
        if unfinished:
            self.parted.add(unfinished)
        connection.execute("SAVEPOINT words")
        try:
            _write_postings(connection, self.entries, self.parted)
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK TO words")
            raise
        connection.execute("RELEASE words")
        self.restore(())


def _write_postings(
    connection: Connection, entries: Sequence[tuple[int, Mapping[str, list[int]]]], parted: set[int]
) -> None:
    rows: dict[str, list[tuple[int, list[int]]]] = {}
    for document, places in entries:
        for term, some in places.items():
            of_term = rows.setdefault(term, [])
            is_own = not of_term or document in parted
            if not is_own and len(of_term[-1][1]) + len(some) <= _PLACES_PER_ROW:
                of_term[-1][1].extend(some)
            else:
                of_term.append((document, some.copy()))
    sums = {
        term: sum_of_places(term, *_added_up(places for _, places in some))
        for term, some in rows.items()
    }
    numbers = _term_ids(connection, sums)
    # By id, as the table is ordered: neighbouring rows share pages.
    connection.executemany(
        "INSERT INTO postings VALUES (?, ?, ?) ON CONFLICT (term, document) "
        "DO UPDATE SET places = CAST(places || excluded.places AS BLOB)",
        [
            (number, document, encode_int64s(places))
            for term, number in sorted(numbers.items(), key=itemgetter(1))
            for document, places in rows[term]
        ],
    )
    noted = {document: {numbers[term] for term in places} for document, places in entries}
    for document in parted & noted.keys():
        noted[document] |= _noted(connection, document)
    connection.executemany(
        "INSERT OR REPLACE INTO indexed VALUES (?, ?)",
        [(document, encode_int64s(sorted(terms))) for document, terms in noted.items()],
    )


def _noted(connection: Connection, document: int) -> set[int]:
    """The terms of the part of a document that has been written before."""
    query = "SELECT terms FROM indexed WHERE document = ?"
    found = connection.execute(query, (document,)).fetchone()
    return set(decode_int64s(found[0])) if found else set()


def _term_ids(connection: Connection, sums: Mapping[str, int]) -> dict[str, int]:
    """The terms' row ids, made where they are new; their checksums have grown by `sums`."""
    connection.executemany(
        "INSERT INTO terms (term, checksum) VALUES (?, ?) ON CONFLICT (term) "
        f"DO UPDATE SET checksum = (checksum + excluded.checksum) & {MASK}",
        sorted(sums.items()),
    )
    found: dict[str, int] = {}
    for some in iter_batches(sorted(sums)):
        query = f"SELECT term, id FROM terms WHERE term IN ({placeholders(some)})"
        found.update(connection.execute(query, some))
    return found


def places_from_terms(terms: Mapping[int, Sequence[str]]) -> dict[str, list[int]]:
    """Per term, the chunks that hold it and how often, as one number each, ascending."""
    places: dict[str, list[int]] = {}
    for chunk in sorted(terms):
        for term, count in Counter(terms[chunk]).items():
            number = chunk << 16 | min(count, MAX_COUNT)
            if term in places:
                places[term].append(number)
            else:
                places[term] = [number]
    return places


def unindex(connection: Connection, document: int) -> None:
    """Delete a document's places while its chunks exist; raises for damaged terms."""
    noted = connection.execute("SELECT terms FROM indexed WHERE document = ?", (document,))
    query = "SELECT id FROM chunks WHERE document = ?"
    chunks = {row[0] for row in connection.execute(query, (document,))}
    query = (
        "SELECT p.document, p.places, t.term FROM terms AS t JOIN postings AS p ON p.term = t.id "
        "WHERE t.id = ? AND p.document <= ? ORDER BY p.document DESC LIMIT 1"
    )
    lessen = f"UPDATE terms SET checksum = (checksum - ?) & {MASK} WHERE id = ?"
    for (numbers,) in noted.fetchall():
        for term in decode_int64s(numbers):
            row = connection.execute(query, (term, document)).fetchone()
            if row is None:
                continue
            places = decode_int64s(row[1])
            kept = [place for place in places if place >> 16 not in chunks]
            gone = [place for place in places if place >> 16 in chunks]
            connection.execute(lessen, (sum_of_places(row[2], *_added_up([gone])), term))
            if kept:
                update = "UPDATE postings SET places = ? WHERE term = ? AND document = ?"
                connection.execute(update, (encode_int64s(kept), term, row[0]))
            else:
                delete = "DELETE FROM postings WHERE term = ? AND document = ?"
                connection.execute(delete, (term, row[0]))
    connection.execute("DELETE FROM indexed WHERE document = ?", (document,))


def _added_up(rows: Iterable[Sequence[int]]) -> tuple[int, int]:
    """What all places add up to, and how many they are."""
    found = [(sum(places), len(places)) for places in rows]
    return sum(total for total, _ in found), sum(count for _, count in found)


def merge(connection: Connection) -> None:
    """Write the places again with as many documents to a row as fit."""
    connection.execute(
        "CREATE TABLE merged (term INTEGER NOT NULL, document INTEGER NOT NULL, "
        "places BLOB NOT NULL, PRIMARY KEY (term, document)) WITHOUT ROWID"
    )
    found = connection.execute("SELECT term, document, places FROM postings ORDER BY 1, 2")
    connection.executemany("INSERT INTO merged VALUES (?, ?, ?)", _merge_rows(found))
    connection.execute("DROP TABLE postings")
    connection.execute("ALTER TABLE merged RENAME TO postings")


def _merge_rows(rows: Iterable[tuple[int, int, bytes]]) -> Iterator[tuple[int, int, bytes]]:
    for term, of_term in groupby(rows, key=itemgetter(0)):
        first, waiting = 0, b""
        for _, document, places in of_term:
            if waiting and len(waiting) + len(places) <= 8 * _PLACES_PER_ROW:
                waiting += places
                continue
            if waiting:
                yield term, first, waiting
            first, waiting = document, places
        yield term, first, waiting


def encode_int64s(numbers: Sequence[int]) -> bytes:
    """Little-endian int64, on any machine."""
    return struct.pack(f"<{len(numbers)}q", *numbers)


def decode_int64s(blob: bytes) -> tuple[int, ...]:
    """The numbers that were packed; raises for damage."""
    try:
        return struct.unpack(f"<{len(blob) // 8}q", blob)
    except struct.error:
        raise damage("its full-text index is not as it was written") from None

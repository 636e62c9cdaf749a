"""The inverted index in plain tables: which chunks hold a term, and how often.

A row holds up to 120 of a term's places, ascending, under the chunk of the first; no row reaches
behind the first place of the next. Places wait in memory until a read or the end of the
transaction, so that a hundred documents write a term once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import itemgetter
from sqlite3 import Connection
from typing import Any, TypeAlias

import numpy as np

from foveate.stores.checksums import MASK, damage, sum_of_places
from foveate.stores.scoring import decode_places, encode_places, group_terms
from foveate.stores.sqlite.vectors import Scan

_PLACES_PER_ROW = 120
"""960 bytes, beyond which SQLite splits a row."""
_MAX_PENDING_PLACES = 2_000_000
"""Places that may wait in memory, of 16 bytes each."""
_WHAT = "its full-text index is not as it was written"
_NAMED = "WHERE term IN (SELECT value FROM json_each(?))"

Entry: TypeAlias = tuple[int, list[str], Any, Any]
"""A document's row id, terms of its chunks, and of each place the term's number, and the place."""


@dataclass(slots=True)
class PendingPostings:
    """Documents of a transaction whose terms are not in the tables yet."""

    entries: list[Entry] = field(default_factory=list)
    _since: int = 0
    """Places since they were counted: never less than have come since."""

    def add(self, document: int, terms: Mapping[int, Sequence[str]]) -> None:
        """Chunks of a document, behind all others; `terms`: chunk row id → its terms."""
        entry = (document, *group_places(terms))
        self.entries.append(entry)
        self._since += len(entry[-1])

    def is_full(self) -> bool:
        """Whether it should be written before more is added."""
        if self._since <= _MAX_PENDING_PLACES // 4:
            return False
        self._since = 0
        return sum(len(entry[-1]) for entry in self.entries) > _MAX_PENDING_PLACES

    def drop(self, document: int) -> None:
        """A document that goes again before it was written."""
        self.entries = [entry for entry in self.entries if entry[0] != document]

    def flush(self, connection: Connection) -> None:
        """Write it all, or nothing and it goes on waiting."""
        if not self.entries:
            return
        connection.execute("SAVEPOINT words")
        try:
            _write_postings(connection, self.entries)
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK TO words")
            raise
        connection.execute("RELEASE words")
        self.entries = []


def _write_postings(connection: Connection, entries: Sequence[Entry]) -> None:
    numbers: dict[str, int] = {}
    owners = [
        np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)[term]
        for _, names, term, _ in entries
    ]
    if not numbers:
        return
    term = np.concatenate(owners)
    order = np.argsort(term, kind="stable")
    places = np.concatenate([entry[-1] for entry in entries])[order].astype("<i8")
    bounds = np.searchsorted(term[order], np.arange(len(numbers) + 1))
    spans = list(pairwise(bounds.tolist()))
    ids = _term_ids(connection, sums_by_term(list(numbers), places, bounds))
    # By id, as the table is ordered: neighbouring rows share pages.
    connection.executemany(
        "INSERT INTO postings VALUES (?, ?, ?)",
        [
            (number, *row)
            for number, (start, end) in sorted(zip(map(ids.get, numbers), spans, strict=True))
            for row in _split_rows(places[start:end].tobytes())
        ],
    )


def group_places(terms: Mapping[int, Sequence[str]]) -> tuple[list[str], Any, Any]:
    """Terms, and of each place the term's number, ascending, and the place; see `Entry`."""
    names, term, text, counts = group_terms(list(terms.values()))
    return names, term, encode_places(np.array(list(terms), dtype=np.int64)[text], counts)


def sums_by_term(names: Sequence[str], places: Any, bounds: Any) -> dict[str, int]:
    """The sum over each term's places, which are between two of the bounds."""
    totals = np.add.reduceat(places.view("<u8"), bounds[:-1]).tolist() if len(places) else []
    many = np.diff(bounds).tolist()
    return {
        name: sum_of_places(name, total, count)
        for name, total, count in zip(names, totals, many, strict=True)
    }


def _split_rows(places: bytes) -> Iterator[tuple[int, bytes]]:
    """Places as rows: the chunk of the first, and the places."""
    for at in range(0, len(places), 8 * _PLACES_PER_ROW):
        row = places[at : at + 8 * _PLACES_PER_ROW]
        yield int.from_bytes(row[:8], "little") >> 16, row


def _term_ids(connection: Connection, sums: Mapping[str, int]) -> dict[str, int]:
    """The terms' row ids, made where they are new; their checksums have grown by `sums`."""
    connection.executemany(
        "INSERT INTO terms (term, checksum) VALUES (?, ?) ON CONFLICT (term) "
        f"DO UPDATE SET checksum = (checksum + excluded.checksum) & {MASK}",
        sorted(sums.items()),
    )
    return dict(connection.execute(f"SELECT term, id FROM terms {_NAMED}", (json.dumps([*sums]),)))


def unindex(connection: Connection, first: int, last: int, terms: Iterable[str]) -> None:
    """Delete the places of the chunks from one row id to another, which hold these terms."""
    query = (
        "SELECT first, CAST(places AS BLOB) FROM postings WHERE term = ?1 AND first <= ?3 "
        "AND first >= coalesce("
        "(SELECT max(first) FROM postings WHERE term = ?1 AND first <= ?2), ?2)"
    )
    named = connection.execute(f"SELECT id, term FROM terms {_NAMED}", (json.dumps([*terms]),))
    for number, term in named.fetchall():
        for at, packed in connection.execute(query, (number, first, last)).fetchall():
            places = decode_row(packed)
            ids, _ = decode_places(places)
            mine = (first <= ids) & (ids <= last)
            kept, gone = places[~mine], places[mine]
            less = (sum_of_places(term, int(gone.sum()), len(gone)), number)
            connection.execute(
                f"UPDATE terms SET checksum = (checksum - ?) & {MASK} WHERE id = ?", less
            )
            change = "UPDATE postings SET places = ?" if len(kept) else "DELETE FROM postings"
            bound = [kept.tobytes()] if len(kept) else []
            connection.execute(f"{change} WHERE term = ? AND first = ?", [*bound, number, at])


def merge(connection: Connection) -> None:
    """Write the places again with as many to a row as fit."""
    connection.execute(
        "CREATE TABLE merged (term INTEGER NOT NULL, first INTEGER NOT NULL, "
        "places BLOB NOT NULL, PRIMARY KEY (term, first)) WITHOUT ROWID"
    )
    query = "SELECT term, CAST(places AS BLOB) FROM postings ORDER BY term, first"
    merged = (
        (term, *row)
        for term, rows in groupby(connection.execute(query), key=itemgetter(0))
        for row in _split_rows(b"".join(places for _, places in rows))
    )
    connection.executemany("INSERT INTO merged VALUES (?, ?, ?)", merged)
    connection.execute("DROP TABLE postings")
    connection.execute("ALTER TABLE merged RENAME TO postings")


def decode_row(places: bytes) -> Any:
    """The places of a row; raises for damage."""
    if len(places) % 8:
        raise damage(_WHAT)
    return np.frombuffer(places, dtype="<i8")


def read_postings(connection: Connection, scan: Scan, terms: Sequence[str]) -> list[Any]:
    """Per term: positions in the scan, and how often; raises for damage."""
    known = _load_term_rows(connection, terms)
    blobs: dict[int, list[bytes]] = {number: [] for number, _ in known.values()}
    query = (
        "SELECT term, CAST(places AS BLOB) FROM postings "
        "WHERE term IN (SELECT value FROM json_each(?)) ORDER BY term, first"
    )
    for number, blob in connection.execute(query, (json.dumps(list(blobs)),)):
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
    query = f"SELECT term, id, checksum FROM terms INDEXED BY sqlite_autoindex_terms_1 {_NAMED}"
    rows = connection.execute(query, (json.dumps(terms),))
    found = {term: (number, noted) for term, number, noted in rows}
    missing = [term for term in terms if term not in found]
    query = f"SELECT 1 FROM terms INDEXED BY terms_again {_NAMED}"
    if missing and connection.execute(query, (json.dumps(missing),)).fetchone():
        raise damage(_WHAT)
    return found

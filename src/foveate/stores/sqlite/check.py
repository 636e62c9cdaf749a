"""The check of an embedded store: all that is derived is computed again in one read transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import numpy as np

from foveate.core.errors import ExternalError
from foveate.stores.base import Finding, Report
from foveate.stores.checksums import sum_of_places
from foveate.stores.recount import Recount, mix_places
from foveate.stores.scoring import decode_places, encode_places, group_terms
from foveate.stores.sql.check import (
    PlaceSums,
    check_documents,
    checksum_findings,
    relation_findings,
    state_findings,
)
from foveate.stores.sqlite import schema, vectors
from foveate.stores.sqlite.database import SqliteDatabase
from foveate.stores.sqlite.postings import decode_row
from foveate.stores.sqlite.schema import load_facts, load_unverified_facts
from foveate.stores.sqlite.transactions import convert_engine_errors, is_damaged


def _check_rows(
    database: SqliteDatabase, recount: Recount[int], places: PlaceSums[str]
) -> Iterator[str]:
    """Rows that refer to nothing, and each document; adds up the `places` of terms."""
    yield from relation_findings(database, recount)
    for document in check_documents(database, recount, page=1):
        names, term, text, counts = group_terms(list(document.terms.values()))
        found = encode_places(np.array(list(document.terms), dtype=np.int64)[text], counts)
        _add_places(places, names, np.searchsorted(term, np.arange(len(names))), found)


def check_postings(connection: Connection, expected: PlaceSums[str]) -> Iterator[str]:
    """Terms whose places are not those of the chunks' texts, or stand out of order."""
    found = PlaceSums[str]()
    yield from _find_disorder(connection, found)
    noted = dict(connection.execute("SELECT term, checksum FROM terms"))
    yield from found.findings(noted, expected)


def _find_disorder(connection: Connection, found: PlaceSums[str]) -> Iterator[str]:
    """Rows of the index that no reader or writer would look for; adds up what stands in all."""
    before, last = None, -1
    query = (
        "SELECT p.term, t.term, p.first, CAST(p.places AS BLOB) FROM postings AS p "
        "LEFT JOIN terms AS t ON t.id = p.term ORDER BY p.term, p.first"
    )
    for number, term, first, packed in connection.execute(query):
        places = decode_row(packed)
        chunks, _ = decode_places(places)
        last = last if number == before else -1
        ascend = len(places) and last < first <= chunks[0] and (np.diff(places) > 0).all()
        if term is None or not ascend:
            yield f"the row of term {term or number} under chunk row {first} is out of order"
        before, last = number, int(chunks.max(initial=last))
        _add_places(found, [str(term)], np.zeros(1, np.int64), places)


def _add_places(sums: PlaceSums[str], terms: Sequence[str], starts: Any, places: Any) -> None:
    """Add up the terms' places, of which those of each begin at one of `starts`."""
    if not len(places):
        return
    mixed = np.add.reduceat(mix_places(places), starts).tolist()
    totals = np.add.reduceat(places.view("<u8"), starts).tolist()
    lengths = np.diff(starts, append=len(places)).tolist()
    for term, number, total, length in zip(terms, mixed, totals, lengths, strict=True):
        sums.count(term, number, sum_of_places(term, total, length))


def _check_facts(connection: Connection) -> Iterator[str]:
    try:
        load_facts(connection)
    except ExternalError:
        yield "the facts of the store are not those that were written"


def check(folder: Path | str) -> Report:
    """Check the store in `folder`; raises `BadInput` if there is none of this version."""
    folder = Path(folder)
    with convert_engine_errors():
        try:
            with closing(schema.connect_existing(folder, write=False)) as connection:
                schema.refuse_older(connection, folder)
                connection.execute("BEGIN")
                return _check_connection(connection, folder)
        except sqlite3.DatabaseError as error:
            if not is_damaged(error):
                raise
            return Report(findings=(Finding(part="file", what=str(error)),))


def _check_connection(connection: Connection, folder: Path) -> Report:
    facts = load_unverified_facts(connection)
    database = SqliteDatabase(
        connection=connection, embedder=str(facts.get("embedder")), dimensions=facts["dimensions"]
    )
    recount = Recount[int](passes=(sqlite3.DatabaseError,))
    places = PlaceSums[str]()
    parts = {
        "file": _check_integrity(connection),
        "rows": _check_rows(database, recount, places),
        "words": check_postings(connection, places),
        "vectors": _check_vectors(connection, folder, facts),
        "state": state_findings(database, recount),
        "checksums": chain(_check_facts(connection), checksum_findings(database)),
    }
    for name, findings in parts.items():
        recount.take(name, _readable(findings))
    return recount.report(database.embedder)


def _readable(findings: Iterator[str]) -> Iterator[str]:
    """The findings; where the file is damaged, that is one."""
    try:
        yield from findings
    except sqlite3.DatabaseError as error:
        if not is_damaged(error):
            raise
        yield f"cannot be read to its end: {error}"


def _check_integrity(connection: Connection) -> Iterator[str]:
    for (line,) in connection.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield line


def _check_vectors(connection: Connection, folder: Path, facts: Mapping[str, Any]) -> Iterator[str]:
    query = "SELECT chunk FROM scan WHERE length(vector) <> ?"
    wrong = connection.execute(query, (facts["dimensions"],)).fetchall()
    for (chunk,) in wrong:
        yield f"row {chunk}: its vector has not {facts['dimensions']} dimensions"
    if wrong:
        return
    live, _ = vectors.refresh_scan(connection, None, facts)
    if live.checksum != facts["scan"]:
        yield "the rows that a search scans are not those that were written"
    path = folder / vectors.FILE
    if not path.exists():
        return
    if vectors.load_scan(path, facts["dimensions"]) is None:
        yield f"{vectors.FILE} is damaged; it is not used, and the next search writes it again"

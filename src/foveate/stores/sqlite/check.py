"""The check of an embedded store, in one read transaction; see `sql.check`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import numpy as np

from foveate.stores.base import Finding, Report
from foveate.stores.checksums import MASK, StoreDamaged, sum_of_places, sum_of_vectors
from foveate.stores.filters import facts_to_index
from foveate.stores.recount import Recount
from foveate.stores.rows import terms_to_index
from foveate.stores.scoring import decode_places
from foveate.stores.sql.check import (
    audience_findings,
    check_documents,
    row_findings,
    word_findings,
)
from foveate.stores.sqlite import schema, vectors
from foveate.stores.sqlite.database import SqliteDatabase
from foveate.stores.sqlite.postings import decode_row, group_places, sums_by_term
from foveate.stores.sqlite.schema import load_facts
from foveate.stores.sqlite.transactions import convert_engine_errors, is_damaged


def check(folder: Path | str) -> Report:
    """Check the store in `folder`; raises `BadInput` if there is none of this version."""
    folder = Path(folder)
    with convert_engine_errors():
        try:
            with closing(schema.connect_existing(folder, write=False)) as connection:
                schema.refuse_older(connection, folder)
                connection.execute("BEGIN")
                return _check_connection(connection, folder)
        except (sqlite3.DatabaseError, StoreDamaged) as error:
            if isinstance(error, sqlite3.Error) and not is_damaged(error):
                raise
            return Report(findings=(Finding(part="file", what=str(error)),))


def _check_connection(connection: Connection, folder: Path) -> Report:
    facts = load_facts(connection)
    database = SqliteDatabase(
        connection=connection, embedder=facts["embedder"], dimensions=facts["dimensions"]
    )
    recount = Recount[int](passes=(sqlite3.DatabaseError,))
    sums: dict[str, int] = {}
    parts = {
        "file": _check_integrity(connection),
        "rows": chain(
            _check_rows(database, recount, sums, facts["scan"]), row_findings(database, recount)
        ),
        "words": check_words(connection, sums),
        "vectors": _check_vectors(folder, facts["dimensions"]),
        "state": audience_findings(database, recount),
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


def _check_rows(
    database: SqliteDatabase, recount: Recount[int], sums: dict[str, int], noted: int
) -> Iterator[str]:
    """Each document, and what searches scan; adds up the places of terms and facts."""
    scanned = 0
    for document, chunks in check_documents(database, recount, page=1):
        indexed = {
            each["id"]: [*terms_to_index(each), *facts_to_index(document, each)] for each in chunks
        }
        names, term, places = group_places(indexed)
        bounds = np.searchsorted(term, np.arange(len(names) + 1))
        for name, total in sums_by_term(names, places, bounds).items():
            sums[name] = sums.get(name, 0) + total & MASK
        width = database.dimensions
        data = np.frombuffer(b"".join(each["vector"] for each in chunks), dtype=np.int8)
        ids, audiences, terms = (
            [each[name] for each in chunks] for name in ("id", "audience", "terms")
        )
        scanned += sum_of_vectors(ids, audiences, terms, data.reshape(len(chunks), width))
    if scanned & MASK != noted:
        yield "the rows that a search scans are not those that were written"


def check_words(connection: Connection, expected: dict[str, int]) -> Iterator[str]:
    """Terms and facts whose places are not those of the chunks."""
    query = (
        "SELECT coalesce(t.term, p.term), p.first, CAST(p.places AS BLOB) FROM postings AS p "
        "LEFT JOIN terms AS t ON t.id = p.term ORDER BY p.term, p.first"
    )

    def read(term: Any, packed: bytes) -> tuple[Any, int]:
        places = decode_row(packed)
        return decode_places(places)[0], sum_of_places(
            str(term), int(places.view("<u8").sum(dtype=np.uint64)), len(places)
        )

    rows = ((term, first, read(term, data)) for term, first, data in connection.execute(query))
    noted = dict(connection.execute("SELECT term, checksum FROM terms"))
    ((largest,),) = connection.execute("SELECT coalesce(max(id), 0) FROM chunks")
    yield from word_findings(rows, noted, expected, largest)


def _check_vectors(folder: Path, dimensions: int) -> Iterator[str]:
    path = folder / vectors.FILE
    if path.exists() and vectors.load_scan(path, dimensions) is None:
        yield f"{vectors.FILE} is damaged; it is not used, and the next search writes it again"

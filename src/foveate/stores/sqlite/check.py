"""The check of an embedded store: all that is derived is computed again in one read transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import numpy as np

from foveate.core.errors import ExternalError
from foveate.stores.base import Finding, Report
from foveate.stores.checksums import MASK, checksum, sum_of_places
from foveate.stores.recount import Recount, mix_places
from foveate.stores.rows import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    quote_columns,
)
from foveate.stores.scoring import decode_places, encode_places, group_terms
from foveate.stores.sqlite import schema, vectors
from foveate.stores.sqlite.postings import decode_row
from foveate.stores.sqlite.schema import load_facts, load_unverified_facts
from foveate.stores.sqlite.transactions import convert_engine_errors, is_damaged

# What must find nothing, and what it means where it does; `{}` is the row found.
_RELATIONS = (
    (
        "chunk {!r} belongs to no document",
        "SELECT chunk_id FROM chunks WHERE document NOT IN (SELECT id FROM documents)",
    ),
    (
        "row {} is searched and is no chunk",
        "SELECT chunk FROM scan WHERE chunk NOT IN (SELECT id FROM chunks)",
    ),
)

# How a row is named, what its checksum is of, and the checksum.
_CHECKED = (
    (
        "the audience {} is not as it was written",
        "SELECT principals, id, principals, state, documents, chunks, checksum FROM audiences",
    ),
    (
        "the tokens of the text {} are damaged; they are not used, and counted again",
        "SELECT hash, fingerprint, hash, tokens, checksum FROM counts",
    ),
)
_DOCUMENT_COLUMNS = ("id", "audience", "text", *DOCUMENT_FIELDS)
_CHUNK_COLUMNS = ("id", "audience", "checksum", *CHUNK_FIELDS)


def check_rows(
    connection: Connection, recount: Recount[int], places: dict[str, tuple[int, int]]
) -> Iterator[str]:
    """Rows that refer to nothing, and each document; adds up the `places` of terms."""
    for said, query in _RELATIONS:
        for (found,) in connection.execute(query):
            yield said.format(found)
    recount.principals.update(connection.execute("SELECT id, principals FROM audiences"))
    yield from recount.member_findings(
        connection.execute("SELECT principal, audience FROM members")
    )
    query = f"SELECT {quote_columns(_DOCUMENT_COLUMNS)} FROM documents ORDER BY id"
    for document in connection.execute(query):
        number = document[:1]
        columns = quote_columns(_CHUNK_COLUMNS)
        query = f"SELECT {columns} FROM chunks WHERE document = ? ORDER BY id"
        chunks = [
            dict(zip(_CHUNK_COLUMNS, chunk, strict=True))
            for chunk in connection.execute(query, number)
        ]
        query = (
            "SELECT chunk, audience, terms, vector FROM scan "
            "WHERE chunk IN (SELECT id FROM chunks WHERE document = ?)"
        )
        terms = recount.check_document(
            dict(zip(_DOCUMENT_COLUMNS, document, strict=True)),
            chunks,
            {row[0]: row[1:] for row in connection.execute(query, number)},
            connection.execute("SELECT * FROM outlines WHERE document = ?", number).fetchone(),
        )
        names, term, text, counts = group_terms(list(terms.values()))
        found = encode_places(np.array(list(terms), dtype=np.int64)[text], counts)
        _add_places(places, names, np.searchsorted(term, np.arange(len(names))), found)


def check_postings(connection: Connection, expected: dict[str, tuple[int, int]]) -> Iterator[str]:
    """Terms whose places are not those of the chunks' texts, or stand out of order."""
    found: dict[str, tuple[int, int]] = {}
    yield from _find_disorder(connection, found)
    for term, noted in connection.execute("SELECT term, checksum FROM terms"):
        if noted != found.get(term, (0, 0))[1]:
            yield f"the places of {term!r} are not those that were written"
    for term in expected.keys() | found.keys():
        if expected.get(term) != found.get(term):
            yield f"the places of {term!r} are not those of the texts"


def _find_disorder(connection: Connection, found: dict[str, tuple[int, int]]) -> Iterator[str]:
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


def _add_places(
    sums: dict[str, tuple[int, int]], terms: Sequence[str], starts: Any, places: Any
) -> None:
    """Add to the terms' sums: of numbers of their places, and the one that readers compare."""
    if not len(places):
        return
    mixed = np.add.reduceat(mix_places(places), starts).tolist()
    totals = np.add.reduceat(places.view("<u8"), starts).tolist()
    lengths = np.diff(starts, append=len(places)).tolist()
    for term, number, total, length in zip(terms, mixed, totals, lengths, strict=True):
        before = sums.get(term, (0, 0))
        more = sum_of_places(term, total, length)
        sums[term] = (before[0] + number) % (1 << 64), before[1] + more & MASK


def check_checksums(connection: Connection) -> Iterator[str]:
    """Rows that do not match their checksum, which readers refuse, and moved chunks."""
    try:
        load_facts(connection)
    except ExternalError:
        yield "the facts of the store are not those that were written"
    for said, query in _CHECKED:
        for row in connection.execute(query):
            if checksum(row[1:-1]) != row[-1]:
                yield said.format(row[0])


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
    recount = Recount[int](passes=(sqlite3.DatabaseError,))
    places: dict[str, tuple[int, int]] = {}
    parts = {
        "file": _check_integrity(connection),
        "rows": check_rows(connection, recount, places),
        "words": check_postings(connection, places),
        "vectors": _check_vectors(connection, folder),
        "state": _check_state(connection, recount),
        "checksums": check_checksums(connection),
    }
    for name, findings in parts.items():
        recount.take(name, _readable(findings))
    return recount.report(str(load_unverified_facts(connection).get("embedder")))


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


def _check_vectors(connection: Connection, folder: Path) -> Iterator[str]:
    facts = load_unverified_facts(connection)
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


def _check_state(connection: Connection, recount: Recount[int]) -> Iterator[str]:
    query = "SELECT id, principals, state, documents, chunks FROM audiences ORDER BY id"
    for audience, principals, state, *counted in connection.execute(query):
        yield from recount.state_findings(audience, principals, state, counted)

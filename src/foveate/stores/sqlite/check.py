"""The check of an embedded store: all that is derived is computed again in one read transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from blake3 import blake3

from foveate.core.errors import ExternalError
from foveate.stores import outlines, postings, vectors
from foveate.stores.checksums import MASK, checksum, sum_of_places
from foveate.stores.recount import Recount, text_findings
from foveate.stores.report import Finding, Report
from foveate.stores.rows import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    SELECT_CHUNK,
    chunk_members,
    document_member,
    quote_columns,
    terms_to_index,
)
from foveate.stores.sqlite import schema
from foveate.stores.sqlite.schema import load_facts, load_unverified_facts
from foveate.stores.sqlite.transactions import convert_engine_errors, is_damaged

# What must find nothing, and what it means where it does; `{}` is the row found.
_RELATIONS = (
    (
        "chunk {!r} belongs to no document",
        "SELECT chunk_id FROM chunks WHERE document NOT IN (SELECT id FROM documents)",
    ),
    (
        "chunk {!r} is not there for searches",
        "SELECT chunk_id FROM chunks WHERE id NOT IN (SELECT chunk FROM scan)",
    ),
    (
        "row {} is searched and is no chunk",
        "SELECT chunk FROM scan WHERE chunk NOT IN (SELECT id FROM chunks)",
    ),
    (
        "chunk {!r} is searched for other readers than its own",
        (
            "SELECT c.chunk_id FROM chunks AS c JOIN scan AS s ON s.chunk = c.id "
            "WHERE s.audience <> c.audience"
        ),
    ),
    (
        "the words of document row {} are kept, and it is gone",
        "SELECT document FROM indexed WHERE document NOT IN (SELECT id FROM documents)",
    ),
)
_HASH_MODULUS = 1 << 128

_DOCUMENT = ", ".join(f"d.{field}" for field in DOCUMENT_FIELDS)
# How a row is named, what its checksum is of, and the checksum.
_CHECKED = (
    (
        "the audience {} is not as it was written",
        "SELECT principals, id, principals, state, documents, chunks, checksum FROM audiences",
    ),
    (
        "document {!r} is not as it was written",
        (
            f"SELECT d.document_id, d.id, {_DOCUMENT}, d.audience, o.row_checksum "
            "FROM documents AS d LEFT JOIN outlines AS o ON o.document = d.id"
        ),
    ),
    (
        "chunk {!r} is not as it was written",
        f"SELECT c.chunk_id, {SELECT_CHUNK.strip().removeprefix('SELECT ')}",
    ),
    (
        "the place of chunk {!r} is not as it was written",
        (
            "SELECT c.chunk_id, c.id, d.source, c.sequence, coalesce(c.byte_offset, 0), "
            "c.chunk_id, c.key_checksum FROM chunks AS c JOIN documents AS d ON d.id = c.document"
        ),
    ),
    (
        "the tokens of the text {} are damaged; they are not used, and counted again",
        "SELECT hash, fingerprint, hash, tokens, checksum FROM counts",
    ),
)


def check_rows(connection: Connection, recount: Recount[int]) -> Iterator[str]:
    """Rows that refer to nothing, readers that differ, texts that are not what their hash says."""
    for said, query in _RELATIONS:
        for (found,) in connection.execute(query):
            yield said.format(found)
    recount.principals.update(connection.execute("SELECT id, principals FROM audiences"))
    yield from recount.member_findings(
        connection.execute("SELECT principal, audience FROM members")
    )
    fields = ("document_id", "text", "text_hash", "audience", "principals")
    for document in _iter_documents(connection, fields):
        number = document["id"]
        yield from text_findings(document, document["text"], _chunk_rows(connection, number))
        yield from recount.audience_findings(document, _chunk_rows(connection, number))


def check_postings(connection: Connection) -> Iterator[str]:
    """Documents whose postings are not those of their chunks' texts."""
    numbers = {term: number for number, term in connection.execute("SELECT id, term FROM terms")}
    expected: dict[int, int] = {}
    names: dict[int, str] = {}
    for document in _iter_documents(connection, ("document_id",)):
        number, name = document["id"], document["document_id"]
        names[number] = name
        terms = {}
        query = (
            "SELECT c.id, c.chunk_id, c.text, c.metadata, s.terms FROM chunks AS c "
            "LEFT JOIN scan AS s ON s.chunk = c.id WHERE c.document = ?"
        )
        for chunk, chunk_name, text, metadata, length in connection.execute(query, (number,)):
            terms[chunk] = terms_to_index({"text": text, "metadata": metadata})
            if length is not None and length != len(terms[chunk]):
                yield f"chunk {chunk_name!r} has {len(terms[chunk])} terms, not {length}"
        places = postings.places_from_terms(terms)
        ids = {numbers.get(term, 0): packed for term, packed in places.items()}
        expected[number] = (
            sum(_postings_hash(i, postings.encode_int64s(ids[i])) for i in ids) % _HASH_MODULUS
        )
        query = "SELECT terms FROM indexed WHERE document = ?"
        noted = connection.execute(query, (number,)).fetchone()
        if noted is None or sorted(postings.decode_int64s(noted[0])) != sorted(ids):
            yield f"document {name!r}: the list of its terms is not that of its text"
    odd = []
    for found in _iter_postings(connection):
        if isinstance(found, str):
            odd.append(found)
        elif found[1] in expected:
            number = found[1]
            expected[number] = (
                expected[number] - _postings_hash(found[0], found[2])
            ) % _HASH_MODULUS
    for number, left in expected.items():
        if left:
            yield f"document {names[number]!r}: the words it is found by are not those of its text"
    yield from odd


def _iter_postings(connection: Connection) -> Iterator[str | tuple[int, int, bytes]]:
    """Term id, document row and places of the index; places that belong nowhere as findings."""
    owners = dict(connection.execute("SELECT id, document FROM chunks"))
    gone = set[int]()
    before = (0, 0)  # term, and the last document of its last row
    query = "SELECT term, document, CAST(places AS BLOB) FROM postings ORDER BY term, document"
    for term, first, packed in connection.execute(query):
        documents, start = [], 0
        for document, some in groupby(
            owners.get(n >> 16, 0) for n in postings.decode_int64s(packed)
        ):
            end = start + 8 * sum(1 for _ in some)
            yield term, document, packed[start:end]
            documents.append(document)
            start = end
        if 0 in documents and first not in gone:
            gone.add(first)
            yield f"words are found under document row {first} in chunks that are gone"
        if documents != sorted(set(documents)) or not documents or documents[0] < first:
            yield f"the row of term {term} under document row {first} is out of order"
        elif before[0] == term and before[1] >= first:
            yield f"rows of term {term} overlap at document row {first}"
        before = (term, documents[-1] if documents else first)


def _postings_hash(term: int, packed: bytes) -> int:
    """A term's places as a number; their sum does not depend on the order."""
    return int.from_bytes(blake3(term.to_bytes(8, "little") + packed).digest(16), "little")


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
    for number, name, places, noted in connection.execute(
        "SELECT d.id, d.document_id, o.places, o.checksum FROM documents AS d "
        "LEFT JOIN outlines AS o ON o.document = d.id ORDER BY d.id"
    ):
        query = "SELECT sequence, id, audience FROM chunks WHERE document = ? ORDER BY id"
        found = connection.execute(query, (number,)).fetchall()
        if outlines.encode_places(found) != places or checksum((number, name, places)) != noted:
            yield f"document {name!r}: its chunks are not where they were put"
    sums = dict.fromkeys((row[0] for row in connection.execute("SELECT id FROM terms")), 0)
    query = (
        "SELECT t.id, t.term, CAST(p.places AS BLOB) FROM postings AS p "
        "JOIN terms AS t ON t.id = p.term"
    )
    for number, term, packed in connection.execute(query):
        places = postings.decode_int64s(packed)
        sums[number] = sums[number] + sum_of_places(term, sum(places), len(places)) & MASK
    for number, term, noted in connection.execute("SELECT id, term, checksum FROM terms"):
        if sums[number] != noted:
            yield f"the places of {term!r} are not those that were written"


def _chunk_rows(connection: Connection, document: int) -> Iterator[dict[str, Any]]:
    fields = ("audience", *CHUNK_FIELDS)
    query = f"SELECT {quote_columns(fields)} FROM chunks WHERE document = ?"
    for row in connection.execute(query, (document,)):
        yield dict(zip(fields, row, strict=True))


def _iter_documents(connection: Connection, fields: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    names = ("id", *fields)
    for row in connection.execute(f"SELECT {quote_columns(names)} FROM documents ORDER BY id"):
        yield dict(zip(names, row, strict=True))


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
    parts = {
        "file": _check_integrity(connection),
        "rows": check_rows(connection, recount),
        "words": check_postings(connection),
        "vectors": _check_vectors(connection, folder),
        "state": _check_state(connection, recount),
        "checksums": check_checksums(connection),
    }
    for name, findings in parts.items():
        recount.take(name, _readable(findings))
    return recount.report(
        connection.execute("SELECT count(*) FROM documents").fetchone()[0],
        connection.execute("SELECT count(*) FROM chunks").fetchone()[0],
        str(load_unverified_facts(connection).get("embedder")),
    )


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
    """Every audience's state and figures from scratch; leaves them in `recount`."""
    for document in _iter_documents(connection, ("audience", *DOCUMENT_FIELDS)):
        recount.add([document_member(document)], 0)
        recount.add(chunk_members(document, _chunk_rows(connection, document["id"])), 1)
    query = "SELECT id, principals, state, documents, chunks FROM audiences ORDER BY id"
    for audience, principals, state, *counted in connection.execute(query):
        yield from recount.state_findings(audience, principals, state, counted)

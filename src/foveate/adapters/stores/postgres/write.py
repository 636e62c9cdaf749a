"""Writing: one document with its chunks goes in or out, whole, with all that is derived from it.

Rules: everything is worked out before the lock is asked for; under it come one batch that reads
and one that writes, in one transaction; what is derived changes with the rows, or nothing does.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from secrets import randbits
from typing import Any

from foveate.adapters.stores.int8 import norms
from foveate.adapters.stores.postgres import halves, known, postings
from foveate.adapters.stores.postgres.filters import facts, refuse_unstorable, storable
from foveate.adapters.stores.postgres.flow import Ask, Flow
from foveate.adapters.stores.postgres.names import Names
from foveate.adapters.stores.postgres.schema import digest_of, refuse_moved, writing
from foveate.adapters.stores.rows import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    chunk_row,
    columns,
    document_row,
    indexed_terms,
    members,
)
from foveate.core.errors import BadInput
from foveate.core.state import EMPTY, shift
from foveate.core.types import Chunk
from foveate.ports import Document

_DOCUMENT = ("id", *DOCUMENT_FIELDS, "audience", "text")
_CHUNK_TYPES = {
    "id": "bigint",
    "document": "bigint",
    **dict.fromkeys(CHUNK_FIELDS, "text"),
    **dict.fromkeys(("sequence", "start", "end", "byte_offset", "page", "row", "line"), "bigint"),
    "audience": "integer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What goes in, as rows; nothing of it has been sent."""

    document: dict[str, Any]
    chunks: list[dict[str, Any]]
    vectors: Any
    terms: list[list[str]]
    counts: Mapping[str, int]
    fingerprint: str


def prepared(
    document: Document,
    chunks: Sequence[Chunk],
    vectors: Any,
    counts: Sequence[int],
    fingerprint: str,
) -> Prepared:
    """Rows of a document; `vectors`: int8, a row a chunk. Raises `BadInput`."""
    if counts and len(counts) != len(chunks):
        raise BadInput(f"{len(counts)} counts for {len(chunks)} chunks", field="counts")
    row = document_row(document)
    refuse_unstorable({**row, "fingerprint": fingerprint})
    rows = [chunk_row(document, chunk) for chunk in chunks]
    seen: set[str] = set()
    for each in rows:
        refuse_unstorable(each)
        if each["chunk_id"] in seen:
            raise _taken("this document", each["chunk_id"])
        seen.add(each["chunk_id"])
    hashes = [chunk.content_hash for chunk in chunks]
    return Prepared(
        document={**row, "text": zlib.compress(document.text.encode())},
        chunks=rows,
        vectors=vectors,
        terms=[indexed_terms(each) for each in rows],
        counts=dict(zip(hashes, counts, strict=False)) if fingerprint else {},
        fingerprint=fingerprint,
    )


def put(names: Names, new: Prepared) -> Flow[None]:
    """Put the document in place of the one with its id."""
    ids = [each["chunk_id"] for each in new.chunks]
    name = new.document["document_id"]
    audiences = sorted({new.document["principals"], *(each["principals"] for each in new.chunks)})
    taken = names.sql(
        "SELECT c.chunk_id FROM {s}.chunks AS c JOIN {s}.documents AS d ON d.id = c.document "
        "WHERE c.chunk_id = ANY(%s::text[]) AND d.document_id <> %s ORDER BY 1 LIMIT 1"
    )
    numbers = names.sql("SELECT nextval({ids}) FROM generate_series(1, %s) ORDER BY 1")
    batch = [
        *writing(names),
        *_making_audiences(names, audiences),
        *_reading(names, name, audiences),
        Ask(taken, [ids, name]),
        Ask(numbers, [len(ids) + 1]),
    ]
    (_, ((version,),), _, old, old_chunks, states, others, numbered) = yield batch
    refuse_moved(version)
    if others:
        raise _taken("another document", others[0][0])
    books = _Books(states)
    if old:
        books.account(*_rows_of(old[0], old_chunks), sign=-1)
    first, *rest = (row[0] for row in numbered)
    document = {**new.document, "id": first, "audience": books.ids[new.document["principals"]]}
    chunks = [
        {**each, "id": number, "document": first, "audience": books.ids[each["principals"]]}
        for each, number in zip(new.chunks, rest, strict=True)
    ]
    lengths = [len(terms) for terms in new.terms]
    books.account(document, [{**c, "terms": n} for c, n in zip(chunks, lengths, strict=True)])
    yield [
        *(_removing(names, old[0][0]) if old else ()),
        *_inserting(names, document, chunks, new),
        *books.saved(names),
        *known.remembering(names, new.fingerprint, new.counts),
    ]


def delete(names: Names, document_id: str) -> Flow[bool]:
    """Take the document and all that belongs to it out; False where it was not there."""
    if not storable(document_id):
        return False
    (_, ((version,),), old, chunks, states) = yield [
        *writing(names),
        *_reading(names, document_id, []),
    ]
    refuse_moved(version)
    if not old:
        return False
    books = _Books(states)
    books.account(*_rows_of(old[0], chunks), sign=-1)
    yield [*_removing(names, old[0][0]), *books.saved(names)]
    return True


def _taken(whose: str, name: str) -> BadInput:
    return BadInput(f"{whose} has a chunk {name!r} already; ids are unique", field="id")


def _making_audiences(names: Names, principals: Sequence[str]) -> list[Ask]:
    """Those that are new, with their members; nobody else makes any while the lock is held."""
    query = names.sql("""WITH made AS (
            INSERT INTO {s}.audiences (id, digest, principals, state)
            SELECT (SELECT max(id) FROM {s}.audiences) + row_number() OVER (), new.*, %s
            FROM unnest(%s::bytea[], %s::text[]) AS new (digest, principals)
            WHERE NOT EXISTS (SELECT 1 FROM {s}.audiences AS a WHERE a.digest = new.digest)
            RETURNING id, principals
        )
        INSERT INTO {s}.members
        SELECT each::text, id FROM made, json_array_elements(principals::json) AS each""")
    digests = [digest_of(each) for each in principals]
    return [Ask(query, [EMPTY, digests, list(principals)])]


def _reading(names: Names, document_id: str, audiences: Iterable[str]) -> list[Ask]:
    """The document that is there, its chunks, and the audiences of it and of `audiences`."""
    mine = names.sql("(SELECT id FROM {s}.documents WHERE document_id = %s)")
    document = f"SELECT {columns(_DOCUMENT[:-1])} FROM {{s}}.documents WHERE document_id = %s"
    fields = ", ".join(f'c."{field}"' for field in ("audience", *CHUNK_FIELDS))
    chunks = (
        f"SELECT s.terms, {fields} FROM {{s}}.chunks AS c JOIN {{s}}.scan AS s ON s.chunk = c.id "
        "WHERE c.document = {mine}"
    )
    states = """SELECT id, principals, state FROM {s}.audiences
        WHERE digest = ANY(%s::bytea[])
        OR id = (SELECT audience FROM {s}.documents WHERE document_id = %s)
        OR id IN (SELECT audience FROM {s}.chunks WHERE document = {mine})"""
    digests = [digest_of(each) for each in audiences]
    return [
        Ask(names.sql(document), [document_id]),
        Ask(names.sql(chunks, mine=mine), [document_id]),
        Ask(names.sql(states, mine=mine), [digests, document_id, document_id]),
    ]


def _rows_of(
    document: Sequence[Any], chunks: Iterable[Sequence[Any]]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Rows that were read, as they were accounted for."""
    fields = ("terms", "audience", *CHUNK_FIELDS)
    row = dict(zip(_DOCUMENT[:-1], document, strict=True))
    return row, [dict(zip(fields, chunk, strict=True)) for chunk in chunks]


class _Books:
    """The audiences that a write touches: their states and how much they hold."""

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        self.ids: dict[str, int] = {}
        self._states: dict[int, bytes] = {}
        self._more: dict[int, list[int]] = {}
        for number, principals, state in rows:
            self.ids[principals] = number
            self._states[number] = state
            self._more[number] = [0, 0, 0]

    def account(
        self, document: dict[str, Any], chunks: Sequence[dict[str, Any]], *, sign: int = 1
    ) -> None:
        """Take what a document brings into the books, or out of them."""
        by_audience: dict[int, list[bytes]] = {}
        for audience, encoded in members(document, chunks):
            by_audience.setdefault(audience, []).append(encoded)
        for audience, encoded_members in by_audience.items():
            state = self._states[audience]
            way = {"added": encoded_members} if sign > 0 else {"removed": encoded_members}
            self._states[audience] = shift(state, **way)
        self._more[document["audience"]][0] += sign
        for chunk in chunks:
            more = self._more[chunk["audience"]]
            more[1] += sign
            more[2] += sign * chunk["terms"]

    def saved(self, names: Names) -> list[Ask]:
        """One statement for all of them."""
        query = names.sql("""UPDATE {s}.audiences AS a SET state = new.state,
            documents = a.documents + new.documents, chunks = a.chunks + new.chunks,
            words = a.words + new.words, writes = new.writes
            FROM unnest(%s::integer[], %s::bytea[], %s::bigint[], %s::bigint[], %s::bigint[],
                %s::bigint[]) AS new (id, state, documents, chunks, words, writes)
            WHERE a.id = new.id""")
        ids = sorted(self._states)
        more = [[self._more[number][which] for number in ids] for which in range(3)]
        drawn = [randbits(63) for _ in ids]
        return [Ask(query, [ids, [self._states[number] for number in ids], *more, drawn])]


def _removing(names: Names, number: int) -> list[Ask]:
    chunks = "(SELECT id FROM {s}.chunks WHERE document = %s)"
    return [
        Ask(names.sql(query), [number])
        for query in (
            f"DELETE FROM {{s}}.scan WHERE chunk IN {chunks}",
            "DELETE FROM {s}.postings WHERE document = %s",
            "DELETE FROM {s}.chunks WHERE document = %s",
            "DELETE FROM {s}.documents WHERE id = %s",
        )
    ]


def _inserting(
    names: Names, document: dict[str, Any], chunks: list[dict[str, Any]], new: Prepared
) -> list[Ask]:
    marks = ", ".join(["%s"] * len(_DOCUMENT))
    query = f"INSERT INTO {{s}}.documents ({columns(_DOCUMENT)}) VALUES ({marks})"
    asks = [Ask(names.sql(query), [document[field] for field in _DOCUMENT])]
    if not chunks:
        return asks
    rows = [{**each, "facts": facts(each["metadata"])} for each in chunks]
    asks += _chunks(names, rows)
    lengths = [len(terms) for terms in new.terms]
    kind = names.sql("{v}.halfvec[]") if names.dimensions else "bytea[]"
    scan = names.sql(
        "INSERT INTO {s}.scan SELECT * FROM unnest(%s::bigint[], %s::integer[], %s::integer[], "
        f"%s::integer[], %s::{kind})"
    )
    ids, audiences = [each["id"] for each in chunks], [each["audience"] for each in chunks]
    vectors = halves.texts(new.vectors) if names.dimensions else [b""] * len(ids)
    asks.append(Ask(scan, [ids, audiences, lengths, norms(new.vectors).tolist(), vectors]))
    terms, whose, places = postings.packed(
        dict(zip(ids, new.terms, strict=True)), dict(zip(ids, audiences, strict=True))
    )
    query = names.sql(
        "INSERT INTO {s}.postings SELECT term, audience, %s, places "
        "FROM unnest(%s::text[], %s::integer[], %s::bytea[]) AS new (term, audience, places)"
    )
    asks.append(Ask(query, [document["id"], terms, whose, places]))
    return asks


def _chunks(names: Names, rows: Sequence[dict[str, Any]]) -> list[Ask]:
    """All chunks in one statement; the facts as JSON, for arrays have no ragged rows."""
    fields = columns(_CHUNK_TYPES)
    marks = ", ".join(f"%s::{kind}[]" for kind in _CHUNK_TYPES.values())
    query = names.sql(
        f"INSERT INTO {{s}}.chunks ({fields}, facts) SELECT {fields}, ARRAY(SELECT "
        "json_array_elements_text(facts::json)) "
        f"FROM unnest({marks}, %s::text[]) AS new ({fields}, facts)"
    )
    return [Ask(query, [*([row[field] for row in rows] for field in _CHUNK_TYPES), _listed(rows)])]


def _listed(rows: Iterable[dict[str, Any]]) -> list[str]:
    return [json.dumps(row["facts"]) for row in rows]

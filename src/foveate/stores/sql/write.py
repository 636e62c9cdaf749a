"""Writes of one document with its chunks and all that is derived from them, in one transaction.

What is needed is read in one round trip, and what changes is written in another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from secrets import randbits
from typing import Any

import numpy as np

from foveate.stores.base import PutRequest
from foveate.stores.checksums import second_key
from foveate.stores.filters import facts_to_index, iter_batches
from foveate.stores.int8 import quantise_or_zeros, squared_norms
from foveate.stores.places import Place, encode_places
from foveate.stores.rows import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    chunk_checksum,
    chunk_members,
    chunk_row,
    document_checksum,
    document_member,
    document_row,
    duplicate_id_error,
    pack_text,
    quote_columns,
    terms_to_index,
)
from foveate.stores.sql import postings
from foveate.stores.sql.audiences import DELETE_UNUSED, AudienceTotals
from foveate.stores.sql.contents import count_statements
from foveate.stores.sql.database import Database, Statement
from foveate.stores.sql.postings import NORM_WEIGHT, TERMS_WEIGHT, Entry, PendingPostings
from foveate.stores.sql.tables import (
    AUDIENCE_COLUMNS,
    COLUMNS,
    Facts,
    decode_facts,
    facts_statement,
    save_facts_statement,
)
from foveate.stores.totals import CHUNKS, DOCUMENTS, SCAN, WORDS

SLICE = 1_024
"""Chunks whose rows are made, or read, together."""

_DOCUMENT_COLUMNS = ("id", *DOCUMENT_FIELDS, "audience")
_CHUNK_COLUMNS = ("id", "terms", "norm", "vector", "audience", *CHUNK_FIELDS)


def replace_document(database: Database, pending: PendingPostings, given: PutRequest) -> None:
    """Put a document in place of the one with its id; the last postings wait in `pending`."""
    vectors = quantise_or_zeros(
        given.vectors, rows=len(given.chunks), dimensions=database.dimensions
    )
    document = document_row(given.document)
    rows = [chunk_row(given.document, document, chunk) for chunk in given.chunks]
    for each in (document, *rows):
        database.check_row(each)
    ids = _distinct_ids(rows)
    principals = {document["principals"], *(row["principals"] for row in rows)}
    write = _Write(database, document["document_id"], principals, ids)
    todo = write.removed(pending)
    document["id"] = number = write.facts.next
    document["audience"] = write.totals.audience(document["principals"])
    write.totals.apply([document_member(document)], DOCUMENTS)
    places: list[Place] = []
    for start in range(0, len(rows), SLICE):
        if start:
            database.run(*todo)
            todo = []
        some = rows[start : start + SLICE]
        for at, chunk in enumerate(some, number + 1 + start):
            chunk["id"], chunk["document"] = at, number
            chunk["audience"] = write.totals.audience(chunk["principals"])
        entry, inserts = write.chunks(document, some, vectors[start : start + SLICE])
        todo += inserts
        places += [(chunk["sequence"], chunk["id"], chunk["audience"]) for chunk in some]
        pending.add(entry)
        if pending.is_full():
            pending.flush(database)
    document |= {"key": second_key(given.document.id), "places": encode_places(places)}
    document |= {"checksum": document_checksum(document), "text": pack_text(given.document.text)}
    todo.append(database.insert("documents", [[document[name] for name in COLUMNS["documents"]]]))
    todo += count_statements(database, given.fingerprint, given.counts_by_hash())
    database.run(*todo, *write.finished(1 + len(rows)))


def remove_document(database: Database, pending: PendingPostings, document_id: str) -> bool:
    """Take the document and all that belongs to it out; False where it was not there."""
    write = _Write(database, document_id, (), ())
    if write.old is None:
        return False
    database.run(*write.removed(pending), *write.finished(0))
    return True


def _distinct_ids(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The chunks' ids; raises where one is there twice."""
    seen: set[str] = set()
    for row in rows:
        if row["chunk_id"] in seen:
            raise duplicate_id_error("this document", row["chunk_id"])
        seen.add(row["chunk_id"])
    return sorted(seen)


def row_sums(ids: Sequence[int], terms: Sequence[int], norms: Any, vectors: Any) -> list[int]:
    """What each row that a search compares adds to its audience's sum."""
    probes = vectors.astype(np.int64) @ probe(vectors.shape[1]).astype(np.int64)
    figures = np.asarray(terms, dtype=np.int64) * TERMS_WEIGHT
    figures += np.asarray(norms, dtype=np.int64) * NORM_WEIGHT
    found: list[int] = (np.asarray(ids, dtype=np.int64) + figures + probes).tolist()
    return found


def probe(dimensions: int) -> Any:
    """Small numbers, none of which is 0, one a dimension."""
    return (np.arange(dimensions) * 37 % 127 + 1).astype(np.int8)


class _Write:
    """A write of one document: what is there of it, and the totals that it changes."""

    def __init__(
        self, database: Database, document_id: str, principals: Iterable[str], ids: Sequence[str]
    ) -> None:
        self.database = database
        begin = database.begin_statements()
        asked = [
            facts_statement(database),
            *self._statements(document_id, principals),
            *(self._taken_statement(document_id, some) for some in iter_batches(ids)),
        ]
        found = database.run(*begin, *asked)[len(begin) :]
        facts, old, self._page, stored, ((last,),), *taken = found
        self.facts: Facts = decode_facts(facts)
        for ((name,),) in filter(None, taken):
            raise duplicate_id_error("another document", name)
        self.old = dict(zip(_DOCUMENT_COLUMNS, old[0], strict=True)) if old else None
        self.totals = AudienceTotals(stored, last + 1)

    def _statements(self, document_id: str, principals: Iterable[str]) -> list[Statement]:
        """The document that is there, its first chunks, and the audiences of it and of these."""
        database = self.database
        mine = database.sql("(SELECT id FROM {s}.documents WHERE document_id = %s)")
        columns = quote_columns(_DOCUMENT_COLUMNS)
        keys, bound = database.ids_among([second_key(each) for each in principals])
        audiences = (
            f"SELECT {AUDIENCE_COLUMNS} FROM {{s}}.audiences WHERE key {keys} "
            "OR id = (SELECT audience FROM {s}.documents WHERE document_id = %s) "
            "OR id IN (SELECT s.audience FROM {s}.chunks AS c JOIN {s}.scan AS s ON s.chunk = c.id "
            "WHERE c.document = {mine})"
        )
        return [
            database.statement(
                f"SELECT {columns} FROM {{s}}.documents WHERE document_id = %s", [document_id]
            ),
            self._page_statement(mine, document_id, 0),
            database.statement(audiences, [*bound, document_id, document_id], mine=mine),
            database.statement("SELECT max(id) FROM {s}.audiences"),
        ]

    def _page_statement(self, document: str, bound: str | int, after: int) -> Statement:
        """Chunks of a document behind a row id."""
        fields = ", ".join(f'c."{field}"' for field in CHUNK_FIELDS)
        return self.database.statement(
            f"SELECT s.chunk, s.terms, s.norm, {{vector}}, s.audience, {fields} "
            "FROM {s}.chunks AS c JOIN {s}.scan AS s ON s.chunk = c.id "
            f"WHERE c.document = {{document}} AND c.id > %s ORDER BY c.id LIMIT {SLICE}",
            [bound, after],
            vector=self.database.vector_expression(),
            document=document,
        )

    def _taken_statement(self, document_id: str, ids: Sequence[str]) -> Statement:
        """A chunk's id that another document has."""
        named, bound = self.database.texts_among(ids)
        return self.database.statement(
            "SELECT c.chunk_id FROM {s}.chunks AS c JOIN {s}.documents AS d ON d.id = c.document "
            f"WHERE c.chunk_id {named} AND d.document_id <> %s ORDER BY 1 LIMIT 1",
            [*bound, document_id],
        )

    def removed(self, pending: PendingPostings) -> list[Statement]:
        """Take the document that is there out of the totals and the index; what deletes it."""
        if self.old is None:
            return []
        number = self.old["id"]
        pending.drop(number)
        self.totals.apply([document_member(self.old)], DOCUMENTS, sign=-1)
        for page in self._pages(number):
            self.database.run(*self._removed_chunks(self.old, page))
        scan = "DELETE FROM {s}.scan WHERE chunk IN (SELECT id FROM {s}.chunks WHERE document = %s)"
        return [
            self.database.statement(scan, [number]),
            self.database.statement("DELETE FROM {s}.chunks WHERE document = %s", [number]),
            self.database.statement("DELETE FROM {s}.documents WHERE id = %s", [number]),
        ]

    def _pages(self, number: int) -> Iterator[list[dict[str, Any]]]:
        rows = self._page
        while rows:
            yield [dict(zip(_CHUNK_COLUMNS, row, strict=True)) for row in rows]
            more = self._page_statement("%s", number, rows[-1][0])
            (rows,) = self.database.run(more) if len(rows) == SLICE else ([],)

    def _removed_chunks(
        self, document: dict[str, Any], rows: list[dict[str, Any]]
    ) -> list[Statement]:
        data = b"".join(self.database.decode_vector(each["vector"]) for each in rows)
        vectors = np.frombuffer(data, dtype=np.int8).reshape(len(rows), self.database.dimensions)
        terms = {
            term
            for chunk in rows
            for term in (*terms_to_index(chunk), *facts_to_index(document, chunk))
        }
        self._account(document, rows, [each["norm"] for each in rows], vectors, sign=-1)
        whose = {each["audience"] for each in rows}
        return postings.removals(self.database, rows[0]["id"], rows[-1]["id"], whose, terms)

    def chunks(
        self, document: dict[str, Any], rows: list[dict[str, Any]], vectors: Any
    ) -> tuple[Entry, list[Statement]]:
        """Take chunks into the totals: their terms, and what inserts their rows."""
        texts = [terms_to_index(chunk) for chunk in rows]
        for chunk, terms, vector in zip(rows, texts, vectors, strict=True):
            chunk["terms"] = len(terms)
            scanned = vector.tobytes(), chunk["audience"], len(terms)
            chunk["checksum"] = chunk_checksum(chunk["id"], document, chunk, *scanned)
        norms = squared_norms(vectors).tolist()
        self._account(document, rows, norms, vectors)
        facts = [facts_to_index(document, chunk) for chunk in rows]
        ids, audiences, lengths = (
            [chunk[name] for chunk in rows] for name in ("id", "audience", "terms")
        )
        stored = self.database.encode_vectors(vectors)
        scan = list(zip(ids, audiences, lengths, norms, stored, strict=True))
        return Entry(
            document=document["id"],
            chunks=ids,
            audiences=audiences,
            lengths=lengths,
            texts=[[*one, *other] for one, other in zip(texts, facts, strict=True)],
        ), [
            self.database.insert(
                "chunks", [[chunk[name] for name in COLUMNS["chunks"]] for chunk in rows]
            ),
            self.database.insert("scan", scan),
        ]

    def _account(
        self,
        document: dict[str, Any],
        rows: list[dict[str, Any]],
        norms: Sequence[int],
        vectors: Any,
        *,
        sign: int = 1,
    ) -> None:
        self.totals.apply(chunk_members(document, rows), CHUNKS, sign)
        lengths = [row["terms"] for row in rows]
        sums = row_sums([row["id"] for row in rows], lengths, norms, vectors)
        for row, own in zip(rows, sums, strict=True):
            self.totals.count(row["audience"], WORDS, sign * row["terms"])
            self.totals.count(row["audience"], SCAN, sign * own)

    def finished(self, ids: int) -> list[Statement]:
        """What writes the totals and the facts; `ids`: how many row ids are taken."""
        facts = self.facts.after(ids=ids, writes=randbits(62))
        return [*self.totals.statements(self.database), save_facts_statement(self.database, facts)]


def delete_unused_rows(database: Database) -> int:
    """Forget what belongs to no document any more; how many terms' places were merged."""
    merged = postings.merge(database)
    database.run(*map(database.statement, DELETE_UNUSED))
    return merged

"""The check of a server store: all that is derived is computed again and compared.

It reads one snapshot, document by document, and reports at most 100 findings a part.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from foveate.stores import outlines
from foveate.stores.checksums import MASK, StoreDamaged, checksum
from foveate.stores.filters import encode_facts
from foveate.stores.int8 import squared_norms
from foveate.stores.postgres import checksums, half_vectors, postings
from foveate.stores.postgres.filters import FILTER_ROWS
from foveate.stores.postgres.postings import verified
from foveate.stores.postgres.schema import principals_digest
from foveate.stores.postgres.statements import Rows, Statement, StatementFlow, StoreContext
from foveate.stores.recount import Recount, text_findings
from foveate.stores.report import Report
from foveate.stores.rows import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    chunk_checksum,
    chunk_members,
    document_member,
    key_checksum,
    quote_columns,
    terms_to_index,
)

_PAGE = 1000
# What must find nothing: rows of which there is only one of two copies.
_COPIES = (
    ("who may read", "SELECT * FROM {s}.members", "SELECT * FROM {s}.members_again"),
    ("what a filter asks for", FILTER_ROWS, "SELECT * FROM {s}.filters"),
    (
        "the documents",
        "SELECT id, document_id FROM {s}.documents",
        "SELECT document, document_id FROM {s}.outlines",
    ),
)


def _find_damage(store: StoreContext, rows_found: list[str]) -> StatementFlow[list[str]]:
    """All that is not as it was written, `rows_found` of documents and chunks among it."""
    found: list[str] = []
    for what, one, other in _COPIES:
        query = store.sql(f"({one} EXCEPT {other}) UNION ALL ({other} EXCEPT {one}) LIMIT 1")
        (rows,) = yield [Statement(query)]
        found += [f"{what}: the two copies differ" for _ in rows]
    (rows,) = yield [
        Statement(store.sql(f"SELECT {checksums.AUDIENCE} FROM {{s}}.audiences ORDER BY id"))
    ]
    for row in rows:
        if checksums.audience_checksum(row) != row[-1]:
            found.append(f"the audience {row[1]} is not as it was written")
    (compared,) = yield [checksums.compared(store, [row[0] for row in rows])]
    try:
        checksums.refuse_other(compared, rows)
    except StoreDamaged as error:
        found.append(str(error))
    found += rows_found
    for query, check in ((_TERMS, _check_term_rows), (_COUNTS, _check_count_rows)):
        last: list[Any] = []
        while True:
            after = "WHERE k > %s" if last else ""
            page = f"SELECT * FROM ({query}) AS x {after} ORDER BY k LIMIT {_PAGE}"
            (rows,) = yield [Statement(store.sql(page), last)]
            if not rows:
                break
            last = [rows[-1][0]]
            found += list(check(rows))
    return found


_TERMS = (
    "SELECT w.term AS k, sum(w.checksum) AS noted, (SELECT coalesce(string_agg(p.places, "
    "''::bytea), ''::bytea) FROM {s}.postings AS p WHERE p.term = w.term) AS places "
    "FROM (SELECT term, checksum FROM {s}.terms UNION ALL SELECT DISTINCT term, 0::bigint "
    "FROM {s}.postings) AS w GROUP BY w.term"
)
_COUNTS = "SELECT fingerprint || hash AS k, fingerprint, hash, tokens, checksum FROM {s}.counts"


def _check_term_rows(rows: Rows) -> Iterator[str]:
    for term, noted, places in rows:
        try:
            verified(term, places, int(noted) & MASK)
        except StoreDamaged:
            yield f"the places of {term!r} are not those that were written"


def _check_count_rows(rows: Rows) -> Iterator[str]:
    for _, *row in rows:
        if checksum(row[:-1]) != row[-1]:
            yield f"the tokens of the text {row[1]} are damaged; they are not used"


_DOCUMENTS_PER_PAGE = 50
"""Documents at a time."""
_DOCUMENT_COLUMNS = ("id", "audience", "text", *DOCUMENT_FIELDS)
_CHUNK_COLUMNS = (
    *("id", "document", "audience", "facts", "key_checksum", "checksum"),
    *CHUNK_FIELDS,
)

# What must find nothing, and what it means where it does.
_RELATIONS = (
    (
        "rows",
        "chunk {!r} belongs to no document",
        (
            "SELECT chunk_id FROM {s}.chunks AS c WHERE NOT EXISTS "
            "(SELECT 1 FROM {s}.documents AS d WHERE d.id = c.document)"
        ),
    ),
    (
        "rows",
        "row {} is searched and is no chunk",
        (
            "SELECT chunk FROM {s}.scan AS s WHERE NOT EXISTS "
            "(SELECT 1 FROM {s}.chunks AS c WHERE c.id = s.chunk)"
        ),
    ),
)


def check_store(store: StoreContext) -> StatementFlow[Report]:
    """Work out again all that is derived, in one snapshot; see `report.Report`."""
    look = _Check(store)
    for part, said, query in _RELATIONS:
        (rows,) = yield [Statement(store.sql(query))]
        look.recount.take(part, (said.format(row[0]) for row in rows))
    (rows,) = yield [Statement(store.sql("SELECT id, principals, digest FROM {s}.audiences"))]
    (members_,) = yield [Statement(store.sql("SELECT principal, audience FROM {s}.members"))]
    look.recount.take("rows", look.check_audiences(rows, members_))
    columns = quote_columns(_DOCUMENT_COLUMNS)
    page = f"SELECT {columns} FROM {{s}}.documents WHERE id > %s ORDER BY id LIMIT %s"
    last = -1
    while True:
        (documents,) = yield [Statement(store.sql(page), [last, _DOCUMENTS_PER_PAGE])]
        if not documents:
            break
        last = documents[-1][0]
        ids = [row[0] for row in documents]
        derived = yield _document_statements(store, ids)
        for document in documents:
            look.check_document(document, *derived)
    query = "SELECT id, principals, state, documents, chunks, words FROM {s}.audiences ORDER BY id"
    (audiences,) = yield [Statement(store.sql(query))]
    for audience, principals, state, *figures in audiences:
        look.recount.take(
            "state", look.recount.state_findings(audience, principals, state, figures)
        )
    look.recount.take("words", (yield from _check_postings(store, look)))
    damaged = look.damaged_documents + look.damaged_chunks
    look.recount.take("checksums", iter((yield from _find_damage(store, damaged))))
    return look.recount.report(look.documents, look.chunks, store.embedder)


def _check_postings(store: StoreContext, look: _Check) -> StatementFlow[Iterator[str]]:
    """Documents that are indexed by other words than they have, and rows that are out of order."""
    query = store.sql(
        "SELECT term, audience, document, places FROM {s}.postings WHERE (term, audience, document)"
        f" > (%s, %s, %s) ORDER BY term, audience, document LIMIT {_PAGE}"
    )
    last: tuple[Any, ...] = ("", -1, -1)
    odd, reach = list[str](), -1
    while True:
        (rows,) = yield [Statement(query, list(last))]
        if not rows:
            break
        for term, audience, first, data in rows:
            reach = reach if (term, audience) == last[:2] else -1
            last = (term, audience, first)
            chunks = np.frombuffer(data, dtype=postings.PLACE_DTYPE)["chunk"].tolist()
            owners = [look.owners.get(chunk, (0, ""))[0] for chunk in chunks]
            if not owners or min(owners) < first or reach >= first:
                odd.append(f"the row of {term!r} under document row {first} is out of order")
            reach = max(owners, default=first)
        look.count_places(((term, audience, data) for term, audience, _, data in rows), -1)
    wrong = [chunk for chunk, left in look.places.items() if left]
    names = sorted({look.owners[chunk][1] for chunk in wrong if chunk in look.owners})
    odd += [f"document {name!r} is indexed by other words than it has" for name in names]
    odd += [
        f"words of chunk row {c} are kept, and it is gone" for c in wrong if c not in look.owners
    ]
    return iter(odd)


def _document_statements(store: StoreContext, ids: list[int]) -> list[Statement]:
    columns = quote_columns(_CHUNK_COLUMNS)
    chunks = f"SELECT {columns} FROM {{s}}.chunks WHERE document = ANY(%s) ORDER BY id"
    scan = (
        f"SELECT s.chunk, s.audience, s.terms, s.norm, {half_vectors.vector_expression(store)} "
        "FROM {s}.scan AS s JOIN {s}.chunks AS c ON c.id = s.chunk WHERE c.document = ANY(%s)"
    )
    outline = "SELECT * FROM {s}.outlines WHERE document = ANY(%s)"
    return [Statement(store.sql(query), [ids]) for query in (chunks, scan, outline)]


class _Check:
    """The documents seen so far, and the findings."""

    def __init__(self, store: StoreContext) -> None:
        self._width = store.dimensions
        self.recount = Recount[int](width=3)
        self.damaged_documents: list[str] = []
        self.damaged_chunks: list[str] = []
        self.places: dict[int, int] = {}
        """Chunk → the sum over the places that its terms should have."""
        self.owners: dict[int, tuple[int, str]] = {}
        """Chunk → the row and the id of its document."""
        self.documents = self.chunks = 0

    def check_audiences(self, audiences: Rows, members: Rows) -> Iterator[str]:
        """Audiences that are not those of their principals."""
        for audience, principals, digest in audiences:
            self.recount.principals[audience] = principals
            if principals_digest(principals) != digest:
                yield f"the audience {principals} is kept under the key of others"
        yield from self.recount.member_findings(((name, one) for name, one in members), json.loads)

    def check_document(self, values: Any, chunks: Rows, scan: Rows, outline: Rows) -> None:
        """One document with all that is derived from it."""
        row = dict(zip(_DOCUMENT_COLUMNS, values, strict=True))
        mine = [
            dict(zip(_CHUNK_COLUMNS, one, strict=True)) for one in chunks if one[1] == row["id"]
        ]
        self.recount.take("rows", self._check_texts(row, mine))
        numbers = {one["id"] for one in mine}
        scanned = {
            one[0]: (*one[1:-1], half_vectors.decode_vector(one[-1], self._width))
            for one in scan
            if one[0] in numbers
        }
        terms = {one["id"]: terms_to_index(one) for one in mine}
        self.recount.take("vectors", self._check_vectors(mine, scanned, terms))
        audiences = {one["id"]: one["audience"] for one in mine}
        self.owners.update(dict.fromkeys(terms, (row["id"], row["document_id"])))
        self.count_places(zip(*postings.encode_postings(terms, audiences), strict=True))
        self._check_places(row, mine, next((one for one in outline if one[0] == row["id"]), None))
        self._check_checksums(row, mine, scanned)
        self.documents += 1
        self.chunks += len(mine)
        self.recount.add([document_member(row)], 0)
        self.recount.add(chunk_members(row, mine), 1)
        for chunk in mine:
            self.recount.figures[chunk["audience"]][2] += len(terms[chunk["id"]])

    def count_places(self, rows: Iterable[tuple[str, int, bytes]], sign: int = 1) -> None:
        """Add what the places of terms in audiences come to, chunk by chunk, or subtract it."""
        chunks, numbers = postings.mix_places(list(rows))
        found, at = np.unique(chunks, return_inverse=True)
        sums = np.zeros(len(found), dtype=np.uint64)
        np.add.at(sums, at, numbers)
        for chunk, total in zip(found.tolist(), sums.tolist(), strict=True):
            self.places[chunk] = (self.places.get(chunk, 0) + sign * total) % (1 << 64)

    def _check_texts(self, row: dict[str, Any], chunks: Sequence[dict[str, Any]]) -> Iterator[str]:
        yield from text_findings(row, row["text"], chunks)
        yield from self.recount.audience_findings(row, chunks)
        for chunk in chunks:
            if encode_facts(chunk["metadata"]) != chunk["facts"]:
                yield f"chunk {chunk['chunk_id']!r} is filtered by other metadata than it has"

    def _check_places(self, row: dict[str, Any], chunks: Sequence[Any], outline: Any) -> None:
        """The document against its outline; that one is missing is found as another copy."""
        if outline is None:
            return
        number, _, packed, noted, row_noted = outline
        name = row["document_id"]
        if outlines.row_checksum(number, row) != row_noted:
            self.damaged_documents.append(f"document {name!r} is not as it was written")
        places = [(one["sequence"], one["id"], one["audience"]) for one in chunks]
        same = sorted(outlines.decode_places(packed)) == sorted(places)
        if not same or checksum((number, name, packed)) != noted:
            what = f"document {name!r}: its chunks are not where they were put"
            self.damaged_documents.append(what)

    def _check_checksums(self, row: dict[str, Any], chunks: Sequence[Any], scan: Any) -> None:
        for chunk in chunks:
            number = chunk["id"]
            if number in scan and (chunk["key_checksum"], chunk["checksum"]) != (
                key_checksum(number, row, chunk),
                chunk_checksum(number, row, chunk, scan[number][-1]),
            ):
                self.damaged_chunks.append(f"chunk {chunk['chunk_id']!r} is not as it was written")

    def _check_vectors(
        self, chunks: Sequence[dict[str, Any]], scan: Any, terms: dict[int, list[str]]
    ) -> Iterator[str]:
        for chunk in chunks:
            if chunk["id"] not in scan:
                yield f"chunk {chunk['chunk_id']!r} is not there for searches"
                continue
            audience, length, norm, data = scan[chunk["id"]]
            vector = np.frombuffer(data, dtype=np.int8)
            if audience != chunk["audience"]:
                yield f"chunk {chunk['chunk_id']!r} is searched for other readers than its own"
            if (length, norm) != (len(terms[chunk["id"]]), int(squared_norms(vector[None])[0])):
                yield f"chunk {chunk['chunk_id']!r}: its length or its vector's is another"

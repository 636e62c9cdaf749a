"""The check of a server store: all that is derived is computed again and compared.

It reads one snapshot, document by document, and reports at most 100 findings a part.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from foveate.core.state import EMPTY_STATE, combine_states, state_hash, update_state
from foveate.core.types import content_hash
from foveate.stores import outlines
from foveate.stores.checksums import MASK, StoreDamaged, checksum
from foveate.stores.int8 import squared_norms
from foveate.stores.postgres import checksums, half_vectors, postings
from foveate.stores.postgres.filters import encode_facts
from foveate.stores.postgres.postings import verified
from foveate.stores.postgres.schema import principals_digest
from foveate.stores.postgres.statements import Rows, Statement, StatementFlow, StoreContext
from foveate.stores.report import Finding, Report
from foveate.stores.rows import (
    CHUNK_COLUMNS,
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    parse_principals,
    quote_columns,
    state_members,
    terms_to_index,
)

_PAGE = 1000
_DOCUMENT = ", ".join(f"d.{field}" for field in ("id", *DOCUMENT_FIELDS, "audience"))
_FILTERS = (
    "SELECT c.id, c.document, c.audience, d.document_id, d.source, d.title, c.chunk_id, "
    'c.sequence, c.page, c.section, c."row", c.line, c.facts '
    "FROM {s}.chunks AS c JOIN {s}.documents AS d ON d.id = c.document"
)
# What must find nothing: rows of which there is only one of two copies.
_COPIES = (
    ("who may read", "SELECT * FROM {s}.members", "SELECT * FROM {s}.members_again"),
    ("what a filter asks for", _FILTERS, "SELECT * FROM {s}.filters"),
    (
        "the documents",
        "SELECT id, document_id FROM {s}.documents",
        "SELECT document, document_id FROM {s}.outlines",
    ),
)


def _find_damage(store: StoreContext) -> StatementFlow[list[str]]:
    """All that is wrong, one sentence a thing."""
    found: list[str] = []
    for what, one, other in _COPIES:
        query = store.sql(f"({one} EXCEPT {other}) UNION ALL ({other} EXCEPT {one}) LIMIT 1")
        (rows,) = yield [Statement(query)]
        found += [f"{what}: the two copies differ" for _ in rows]
    (rows,) = yield [
        Statement(store.sql(f"SELECT {checksums.AUDIENCE} FROM {{s}}.audiences ORDER BY id"))
    ]
    found += list(_audiences(rows))
    (compared,) = yield [checksums.compared(store, [row[0] for row in rows])]
    try:
        checksums.refuse_other(compared, rows)
    except StoreDamaged as error:
        found.append(str(error))
    for query, told in (
        (_document_query(store), _check_document_rows),
        (_chunk_query(store), _check_chunk_rows),
        (_term_query(store), _check_term_rows),
        (_count_query(store), _check_count_rows),
    ):
        last: Any = []
        while True:
            (rows,) = yield [Statement(query.format(after="WHERE k > %s" if last else ""), last)]
            if not rows:
                break
            last = [rows[-1][0]]
            found += list(told(rows, store))
    return found


def _audiences(rows: Rows) -> Iterator[str]:
    for row in rows:
        if checksums.audience_checksum(row) != row[-1]:
            yield f"the audience {row[1]} is not as it was written"


def _paged(inner: str) -> str:
    return f"SELECT * FROM ({inner}) AS x {{after}} ORDER BY k LIMIT {_PAGE}"


def _document_query(store: StoreContext) -> str:
    chunks = (
        "(SELECT array_agg(ROW(c.sequence, c.id, c.audience)::text ORDER BY c.id) "
        "FROM {s}.chunks AS c WHERE c.document = d.id)"
    )
    return _paged(
        store.sql(
            f"SELECT d.id AS k, {chunks}, o.places, o.checksum, {_DOCUMENT}, o.row_checksum "
            "FROM {s}.documents AS d JOIN {s}.outlines AS o ON o.document = d.id"
        )
    )


def _check_document_rows(rows: Rows, _: StoreContext) -> Iterator[str]:
    for number, chunks, packed, noted, *row in rows:
        name = row[1]
        if checksum(row[:-1]) != row[-1]:
            yield f"document {name!r} is not as it was written"
        places = [f"({s},{i},{a})" for s, i, a in outlines.decode_places(packed)]
        if sorted(places) != sorted(chunks or []) or checksum((number, name, packed)) != noted:
            yield f"document {name!r}: its chunks are not where they were put"


def _chunk_query(store: StoreContext) -> str:
    vector = half_vectors.vector_expression(store)
    return _paged(
        store.sql(
            f"SELECT c.id AS k, c.key_checksum, {CHUNK_COLUMNS}, {vector} AS v, "
            "c.audience, c.checksum FROM {s}.chunks AS c JOIN {s}.documents AS d "
            "ON d.id = c.document JOIN {s}.scan AS s ON s.chunk = c.id"
        ).replace("c.id, c.chunk_id", "c.id AS i, c.chunk_id", 1)
    )


def _check_chunk_rows(rows: Rows, store: StoreContext) -> Iterator[str]:
    for _, key, *row in rows:
        row[-3] = half_vectors.decode_vector(row[-3], store.dimensions)
        place = (row[0], row[3], row[5], row[8] or 0, row[1])
        if checksum(row[:-1]) != row[-1] or checksum(place) != key:
            yield f"chunk {row[1]!r} is not as it was written"


def _term_query(store: StoreContext) -> str:
    return _paged(
        store.sql(
            "SELECT w.term AS k, sum(w.checksum) AS noted, (SELECT coalesce(string_agg(p.places, "
            "''::bytea), ''::bytea) FROM {s}.postings AS p WHERE p.term = w.term) AS places "
            "FROM (SELECT term, checksum FROM {s}.terms UNION ALL SELECT DISTINCT term, 0::bigint "
            "FROM {s}.postings) AS w GROUP BY w.term"
        )
    )


def _check_term_rows(rows: Rows, _: StoreContext) -> Iterator[str]:
    for term, noted, places in rows:
        try:
            verified(term, places, int(noted) & MASK)
        except StoreDamaged:
            yield f"the places of {term!r} are not those that were written"


def _count_query(store: StoreContext) -> str:
    return _paged(
        store.sql(
            "SELECT fingerprint || hash AS k, fingerprint, hash, tokens, checksum FROM {s}.counts"
        )
    )


def _check_count_rows(rows: Rows, _: StoreContext) -> Iterator[str]:
    for _, *row in rows:
        if checksum(row[:-1]) != row[-1]:
            yield f"the tokens of the text {row[1]} are damaged; they are not used"


_MAX_FINDINGS = 100
_DOCUMENTS_PER_PAGE = 50
"""Documents at a time."""
_DOCUMENT_COLUMNS = ("id", "audience", "text", *DOCUMENT_FIELDS)
_CHUNK_COLUMNS = ("id", "document", "audience", "facts", *CHUNK_FIELDS)

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
    (
        "words",
        "the words of document row {} are kept, and it is gone",
        (
            "SELECT DISTINCT document FROM {s}.postings AS p WHERE NOT EXISTS "
            "(SELECT 1 FROM {s}.documents AS d WHERE d.id = p.document)"
        ),
    ),
)


def check_store(store: StoreContext) -> StatementFlow[Report]:
    """Work out again all that is derived, in one snapshot; see `report.Report`."""
    look = _Check(store)
    for part, said, query in _RELATIONS:
        (rows,) = yield [Statement(store.sql(query))]
        look.add_findings(part, (said.format(row[0]) for row in rows))
    (rows,) = yield [Statement(store.sql("SELECT id, principals, digest FROM {s}.audiences"))]
    (members_,) = yield [Statement(store.sql("SELECT principal, audience FROM {s}.members"))]
    look.add_findings("rows", look.check_audiences(rows, members_))
    last = -1
    while True:
        (documents,) = yield [_page_statement(store, last)]
        if not documents:
            break
        last = documents[-1][0]
        ids = [row[0] for row in documents]
        chunks, scan, words = yield _document_statements(store, ids)
        for document in documents:
            look.check_document(document, chunks, scan, words)
    query = "SELECT id, principals, state, documents, chunks, words FROM {s}.audiences ORDER BY id"
    (audiences,) = yield [Statement(store.sql(query))]
    look.add_findings("state", look.check_states(audiences))
    look.add_findings("checksums", iter((yield from _find_damage(store))))
    return Report(
        documents=look.documents,
        chunks=look.chunks,
        state_root=state_hash(combine_states(look.states.values()), embedder=store.embedder),
        findings=tuple(look.findings),
    )


def _page_statement(store: StoreContext, last: int) -> Statement:
    columns = quote_columns(_DOCUMENT_COLUMNS)
    query = f"SELECT {columns} FROM {{s}}.documents WHERE id > %s ORDER BY id LIMIT %s"
    return Statement(store.sql(query), [last, _DOCUMENTS_PER_PAGE])


def _document_statements(store: StoreContext, ids: list[int]) -> list[Statement]:
    columns = quote_columns(_CHUNK_COLUMNS)
    chunks = f"SELECT {columns} FROM {{s}}.chunks WHERE document = ANY(%s) ORDER BY id"
    scan = (
        f"SELECT s.chunk, s.audience, s.terms, s.norm, {half_vectors.vector_expression(store)} "
        "FROM {s}.scan AS s JOIN {s}.chunks AS c ON c.id = s.chunk WHERE c.document = ANY(%s)"
    )
    words = "SELECT document, term, audience, places FROM {s}.postings WHERE document = ANY(%s)"
    return [Statement(store.sql(query), [ids]) for query in (chunks, scan, words)]


class _Check:
    """The documents seen so far, and the findings."""

    def __init__(self, store: StoreContext) -> None:
        self._width = store.dimensions
        self.findings: list[Finding] = []
        self.states: dict[int, bytes] = {}
        self._figures: dict[int, list[int]] = {}
        self._principals: dict[int, str] = {}
        self.documents = self.chunks = 0

    def add_findings(self, part: str, findings: Iterator[str]) -> None:
        """Take findings down, not too many of one part."""
        room = _MAX_FINDINGS - sum(one.part == part for one in self.findings)
        self.findings += [Finding(part=part, what=what) for what in islice(findings, room)]

    def check_audiences(self, audiences: Sequence[Any], members: Sequence[Any]) -> Iterator[str]:
        """Audiences whose members are others than their principals."""
        whose: dict[int, list[str]] = {}
        for principal, audience in members:
            whose.setdefault(audience, []).append(principal)
        for audience, principals, digest in audiences:
            self._principals[audience] = principals
            wanted = sorted(json.dumps(name) for name in parse_principals(principals))
            if sorted(whose.pop(audience, [])) != wanted or principals_digest(principals) != digest:
                yield f"the members of the audience {principals} are others"
        for audience in whose:
            yield f"audience {audience} has members and is not there"

    def check_document(self, values: Any, chunks: Any, scan: Any, words: Any) -> None:
        """One document with all that is derived from it."""
        row = dict(zip(_DOCUMENT_COLUMNS, values, strict=True))
        mine = [
            dict(zip(_CHUNK_COLUMNS, one, strict=True)) for one in chunks if one[1] == row["id"]
        ]
        self.add_findings("rows", self._check_texts(row, mine))
        scanned = {one[0]: one[1:] for one in scan}
        terms = {one["id"]: terms_to_index(one) for one in mine}
        self.add_findings("vectors", self._check_vectors(mine, scanned, terms))
        audiences = {one["id"]: one["audience"] for one in mine}
        expected = sorted(zip(*postings.encode_postings(terms, audiences), strict=True))
        if sorted(one[1:] for one in words if one[0] == row["id"]) != expected:
            what = f"document {row['document_id']!r} is indexed by other words than it has"
            self.add_findings("words", iter([what]))
        self._add_to_states(row, mine, terms)

    def _check_texts(self, row: dict[str, Any], chunks: Sequence[dict[str, Any]]) -> Iterator[str]:
        name = row["document_id"]
        text = zlib.decompress(row["text"]).decode()
        if content_hash(text) != row["text_hash"]:
            yield f"document {name!r}: its text is not the one that was put"
        if self._principals.get(row["audience"]) != row["principals"]:
            yield f"document {name!r} has an audience of other principals"
        for chunk in chunks:
            start, end = chunk["start"], chunk["end"]
            if content_hash(chunk["text"]) != chunk["content_hash"]:
                yield f"chunk {chunk['chunk_id']!r}: its text is not the one that was put"
            if text and start is not None and end is not None and text[start:end] != chunk["text"]:
                yield f"chunk {chunk['chunk_id']!r} is not what its document says from {start} on"
            if self._principals.get(chunk["audience"]) != chunk["principals"]:
                yield f"chunk {chunk['chunk_id']!r} has an audience of other principals"
            if encode_facts(chunk["metadata"]) != chunk["facts"]:
                yield f"chunk {chunk['chunk_id']!r} is filtered by other metadata than it has"

    def _check_vectors(
        self, chunks: Sequence[dict[str, Any]], scan: Any, terms: dict[int, list[str]]
    ) -> Iterator[str]:
        for chunk in chunks:
            if chunk["id"] not in scan:
                yield f"chunk {chunk['chunk_id']!r} is not there for searches"
                continue
            audience, length, norm, sent = scan[chunk["id"]]
            vector = np.frombuffer(half_vectors.decode_vector(sent, self._width), dtype=np.int8)
            if audience != chunk["audience"]:
                yield f"chunk {chunk['chunk_id']!r} is searched for other readers than its own"
            if (length, norm) != (len(terms[chunk["id"]]), int(squared_norms(vector[None])[0])):
                yield f"chunk {chunk['chunk_id']!r}: its length or its vector's is another"

    def _add_to_states(
        self, row: dict[str, Any], chunks: Sequence[dict[str, Any]], terms: dict[int, list[str]]
    ) -> None:
        self.documents += 1
        self.chunks += len(chunks)
        for audience, encoded in state_members(row, chunks):
            state = self.states.get(audience, EMPTY_STATE)
            self.states[audience] = update_state(state, added=[encoded])
        self._figures.setdefault(row["audience"], [0, 0, 0])[0] += 1
        for chunk in chunks:
            figures = self._figures.setdefault(chunk["audience"], [0, 0, 0])
            figures[1] += 1
            figures[2] += len(terms[chunk["id"]])

    def check_states(self, audiences: Sequence[Any]) -> Iterator[str]:
        """Audiences whose state or figures are not those of the rows."""
        for audience, principals, state, *figures in audiences:
            if state != self.states.get(audience, EMPTY_STATE):
                yield f"the state of what {principals} may read is not that of the rows"
            if figures != (expected := self._figures.get(audience, [0, 0, 0])):
                yield f"what {principals} may read is counted as {figures}, not {expected}"

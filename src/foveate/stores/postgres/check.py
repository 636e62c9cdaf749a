"""The check of a server store: all that is derived is computed again and compared.

It reads one snapshot, document by document, and reports at most 100 findings a part.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from foveate.stores.base import Report
from foveate.stores.checksums import MASK, StoreDamaged, checksum
from foveate.stores.filters import encode_facts
from foveate.stores.int8 import squared_norms
from foveate.stores.postgres import checksums, half_vectors, postings
from foveate.stores.postgres.filters import FILTER_ROWS
from foveate.stores.postgres.schema import principals_digest
from foveate.stores.postgres.statements import Rows, Statement, StoreContext
from foveate.stores.recount import Recount, mix_places
from foveate.stores.rows import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    quote_columns,
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


def _find_damage(store: StoreContext) -> list[str]:
    """What is not as it was written beside documents and chunks."""
    found: list[str] = []
    for what, one, other in _COPIES:
        rows = store.rows(f"({one} EXCEPT {other}) UNION ALL ({other} EXCEPT {one}) LIMIT 1")
        found += [f"{what}: the two copies differ" for _ in rows]
    rows = store.rows(f"SELECT {checksums.AUDIENCE} FROM {{s}}.audiences ORDER BY id")
    for row in rows:
        if checksums.audience_checksum(row) != row[-1]:
            found.append(f"the audience {row[1]} is not as it was written")
    (compared,) = store.run(checksums.compared(store, [row[0] for row in rows]))
    try:
        checksums.refuse_other(compared, rows)
    except StoreDamaged as error:
        found.append(str(error))
    last: tuple[Any, ...] = ("", "")
    page = (
        "SELECT fingerprint, hash, tokens, checksum FROM {s}.counts "
        f"WHERE (fingerprint, hash) > (%s, %s) ORDER BY fingerprint, hash LIMIT {_PAGE}"
    )
    while True:
        rows = store.rows(page, last)
        if not rows:
            return found
        last = rows[-1][:2]
        for row in rows:
            if checksum(row[:-1]) != row[-1]:
                found.append(f"the tokens of the text {row[1]} are damaged; they are not used")


_DOCUMENTS_PER_PAGE = 50
"""Documents at a time."""
_DOCUMENT_COLUMNS = ("id", "audience", "text", *DOCUMENT_FIELDS)
_CHUNK_COLUMNS = (
    *("id", "document", "audience", "facts", "checksum"),
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


def check_store(store: StoreContext) -> Report:
    """Work out again all that is derived, in one snapshot; see `Report`."""
    look = _Check(store)
    for part, said, query in _RELATIONS:
        rows = store.rows(query)
        look.recount.take(part, (said.format(row[0]) for row in rows))
    rows = store.rows("SELECT id, principals, digest FROM {s}.audiences")
    members_ = store.rows("SELECT principal, audience FROM {s}.members")
    look.recount.take("rows", look.check_audiences(rows, members_))
    columns = quote_columns(_DOCUMENT_COLUMNS)
    page = f"SELECT {columns} FROM {{s}}.documents WHERE id > %s ORDER BY id LIMIT %s"
    last = -1
    while True:
        documents = store.rows(page, [last, _DOCUMENTS_PER_PAGE])
        if not documents:
            break
        last = documents[-1][0]
        ids = [row[0] for row in documents]
        derived = store.run(*_document_statements(store, ids))
        for document in documents:
            look.check_document(document, *derived)
    query = "SELECT id, principals, state, documents, chunks, words FROM {s}.audiences ORDER BY id"
    audiences = store.rows(query)
    for audience, principals, state, *figures in audiences:
        look.recount.take(
            "state", look.recount.state_findings(audience, principals, state, figures)
        )
    look.recount.take("words", _check_postings(store, look))
    look.recount.take("checksums", iter(_find_damage(store)))
    return look.recount.report(store.embedder)


def _check_postings(store: StoreContext, look: _Check) -> Iterator[str]:
    """Terms whose places are not those of the chunks' texts, and rows that are out of order."""
    query = (
        "SELECT term, audience, document, places FROM {s}.postings WHERE (term, audience, document)"
        f" > (%s, %s, %s) ORDER BY term, audience, document LIMIT {_PAGE}"
    )
    last: tuple[Any, ...] = ("", -1, -1)
    odd, reach = list[str](), -1
    found: dict[tuple[str, int], tuple[int, int]] = {}
    while True:
        rows = store.rows(query, list(last))
        if not rows:
            break
        for term, audience, first, data in rows:
            reach = reach if (term, audience) == last[:2] else -1
            last = (term, audience, first)
            chunks = np.frombuffer(data, dtype=postings.PLACE_DTYPE)["chunk"].tolist()
            owners = [look.owners.get(chunk, 0) for chunk in chunks]
            if not owners or min(owners) < first or reach >= first:
                odd.append(f"the row of {term!r} under document row {first} is out of order")
            reach = max(owners, default=first)
        _add_places(found, [(row[0], row[1], row[3]) for row in rows])
    terms = store.rows("SELECT term, audience, checksum FROM {s}.terms")
    noted = {(term, audience): noted for term, audience, noted in terms if noted}
    for key in noted.keys() | found.keys() | look.places.keys():
        mixed, plain = found.get(key, (0, 0))
        if noted.get(key, 0) != plain:
            odd.append(f"the places of {key[0]!r} are not those that were written")
        if look.places.get(key, (0, 0))[0] != mixed:
            odd.append(f"the places of {key[0]!r} are not those of the texts")
    return iter(odd)


def _add_places(
    sums: dict[tuple[str, int], tuple[int, int]], rows: Sequence[tuple[str, int, bytes]]
) -> None:
    """Add to sums by term and audience: of numbers of the places, and what readers compare."""
    data = b"".join(row[-1] for row in rows)
    places = np.frombuffer(data, dtype=postings.PLACE_DTYPE)
    numbers = mix_places(places["chunk"], places["terms"], places["count"])
    at = 0
    for term, audience, packed in rows:
        end = at + len(packed) // postings.PLACE_BYTES
        mixed, plain = sums.get((term, audience), (0, 0))
        mixed = (mixed + int(numbers[at:end].sum())) % (1 << 64)
        sums[term, audience] = mixed, plain + postings.sum_of(term, places[at:end]) & MASK
        at = end


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
        self.places: dict[tuple[str, int], tuple[int, int]] = {}
        """Term and audience → the sums over the places that they should have."""
        self.owners: dict[int, int] = {}
        """Chunk → the row of its document."""

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
        numbers = {one["id"] for one in mine}
        scanned = {
            one[0]: (one[1], one[2], half_vectors.decode_vector(one[4], self._width))
            for one in scan
            if one[0] in numbers
        }
        # That an outline is missing is found as another copy too.
        own = next((one for one in outline if one[0] == row["id"]), None)
        terms = self.recount.check_document(row, mine, scanned, own)
        self.recount.take("rows", _find_other_facts(mine))
        self.recount.take(
            "vectors", _find_other_norms([one for one in scan if one[0] in numbers], self._width)
        )
        audiences = {one["id"]: one["audience"] for one in mine}
        self.owners.update(dict.fromkeys(terms, row["id"]))
        encoded = postings.encode_postings(terms, audiences)
        _add_places(self.places, list(zip(*encoded, strict=True)))
        for chunk in mine:
            self.recount.figures[chunk["audience"]][2] += len(terms[chunk["id"]])


def _find_other_facts(chunks: Iterable[dict[str, Any]]) -> Iterator[str]:
    for chunk in chunks:
        if encode_facts(chunk["metadata"]) != chunk["facts"]:
            yield f"chunk {chunk['chunk_id']!r} is filtered by other metadata than it has"


def _find_other_norms(rows: Iterable[Sequence[Any]], width: int) -> Iterator[str]:
    for chunk, _, _, norm, packed in rows:
        vector = np.frombuffer(half_vectors.decode_vector(packed, width), dtype=np.int8)
        if int(squared_norms(vector[None])[0]) != norm:
            yield f"row {chunk}: its vector has another length"

"""The check of a server store: all that is derived is computed again and compared.

It reads one snapshot, document by document, and reports at most 100 findings a part.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from foveate.stores.base import Report
from foveate.stores.checksums import StoreDamaged
from foveate.stores.filters import encode_facts
from foveate.stores.int8 import squared_norms
from foveate.stores.postgres import checksums, postings
from foveate.stores.postgres.filters import FILTER_ROWS
from foveate.stores.postgres.schema import principals_digest
from foveate.stores.postgres.statements import StoreContext
from foveate.stores.recount import Recount, mix_places
from foveate.stores.sql.check import (
    PlaceSums,
    check_documents,
    checksum_findings,
    relation_findings,
    state_findings,
)
from foveate.stores.totals import WORDS, Totals

_POSTINGS_PER_PAGE = 1000
_DOCUMENTS_PER_PAGE = 50
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

Sums: TypeAlias = PlaceSums[tuple[str, int]]
"""By term and audience."""


def check_store(store: StoreContext) -> Report:
    """Work out again all that is derived, in one snapshot; see `Report`."""
    recount = Recount[int](totals=Totals(width=3))
    places = Sums()
    owners: dict[int, int] = {}
    parts = {
        "rows": chain(
            relation_findings(store, recount, json.loads),
            _check_digests(store),
            _check_documents(store, recount, places, owners),
        ),
        "state": state_findings(store, recount),
        "words": _check_postings(store, places, owners),
        "checksums": chain(_check_copies(store), checksum_findings(store)),
    }
    for name, findings in parts.items():
        recount.take(name, findings)
    return recount.report(store.embedder)


def _check_digests(store: StoreContext) -> Iterator[str]:
    """Audiences that stand under the key of other principals."""
    for principals, digest in store.rows("SELECT principals, digest FROM {s}.audiences"):
        if principals_digest(principals) != digest:
            yield f"the audience {principals} is kept under the key of others"


def _check_documents(
    store: StoreContext, recount: Recount[int], places: Sums, owners: dict[int, int]
) -> Iterator[str]:
    """Each document; adds up the `places` of terms, and finds the `owners`, chunk → document."""
    for row, chunks, terms, scanned in check_documents(
        store,
        recount,
        page=_DOCUMENTS_PER_PAGE,
        chunk_columns=["facts"],
        scan_columns=["norm"],
    ):
        recount.take("vectors", _find_other_norms(scanned))
        audiences = {chunk["id"]: chunk["audience"] for chunk in chunks}
        owners.update(dict.fromkeys(terms, row["id"]))
        encoded = postings.encode_postings(terms, audiences)
        _add_places(places, list(zip(*encoded, strict=True)))
        for chunk in chunks:
            recount.totals.count(chunk["audience"], WORDS, len(terms[chunk["id"]]))
            if encode_facts(chunk["metadata"]) != chunk["facts"]:
                yield f"chunk {chunk['chunk_id']!r} is filtered by other metadata than it has"


def _find_other_norms(scanned: Iterable[Sequence[Any]]) -> Iterator[str]:
    for chunk, _, _, vector, norm in scanned:
        if int(squared_norms(np.frombuffer(vector, dtype=np.int8)[None])[0]) != norm:
            yield f"row {chunk}: its vector has another length"


def _check_postings(store: StoreContext, expected: Sums, owners: dict[int, int]) -> Iterator[str]:
    """Terms whose places are not those of the chunks' texts, and rows that are out of order."""
    query = (
        "SELECT term, audience, document, places FROM {s}.postings WHERE (term, audience, document)"
        f" > (%s, %s, %s) ORDER BY term, audience, document LIMIT {_POSTINGS_PER_PAGE}"
    )
    last: tuple[Any, ...] = ("", -1, -1)
    reach = -1
    found = Sums()
    while rows := store.rows(query, last):
        for term, audience, first, data in rows:
            reach = reach if (term, audience) == last[:2] else -1
            last = (term, audience, first)
            chunks = np.frombuffer(data, dtype=postings.PLACE_DTYPE)["chunk"].tolist()
            documents = [owners.get(chunk, 0) for chunk in chunks]
            if not documents or min(documents) < first or reach >= first:
                yield f"the row of {term!r} under document row {first} is out of order"
            reach = max(documents, default=first)
        _add_places(found, [(row[0], row[1], row[3]) for row in rows])
    terms = store.rows("SELECT term, audience, checksum FROM {s}.terms")
    noted = {(term, audience): noted for term, audience, noted in terms if noted}
    yield from found.findings(noted, expected)


def _add_places(sums: Sums, rows: Sequence[tuple[str, int, bytes]]) -> None:
    """Add up the places of terms in audiences."""
    data = b"".join(row[-1] for row in rows)
    places = np.frombuffer(data, dtype=postings.PLACE_DTYPE)
    numbers = mix_places(places["chunk"], places["terms"], places["count"])
    at = 0
    for term, audience, packed in rows:
        end = at + len(packed) // postings.PLACE_BYTES
        mixed = int(numbers[at:end].sum())
        sums.count((term, audience), mixed, postings.sum_of(term, places[at:end]))
        at = end


def _check_copies(store: StoreContext) -> Iterator[str]:
    """What is there twice and differs, and sums over rows that the server finds."""
    for what, one, other in _COPIES:
        query = f"({one} EXCEPT {other}) UNION ALL ({other} EXCEPT {one}) LIMIT 1"
        for _ in store.rows(query):
            yield f"{what}: the two copies differ"
    audiences = store.rows(f"SELECT {store.audience_columns} FROM {{s}}.audiences ORDER BY id")
    (compared,) = store.run(checksums.compared(store, [row[0] for row in audiences]))
    try:
        checksums.refuse_other(compared, audiences)
    except StoreDamaged as error:
        yield str(error)

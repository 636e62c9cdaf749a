"""The check of a server store, in one snapshot; see `sql.check`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from foveate.stores.base import Report
from foveate.stores.checksums import MASK
from foveate.stores.filters import facts_to_index
from foveate.stores.postgres import checksums, postings
from foveate.stores.postgres.statements import StoreContext
from foveate.stores.recount import Recount
from foveate.stores.rows import terms_to_index
from foveate.stores.sql.check import (
    audience_findings,
    check_documents,
    row_findings,
    word_findings,
)
from foveate.stores.totals import WORDS, Totals

_POSTINGS_PER_PAGE = 1000
_DOCUMENTS_PER_PAGE = 50

Sums: TypeAlias = dict[tuple[str, int], int]
"""By term and audience."""


def check_store(store: StoreContext) -> Report:
    """Work out again all that is derived, in one snapshot; see `Report`."""
    recount = Recount[int](totals=Totals(width=3))
    sums: Sums = {}
    parts = {
        "rows": chain(_check_rows(store, recount, sums), row_findings(store, recount)),
        "words": _check_words(store, sums),
        "vectors": _check_scan(store),
        "state": audience_findings(store, recount),
    }
    for name, findings in parts.items():
        recount.take(name, findings)
    return recount.report(store.embedder)


def _check_rows(store: StoreContext, recount: Recount[int], sums: Sums) -> Iterator[str]:
    """Each document; adds up the places of terms and facts."""
    for document, chunks in check_documents(store, recount, page=_DOCUMENTS_PER_PAGE):
        audiences = [each["audience"] for each in chunks]
        terms = [terms_to_index(each) for each in chunks]
        facts = [facts_to_index(document, each) for each in chunks]
        encoded = postings.encode_postings([each["id"] for each in chunks], terms, facts, audiences)
        for key, total in postings.sums_by_term(zip(*encoded, strict=True)).items():
            sums[key] = sums.get(key, 0) + total & MASK
        for audience, some in zip(audiences, terms, strict=True):
            recount.totals.count(audience, WORDS, len(some))
    yield from ()


def _check_words(store: StoreContext, expected: Sums) -> Iterator[str]:
    noted = store.rows("SELECT term, audience, checksum FROM {s}.terms")
    ((largest,),) = store.rows("SELECT coalesce(max(id), 0) FROM {s}.chunks")
    by_term = {(term, audience): total for term, audience, total in noted}
    yield from word_findings(_index_rows(store), by_term, expected, largest)


def _index_rows(store: StoreContext) -> Iterator[tuple[tuple[str, int], int, tuple[Any, int]]]:
    query = (
        "SELECT term, audience, document, places FROM {s}.postings WHERE (term, audience, document)"
        f" > (%s, %s, %s) ORDER BY term, audience, document LIMIT {_POSTINGS_PER_PAGE}"
    )
    last: tuple[Any, ...] = ("", -1, -1)
    while rows := store.rows(query, last):
        for *key, data in rows:
            term, audience, first = last = tuple(key)
            places = np.frombuffer(data, dtype=postings.PLACE_DTYPE)
            yield (term, audience), first, (places["chunk"], postings.sum_of(term, places))


def _check_scan(store: StoreContext) -> Iterator[str]:
    """The sums over what searches compare, as the server finds them."""
    audiences = store.rows(f"SELECT {store.audience_columns} FROM {{s}}.audiences ORDER BY id")
    (compared,) = store.run(checksums.compared(store, [row[0] for row in audiences]))
    checksums.refuse_other(compared, audiences)
    yield from ()

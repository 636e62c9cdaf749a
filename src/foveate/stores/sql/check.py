"""The check of an SQL store, in one state of it.

Every row is held to its checksum, and all that stands over several rows is made again: where the
chunks of a document are, the index of words and facts, and what readers hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from foveate.stores.base import Report
from foveate.stores.checksums import MASK, StoreDamaged, checksum
from foveate.stores.filters import facts_to_index
from foveate.stores.places import decode_places
from foveate.stores.recount import Recount
from foveate.stores.rows import (
    DOCUMENT_COLUMNS,
    HANDED_OUT,
    chunk_members,
    document_checksum,
    document_member,
    terms_to_index,
    with_text,
)
from foveate.stores.sql import postings
from foveate.stores.sql.audiences import member_rows
from foveate.stores.sql.contents import chunk_statement, with_vectors
from foveate.stores.sql.database import Database
from foveate.stores.sql.tables import AUDIENCE_COLUMNS
from foveate.stores.totals import CHUNKS, DOCUMENTS, WORDS, Totals

_CHUNK_COLUMNS = ("id", *HANDED_OUT, "vector", "audience", "terms", "checksum")
_PAGE, _DOCUMENTS_PER_PAGE = 1_000, 50

Row: TypeAlias = dict[str, Any]
Sums: TypeAlias = dict[tuple[str, int], int]
"""By term and audience."""


def check_database(
    database: Database,
    vectors: Iterator[str],
    *,
    first: Mapping[str, Iterator[str]],
    readable: Callable[[Iterator[str]], Iterator[str]] = iter,
    passes: tuple[type[Exception], ...] = (),
) -> Report:
    """Work out again all that is derived; see `Report`.

    `vectors`: the engine's own findings of them, `first`: of a part that comes before. `readable`:
    makes findings of the engine's errors; `passes`: those that end the check.
    """
    recount = Recount[int](totals=Totals(width=3), passes=passes)
    sums: Sums = {}
    parts = {
        **first,
        "rows": chain(
            _document_findings(database, recount, sums), _row_findings(database, recount)
        ),
        "words": _word_findings(database, sums),
        "vectors": vectors,
        "state": _audience_findings(database, recount),
    }
    for name, findings in parts.items():
        recount.take(name, readable(findings))
    return recount.report(database.embedder)


def _document_findings(database: Database, recount: Recount[int], sums: Sums) -> Iterator[str]:
    """Each document with its chunks; adds up what they hold."""
    columns = ("checksum", *DOCUMENT_COLUMNS)
    fields = ", ".join(f"d.{name}" for name in columns)
    query = (
        f"SELECT {fields}, CAST(d.text AS {{bytes}}) FROM {{s}}.documents AS d "
        f"WHERE d.id > %s ORDER BY d.id LIMIT {_DOCUMENTS_PER_PAGE}"
    )
    last = -1
    while rows := database.rows(query, [last]):
        documents = [dict(zip((*columns, "text"), row, strict=True)) for row in rows]
        last = documents[-1]["id"]
        among, bound = database.ids_among([each["id"] for each in documents])
        (found,) = database.run(chunk_statement(database, f"c.document {among}", bound))
        chunks: dict[str, list[Row]] = {}
        for values in with_vectors(database, found):
            chunk = dict(zip(_CHUNK_COLUMNS, values, strict=True))
            chunks.setdefault(chunk["document_id"], []).append(chunk)
        for document in documents:
            own = sorted(chunks.get(document["document_id"], []), key=itemgetter("id"))
            yield from _damage(document, own)
            _count(document, own, recount, sums)


def _damage(document: Row, chunks: Iterable[Row]) -> Iterator[str]:
    name = document["document_id"]
    if document_checksum(document) != document["checksum"]:
        yield f"document {name!r} is not as it was written"
    try:
        with_text(document, document["text"])
    except StoreDamaged:
        yield f"document {name!r}: its text is not the one that was put"
    there = sorted((each["sequence"], each["id"], each["audience"]) for each in chunks)
    if there != sorted(decode_places(document["places"])):
        yield f"document {name!r}: its chunks are not where they were put"
    for chunk in chunks:
        *values, noted = chunk.values()
        if checksum(values) != noted:
            yield f"chunk {chunk['chunk_id']!r} is not as it was written"


def _count(document: Row, chunks: list[Row], recount: Recount[int], sums: Sums) -> None:
    """Take a document into the totals, and its terms and facts into the sums over their places."""
    recount.documents += 1
    recount.chunks += len(chunks)
    recount.totals.apply([document_member(document)], DOCUMENTS)
    recount.totals.apply(chunk_members(document, chunks), CHUNKS)
    texts = [terms_to_index(each) for each in chunks]
    entry = postings.Entry(
        document=document["id"],
        chunks=[each["id"] for each in chunks],
        audiences=[each["audience"] for each in chunks],
        lengths=list(map(len, texts)),
        texts=[
            [*terms, *facts_to_index(document, each)]
            for terms, each in zip(texts, chunks, strict=True)
        ],
    )
    for audience, length in zip(entry.audiences, entry.lengths, strict=True):
        recount.totals.count(audience, WORDS, length)
    for key, total in postings.encode_postings([entry])[1].items():
        sums[key] = sums.get(key, 0) + total & MASK


def _row_findings(database: Database, recount: Recount[int]) -> Iterator[str]:
    """Rows of chunks that no document has, and token counts that are not as they were written."""
    for table in ("chunks", "scan"):
        ((many,),) = database.rows(f"SELECT count(*) FROM {{s}}.{table}")
        if many != recount.chunks:
            yield f"{many} rows of {table} for {recount.chunks} chunks"
    columns = "SELECT fingerprint, hash, tokens, checksum FROM {s}.counts"
    last: tuple[Any, ...] = ("", "")
    query = f"{columns} WHERE (fingerprint, hash) > (%s, %s) ORDER BY 1, 2 LIMIT {_PAGE}"
    while rows := database.rows(query, last):
        for row in rows:
            if checksum(row[:-1]) != row[-1]:
                yield f"the tokens of the text {row[1]} are damaged; they are counted again"
        last = rows[-1][:2]


def _word_findings(database: Database, expected: Sums) -> Iterator[str]:
    """Terms and facts whose places are not those of the chunks, or stand where none looks."""
    noted = {
        (term, audience): total
        for term, audience, total in database.rows("SELECT term, audience, checksum FROM {s}.terms")
    }
    ((largest,),) = database.rows("SELECT coalesce(max(id), 0) FROM {s}.chunks")
    found: Sums = {}
    for key, rows in groupby(_index_rows(database), key=itemgetter(0, 1)):
        reach = -1
        for *_, first, data in rows:
            places = postings.decode_places(data)
            chunks = places["chunk"]
            ascend = len(chunks) and reach < first <= chunks[0] and (np.diff(chunks) > 0).all()
            if not ascend or chunks[-1] > largest:
                yield f"the row of {key[0]!r} under {first} is out of order"
            reach = int(chunks.max(initial=reach))
            found[key] = found.get(key, 0) + postings.sum_of(key[0], places) & MASK
    for key in found.keys() | noted.keys() | expected.keys():
        if not found.get(key, 0) == noted.get(key, 0) == expected.get(key, 0):
            yield f"the places of {key[0]!r} are not those of the texts"


def _index_rows(database: Database) -> Iterator[tuple[str, int, int, bytes]]:
    query = (
        "SELECT p.term, p.audience, p.first, {places} FROM {s}.postings AS p "
        f"WHERE (p.term, p.audience, p.first) > (%s, %s, %s) ORDER BY 1, 2, 3 LIMIT {_PAGE}"
    )
    last: tuple[Any, ...] = ("", -1, -1)
    while rows := database.rows(query, last):
        yield from rows
        last = rows[-1][:3]


def _audience_findings(database: Database, recount: Recount[int]) -> Iterator[str]:
    """Audiences whose state, figures or members are not those of the rows."""
    members: list[tuple[Any, ...]] = []
    for row in database.rows(f"SELECT {AUDIENCE_COLUMNS} FROM {{s}}.audiences"):
        number, principals, state, *figures, noted = row
        if checksum(row[:-1]) != noted:
            yield f"the audience {principals} is not as it was written"
        expected, counted = recount.totals.of(number)
        if state != expected:
            yield f"the state of what {principals} may read is not that of the rows"
        if (many := figures[: recount.totals.width]) != counted:
            yield f"what {principals} may read is counted as {many}, not {counted}"
        members += member_rows(database, number, principals)
    there = database.rows("SELECT principal, key, audience, checksum FROM {s}.members")
    for principal, _, audience, _ in set(members).symmetric_difference(there):
        yield f"the members of audience {audience} are others: {principal}"

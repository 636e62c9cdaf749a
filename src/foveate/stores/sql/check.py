"""The check of what the SQL stores have in common; an engine adds what is its own.

Every row is held to its checksum, and all that stands over several rows is made again: where the
chunks of a document are, the index of words and facts, and what readers hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np

from foveate.stores.checksums import MASK, StoreDamaged, checksum
from foveate.stores.places import decode_places
from foveate.stores.recount import Recount
from foveate.stores.rows import (
    DOCUMENT_COLUMNS,
    HANDED_OUT,
    chunk_members,
    document_checksum,
    document_member,
    with_text,
)
from foveate.stores.sql.audiences import member_rows
from foveate.stores.sql.contents import chunk_statement, with_vectors
from foveate.stores.sql.database import Database
from foveate.stores.totals import CHUNKS, DOCUMENTS

_CHUNK_COLUMNS = ("id", *HANDED_OUT, "vector", "audience", "terms", "checksum")
_ROWS_PER_PAGE = 1000

Row = dict[str, Any]
K = TypeVar("K")


def check_documents(
    database: Database, recount: Recount[int], *, page: int
) -> Iterator[tuple[Row, list[Row]]]:
    """Check each document and its chunks, and hand them out; `page`: how many are read at once."""
    columns = ("checksum", *DOCUMENT_COLUMNS)
    fields = ", ".join(f"d.{name}" for name in columns)
    query = (
        f"SELECT {fields}, CAST(d.text AS {{bytes}}) FROM {{s}}.documents AS d "
        "WHERE d.id > %s ORDER BY d.id LIMIT %s"
    )
    last = -1
    while rows := database.rows(query, [last, page]):
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
            recount.take("rows", _document_findings(document, own))
            recount.totals.apply([document_member(document)], DOCUMENTS)
            recount.totals.apply(chunk_members(document, own), CHUNKS)
            recount.documents += 1
            recount.chunks += len(own)
            yield document, own


def _document_findings(document: Row, chunks: Iterable[Row]) -> Iterator[str]:
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


def row_findings(database: Database, recount: Recount[int]) -> Iterator[str]:
    """Rows of chunks that no document has, and token counts that are not as they were written."""
    for table in ("chunks", "scan"):
        ((many,),) = database.rows(f"SELECT count(*) FROM {{s}}.{table}")
        if many != recount.chunks:
            yield f"{many} rows of {table} for {recount.chunks} chunks"
    columns = "SELECT fingerprint, hash, tokens, checksum FROM {s}.counts"
    last: tuple[Any, ...] = ("", "")
    query = f"{columns} WHERE (fingerprint, hash) > (%s, %s) ORDER BY 1, 2 LIMIT {_ROWS_PER_PAGE}"
    while rows := database.rows(query, last):
        for row in rows:
            if checksum(row[:-1]) != row[-1]:
                yield f"the tokens of the text {row[1]} are damaged; they are counted again"
        last = rows[-1][:2]


def audience_findings(database: Database, recount: Recount[int]) -> Iterator[str]:
    """Audiences whose state, figures or members are not those of the rows."""
    members: list[tuple[Any, ...]] = []
    for row in database.rows(f"SELECT {database.audience_columns} FROM {{s}}.audiences"):
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


def word_findings(
    rows: Iterable[tuple[K, int, tuple[Any, int]]],
    noted: Mapping[K, int],
    expected: Mapping[K, int],
    largest: int,
) -> Iterator[str]:
    """Terms whose places are not those of the chunks, or stand where no search looks.

    `rows`: of the index in its order: term, the row id under which it stands, and its chunks with
    the sum over its places. `noted`, `expected`: sums by term. `largest`: a row id of a chunk.
    """
    found: dict[K, int] = {}
    for term, some in groupby(rows, key=itemgetter(0)):
        reach = -1
        for _, first, (chunks, total) in some:
            ascend = len(chunks) and reach < first <= chunks[0] and (np.diff(chunks) > 0).all()
            if not ascend or chunks[-1] > largest:
                yield f"the row of {term!r} under {first} is out of order"
            reach = int(chunks.max(initial=reach))
            found[term] = found.get(term, 0) + total & MASK
    for term in found.keys() | noted.keys() | expected.keys():
        if not found.get(term, 0) == noted.get(term, 0) == expected.get(term, 0):
            yield f"the places of {term!r} are not those of the texts"

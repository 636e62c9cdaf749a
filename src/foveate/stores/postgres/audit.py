"""What of a server store is not what its checksum says, in words, for `check`. Only reads.

Whoever reads one of these rows gets an error, so that each must be found here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from foveate.stores import outlines
from foveate.stores.checksums import MASK, StoreDamaged, checksum
from foveate.stores.postgres import checksums, half_vectors
from foveate.stores.postgres.names import Names
from foveate.stores.postgres.postings import verified
from foveate.stores.postgres.statements import Rows, Statement, StatementFlow
from foveate.stores.rows import CHUNK_COLUMNS, DOCUMENT_FIELDS

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


def wrong(names: Names) -> StatementFlow[list[str]]:
    """All that is wrong, one sentence a thing."""
    found: list[str] = []
    for what, one, other in _COPIES:
        query = names.sql(f"({one} EXCEPT {other}) UNION ALL ({other} EXCEPT {one}) LIMIT 1")
        (rows,) = yield [Statement(query)]
        found += [f"{what}: the two copies differ" for _ in rows]
    (rows,) = yield [
        Statement(names.sql(f"SELECT {checksums.AUDIENCE} FROM {{s}}.audiences ORDER BY id"))
    ]
    found += list(_audiences(rows))
    (compared,) = yield [checksums.compared(names, [row[0] for row in rows])]
    try:
        checksums.refuse_other(compared, rows)
    except StoreDamaged as error:
        found.append(str(error))
    for query, told in (
        (_documents(names), _of_documents),
        (_chunks(names), _of_chunks),
        (_terms(names), _of_terms),
        (_counts(names), _of_counts),
    ):
        last: Any = []
        while True:
            (rows,) = yield [Statement(query.format(after="WHERE k > %s" if last else ""), last)]
            if not rows:
                break
            last = [rows[-1][0]]
            found += list(told(rows, names))
    return found


def _audiences(rows: Rows) -> Iterator[str]:
    for row in rows:
        if checksums.audience_checksum(row) != row[-1]:
            yield f"the audience {row[1]} is not as it was written"


def _paged(inner: str) -> str:
    return f"SELECT * FROM ({inner}) AS x {{after}} ORDER BY k LIMIT {_PAGE}"


def _documents(names: Names) -> str:
    chunks = (
        "(SELECT array_agg(ROW(c.sequence, c.id, c.audience)::text ORDER BY c.id) "
        "FROM {s}.chunks AS c WHERE c.document = d.id)"
    )
    return _paged(
        names.sql(
            f"SELECT d.id AS k, {chunks}, o.places, o.checksum, {_DOCUMENT}, o.row_checksum "
            "FROM {s}.documents AS d JOIN {s}.outlines AS o ON o.document = d.id"
        )
    )


def _of_documents(rows: Rows, _: Names) -> Iterator[str]:
    for number, chunks, packed, noted, *row in rows:
        name = row[1]
        if checksum(row[:-1]) != row[-1]:
            yield f"document {name!r} is not as it was written"
        places = [f"({s},{i},{a})" for s, i, a in outlines.unpacked(packed)]
        if sorted(places) != sorted(chunks or []) or checksum((number, name, packed)) != noted:
            yield f"document {name!r}: its chunks are not where they were put"


def _chunks(names: Names) -> str:
    vector = half_vectors.vector_expression(names)
    return _paged(
        names.sql(
            f"SELECT c.id AS k, c.key_checksum, {CHUNK_COLUMNS}, {vector} AS v, "
            "c.audience, c.checksum FROM {s}.chunks AS c JOIN {s}.documents AS d "
            "ON d.id = c.document JOIN {s}.scan AS s ON s.chunk = c.id"
        ).replace("c.id, c.chunk_id", "c.id AS i, c.chunk_id", 1)
    )


def _of_chunks(rows: Rows, names: Names) -> Iterator[str]:
    for _, key, *row in rows:
        row[-3] = half_vectors.decode_vector(row[-3], names.dimensions)
        place = (row[0], row[3], row[5], row[8] or 0, row[1])
        if checksum(row[:-1]) != row[-1] or checksum(place) != key:
            yield f"chunk {row[1]!r} is not as it was written"


def _terms(names: Names) -> str:
    return _paged(
        names.sql(
            "SELECT w.term AS k, sum(w.checksum) AS noted, (SELECT coalesce(string_agg(p.places, "
            "''::bytea), ''::bytea) FROM {s}.postings AS p WHERE p.term = w.term) AS places "
            "FROM (SELECT term, checksum FROM {s}.terms UNION ALL SELECT DISTINCT term, 0::bigint "
            "FROM {s}.postings) AS w GROUP BY w.term"
        )
    )


def _of_terms(rows: Rows, _: Names) -> Iterator[str]:
    for term, noted, places in rows:
        try:
            verified(term, places, int(noted) & MASK)
        except StoreDamaged:
            yield f"the places of {term!r} are not those that were written"


def _counts(names: Names) -> str:
    return _paged(
        names.sql(
            "SELECT fingerprint || hash AS k, fingerprint, hash, tokens, checksum FROM {s}.counts"
        )
    )


def _of_counts(rows: Rows, _: Names) -> Iterator[str]:
    for _, *row in rows:
        if checksum(row[:-1]) != row[-1]:
            yield f"the tokens of the text {row[1]} are damaged; they are not used"

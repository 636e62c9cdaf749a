"""The check of the rows that the SQL stores have in common; an engine adds what is its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from foveate.stores.checksums import MASK, checksum
from foveate.stores.recount import Recount
from foveate.stores.rows import CHUNK_FIELDS, DOCUMENT_FIELDS, quote_columns
from foveate.stores.sql.database import Database

# What must find nothing, and what it means where it does; `{}` is the row found.
_RELATIONS = {
    "chunk {!r} belongs to no document": (
        "SELECT chunk_id FROM {s}.chunks AS c WHERE NOT EXISTS "
        "(SELECT 1 FROM {s}.documents AS d WHERE d.id = c.document)"
    ),
    "row {} is searched and is no chunk": (
        "SELECT chunk FROM {s}.scan AS s WHERE NOT EXISTS "
        "(SELECT 1 FROM {s}.chunks AS c WHERE c.id = s.chunk)"
    ),
}
_DOCUMENT_COLUMNS = ("id", "audience", "text", *DOCUMENT_FIELDS)
_CHUNK_COLUMNS = ("id", "document", "audience", "checksum", *CHUNK_FIELDS)
_SCAN = "FROM {s}.chunks AS c JOIN {s}.scan AS s ON s.chunk = c.id WHERE c.document"
_COUNTS_PER_PAGE = 1000


class CheckedDocument(NamedTuple):
    """A document that was checked, its chunks, and their terms by row id.

    `scanned`: rows of `scan`: chunk, audience, terms, vector as int8 bytes, and what was asked for.
    """

    row: dict[str, Any]
    chunks: list[dict[str, Any]]
    terms: dict[int, list[str]]
    scanned: list[tuple[Any, ...]]


def relation_findings(
    database: Database, recount: Recount[int], decode: Callable[[str], str] = str
) -> Iterator[str]:
    """Rows that refer to nothing, and audiences with other members; `decode`: a member's name."""
    for said, query in _RELATIONS.items():
        for (found,) in database.rows(query):
            yield said.format(found)
    recount.principals.update(database.rows("SELECT id, principals FROM {s}.audiences"))
    members = database.rows("SELECT principal, audience FROM {s}.members")
    yield from recount.member_findings(members, decode)


def check_documents(
    database: Database,
    recount: Recount[int],
    *,
    page: int,
    chunk_columns: Sequence[str] = (),
    scan_columns: Sequence[str] = (),
) -> Iterator[CheckedDocument]:
    """Check each document with what is derived from it, and read some columns more.

    `page`: how many documents are read at once.
    """
    columns = quote_columns(_DOCUMENT_COLUMNS)
    query = f"SELECT {columns} FROM {{s}}.documents WHERE id > %s ORDER BY id LIMIT %s"
    fields = (*_CHUNK_COLUMNS, *chunk_columns)
    figures = "".join(f", s.{name}" for name in scan_columns)
    last = -1
    while documents := database.rows(query, [last, page]):
        last = documents[-1][0]
        mine, bound = database.ids_among([row[0] for row in documents])
        queries = (
            f"SELECT {quote_columns(fields)} FROM {{s}}.chunks WHERE document {mine} ORDER BY id",
            f"SELECT c.document, s.chunk, s.audience, s.terms, {{vector}}{figures} {_SCAN} {mine}",
            f"SELECT * FROM {{s}}.outlines WHERE document {mine}",
        )
        vector = database.vector_expression()
        chunks, scan, outlines = database.run(
            *(database.statement(each, bound, vector=vector) for each in queries)
        )
        for document in documents:
            row = dict(zip(_DOCUMENT_COLUMNS, document, strict=True))
            own = [dict(zip(fields, one, strict=True)) for one in chunks if one[1] == row["id"]]
            scanned = [
                (*one[1:4], database.decode_vector(one[4]), *one[5:])
                for one in scan
                if one[0] == row["id"]
            ]
            outline = next((one for one in outlines if one[0] == row["id"]), None)
            found = {one[0]: (one[1], one[2], one[3]) for one in scanned}
            terms = recount.check_document(row, own, found, outline)
            yield CheckedDocument(row, own, terms, scanned)


def state_findings(database: Database, recount: Recount[int]) -> Iterator[str]:
    """Audiences whose state or figures are not those of the rows."""
    query = f"SELECT {database.audience_columns} FROM {{s}}.audiences ORDER BY id"
    for number, principals, state, *figures in database.rows(query):
        yield from recount.state_findings(
            number, principals, state, figures[: recount.totals.width]
        )


def checksum_findings(database: Database) -> Iterator[str]:
    """Audiences and token counts that are not as they were written."""
    for row in database.rows(f"SELECT {database.audience_columns} FROM {{s}}.audiences"):
        if checksum(row[:-1]) != row[-1]:
            yield f"the audience {row[1]} is not as it was written"
    columns = "SELECT fingerprint, hash, tokens, checksum FROM {s}.counts"
    order = f"ORDER BY fingerprint, hash LIMIT {_COUNTS_PER_PAGE}"
    rows = database.rows(f"{columns} {order}")
    while rows:
        for row in rows:
            if checksum(row[:-1]) != row[-1]:
                yield (
                    f"the tokens of the text {row[1]} are damaged; they are not used, and "
                    "counted again"
                )
        behind = f"{columns} WHERE (fingerprint, hash) > (%s, %s) {order}"
        rows = database.rows(behind, rows[-1][:2])


K = TypeVar("K")


class PlaceSums(dict[K, tuple[int, int]]):
    """By term (and audience): a sum of numbers of its places, and the sum that readers compare."""

    def count(self, key: K, mixed: int, plain: int) -> None:
        """Add the sums over some of a term's places."""
        before = self.get(key, (0, 0))
        self[key] = (before[0] + mixed) % (1 << 64), before[1] + plain & MASK

    def findings(self, noted: Mapping[K, int], expected: PlaceSums[K]) -> Iterator[str]:
        """Terms whose stored places are not those that are noted, or those of the texts."""
        for key in noted.keys() | self.keys() | expected.keys():
            term = key[0] if isinstance(key, tuple) else key
            found = self.get(key, (0, 0))
            if noted.get(key, 0) != found[1]:
                yield f"the places of {term!r} are not those that were written"
            if expected.get(key, (0, 0)) != found:
                yield f"the places of {term!r} are not those of the texts"

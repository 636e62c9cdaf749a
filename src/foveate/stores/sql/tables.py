"""The tables of an SQL store, which are the same in both engines, and its facts.

Row ids are never used again. A change to a table or to `terms.py` raises the engine's VERSION, and
the documents are then indexed again. What is looked up by a text has two indexes, so that a row
that damage hides from one is found in the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from foveate.core.state import EMPTY_STATE
from foveate.stores.checksums import checksum, damage, second_key
from foveate.stores.rows import quote_columns
from foveate.stores.sql.database import PUBLIC_AUDIENCE, Database, Rows, Statement

COLUMNS: Mapping[str, Mapping[str, str]] = {
    # One row. `next`: the next row id of documents and chunks. `writes`: random, and new with every
    # write.
    "meta": {
        "application": "text",
        "version": "int",
        "embedder": "text",
        "dimensions": "int",
        "next": "int",
        "writes": "int",
        "checksum": "int",
    },
    # Who may read: one row for each distinct set of principals, its lattice hash (state root), and
    # how much it holds, so that what one may read can be counted without reading it. `words`: the
    # sum of its chunks' lengths in terms, for BM25's average; `scan`: a sum over its rows there.
    # `writes`: a new random number at every write, which tells what was read before from what is
    # now: counted, it would come again after a batch that was undone, or out of a backup.
    "audiences": {
        "id": "int",
        "key": "int",
        "principals": "text",
        "state": "bytes",
        "documents": "int",
        "chunks": "int",
        "words": "int",
        "scan": "int",
        "writes": "int",
        "checksum": "int",
    },
    # `key`, here and below, is made of the text beside it.
    "members": {"principal": "name", "key": "int", "audience": "small", "checksum": "int"},
    # `content_hash` is the caller's, for telling whether a file has changed, `text_hash` ours.
    # `places`: packed sequence, row id and audience of each chunk. `text`: zlib, and last.
    "documents": {
        "id": "int",
        "document_id": "name",
        "key": "int",
        "source": "name",
        "title": "text",
        "summary": "text",
        "modified_at": "text?",
        "principals": "text",
        "metadata": "text",
        "content_hash": "text",
        "text_hash": "text",
        "audience": "small",
        "checksum": "int",
        "places": "bytes",
        "text": "bytes",
    },
    # `principals` and `metadata`: the document's, and the chunk's over them.
    "chunks": {
        "id": "int",
        "document": "int",
        "chunk_id": "name",
        "sequence": "int",
        **dict.fromkeys(("start", "end", "byte_offset", "page"), "int?"),
        "section": "text",
        "row": "int?",
        "line": "int?",
        "principals": "text",
        "metadata": "text",
        "content_hash": "text",
        "text": "text",
        "checksum": "int",
    },
    # What a search by vector reads, kept apart from the texts so that reading all of it is cheap.
    # `terms`: BM25's length. `norm`: the squared length of the vector.
    "scan": {
        "chunk": "int",
        "audience": "small",
        "terms": "small",
        "norm": "small",
        "vector": "vector",
    },
    # The inverted index of words and facts; see postings.py. The audience stands in the key, so
    # that what one may not read is not read. `terms`: a term's sum over its places.
    "postings": {"term": "name", "audience": "small", "first": "int", "places": "bytes"},
    "terms": {"term": "name", "audience": "small", "checksum": "int"},
    "counts": {"fingerprint": "name", "hash": "name", "tokens": "int", "checksum": "int"},
}
"""Table → column → kind: `name` compares by code points, `?` may be empty; see `column_types`."""

_CONSTRAINTS = {
    "audiences": "PRIMARY KEY (id)",
    "documents": "PRIMARY KEY (id), UNIQUE (document_id)",
    "chunks": "PRIMARY KEY (id), UNIQUE (chunk_id)",
    "scan": "PRIMARY KEY (chunk)",
    "postings": "PRIMARY KEY (term, audience, first)",
    "terms": "PRIMARY KEY (term, audience)",
    "counts": "PRIMARY KEY (fingerprint, hash)",
}
_CLUSTERED = ("postings", "terms", "counts")
"""Tables that are their own index where the engine can do that."""
_INDEXES = (
    *(("audiences", "key"), ("members", "principal"), ("members", "key"), ("documents", "key")),
    *(("chunks", "document, sequence"), ("scan", "audience")),
)
AUDIENCE_COLUMNS = "id, principals, state, documents, chunks, words, scan, writes, checksum"
"""What is read of an audience: the checksum, last, is of the others."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The one row of `meta`."""

    version: int
    embedder: str
    dimensions: int
    next: int = 1
    writes: int = 0

    def values(self) -> tuple[int | str, ...]:
        """The columns behind `application` in their order, the checksum last."""
        own = (self.version, self.embedder, self.dimensions, self.next, self.writes)
        return (*own, checksum(own))

    def after(self, *, ids: int, writes: int) -> Facts:
        """Those after a write that took so many row ids."""
        return replace(self, next=self.next + ids, writes=writes)


def facts_statement(database: Database) -> Statement:
    """What `decode_facts` reads."""
    columns = quote_columns([*COLUMNS["meta"]][1:])
    return database.statement(f"SELECT {columns} FROM {{s}}.meta")


def decode_facts(rows: Rows) -> Facts:
    """The facts of a store; raises where they are not as they were written."""
    found = Facts(*rows[0][:-1]) if len(rows) == 1 else None
    if found is None or found.values() != tuple(rows[0]):
        raise damage("its facts are not as they were written")
    return found


def load_facts(database: Database) -> Facts:
    """The facts of this state; raises where they are not as they were written."""
    (rows,) = database.run(facts_statement(database))
    return decode_facts(rows)


def save_facts_statement(database: Database, facts: Facts) -> Statement:
    """Put the facts in place of those that are there."""
    changed = {"next": facts.next, "writes": facts.writes, "checksum": facts.values()[-1]}
    columns = ", ".join(f"{name} = %s" for name in changed)
    return database.statement(f"UPDATE {{s}}.meta SET {columns}", list(changed.values()))


def create_statements(database: Database, facts: Facts) -> list[Statement]:
    """All tables, with the facts and the audience of everybody."""
    kinds = database.column_types()
    made = []
    for table, columns in COLUMNS.items():
        parts = [
            f'"{name}" {kinds[kind.removesuffix("?")]}{"" if kind[-1] == "?" else " NOT NULL"}'
            for name, kind in columns.items()
        ]
        constraint = [_CONSTRAINTS[table]] if table in _CONSTRAINTS else []
        text = f"CREATE TABLE {{s}}.{table} ({', '.join([*parts, *constraint])})"
        made.append(text + ("{clustered}" if table in _CLUSTERED else ""))
    for table, column in _INDEXES:
        name = f"{table}_by_{column.partition(',')[0]}"
        made.append(f"CREATE INDEX {name} ON {{on}}{table} ({column})")
    everyone = (PUBLIC_AUDIENCE, "[]", EMPTY_STATE, 0, 0, 0, 0, 0)
    public = (everyone[0], second_key("[]"), *everyone[1:], checksum(everyone))
    return [
        *map(database.statement, made),
        database.insert("meta", [("foveate", *facts.values())]),
        database.insert("audiences", [public]),
    ]

"""The tables of a server store, and how they are created and checked.

A change to a table or to `terms.py` raises VERSION, and the documents are then indexed again.
Creation is one transaction under the writers' lock.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from foveate.core.errors import BadInput, ExternalError
from foveate.core.state import EMPTY_STATE
from foveate.stores.checksums import checksum, damage
from foveate.stores.lazy import (
    StoreNotFound,
    check_same_embedder,
    check_schema_version,
    refuse_newer,
    refuse_older,
)
from foveate.stores.postgres.statements import StoreContext
from foveate.stores.sql.database import PUBLIC_AUDIENCE, Statement

VERSION = 6

TABLES = (
    # One row. A store is known by `application`.
    """CREATE TABLE {s}.meta (
        application text NOT NULL DEFAULT 'foveate', version integer NOT NULL,
        embedder text NOT NULL, dimensions integer NOT NULL, checksum bigint NOT NULL
    )""",
    # Row ids of documents and chunks; never used again.
    "CREATE SEQUENCE {s}.ids",
    # Who may read: one row for each distinct set of principals, its lattice hash (state root), and
    # how much it holds. `words`: the sum of its chunks' lengths in terms, for BM25's average;
    # `writes`: a new random number at every write, which tells what was read before from what is
    # now: counted, it would come again after a batch that was undone, or out of an older dump.
    # `scan`: a sum over its rows there.
    """CREATE TABLE {s}.audiences (
        id integer PRIMARY KEY, digest bytea NOT NULL UNIQUE, principals text NOT NULL,
        state bytea NOT NULL, documents bigint NOT NULL DEFAULT 0,
        chunks bigint NOT NULL DEFAULT 0, words bigint NOT NULL DEFAULT 0,
        writes bigint NOT NULL DEFAULT 0, scan numeric NOT NULL DEFAULT 0,
        checksum bigint NOT NULL
    ) WITH (fillfactor = 50)""",
    # Every write reads and replaces some states; out of line they would be compressed each time.
    "ALTER TABLE {s}.audiences ALTER state SET STORAGE PLAIN",
    # A principal as a JSON string, which can hold any character. `key`, here and below, is made of
    # the text before it: a row whose text is damaged is found by it.
    """CREATE TABLE {s}.members (
        principal text COLLATE "C", key bigint NOT NULL, audience integer, checksum bigint NOT NULL,
        PRIMARY KEY (principal, audience)
    )""",
    "CREATE INDEX members_by_key ON {s}.members (key)",
    """CREATE TABLE {s}.documents (
        id bigint PRIMARY KEY, document_id text COLLATE "C" NOT NULL UNIQUE, key bigint NOT NULL,
        source text COLLATE "C" NOT NULL, title text NOT NULL, summary text NOT NULL,
        modified_at text, principals text NOT NULL, metadata text NOT NULL,
        content_hash text NOT NULL, text_hash text NOT NULL, audience integer NOT NULL,
        checksum bigint NOT NULL, places bytea NOT NULL, text bytea NOT NULL
    )""",
    "CREATE INDEX documents_by_key ON {s}.documents (key)",
    # zlib has been over it; the chunks' offsets refer to it.
    "ALTER TABLE {s}.documents ALTER text SET STORAGE EXTERNAL",
    """CREATE TABLE {s}.chunks (
        id bigint PRIMARY KEY, document bigint NOT NULL,
        chunk_id text COLLATE "C" NOT NULL UNIQUE, sequence bigint NOT NULL,
        start bigint, "end" bigint, byte_offset bigint, page bigint, section text NOT NULL,
        "row" bigint, line bigint, principals text NOT NULL, metadata text NOT NULL,
        content_hash text NOT NULL, text text NOT NULL, checksum bigint NOT NULL
    )""",
    "CREATE INDEX chunks_by_place ON {s}.chunks (document, sequence)",
    # What a search by vector reads, kept apart from the texts. `norm`: the squared length.
    """CREATE TABLE {s}.scan (
        chunk bigint PRIMARY KEY, audience integer NOT NULL, terms integer NOT NULL,
        norm integer NOT NULL, vector {vector} NOT NULL
    )""",
    "ALTER TABLE {s}.scan ALTER vector SET STORAGE {storage}",
    "CREATE INDEX scan_by_audience ON {s}.scan (audience)",
    # The inverted index of words and facts: per term and audience the chunks that hold it, packed
    # (`postings.py`), of one document or, once they are merged, of several under the first of them.
    # The audience stands in the key, so that what one may not read is not read.
    """CREATE TABLE {s}.postings (
        term text COLLATE "C", audience integer, document bigint, places bytea NOT NULL,
        PRIMARY KEY (term, audience, document)
    )""",
    "ALTER TABLE {s}.postings ALTER places SET STORAGE MAIN",
    # A term's sum over its places in an audience.
    """CREATE TABLE {s}.terms (
        term text COLLATE "C", audience integer, checksum bigint NOT NULL,
        PRIMARY KEY (term, audience)
    ) WITH (fillfactor = 70)""",
    """CREATE TABLE {s}.counts (
        fingerprint text COLLATE "C", hash text COLLATE "C", tokens bigint NOT NULL,
        checksum bigint NOT NULL,
        PRIMARY KEY (fingerprint, hash)
    )""",
)


TABLE_NAMES = (
    *("meta", "audiences", "members", "documents", "chunks", "scan", "postings", "terms", "counts"),
)


def vector_column_types(dimensions: int) -> dict[str, str]:
    """The vectors' type, and where they are stored: in the row, as long as it fits a page."""
    if not dimensions:
        return {"vector": "bytea", "storage": "PLAIN"}
    plain = "PLAIN" if dimensions <= 4000 else "EXTERNAL"
    return {"vector": f"{{v}}.halfvec({dimensions})", "storage": plain}


_MIN_PGVECTOR = (0, 8)
"""pgvector's: `halfvec` came with 0.7, iterative scans with 0.8."""


def open_schema(
    store: StoreContext, shown: str, *, embedder: str, dimensions: int, create: bool
) -> StoreContext:
    """Find the store, or create it if `create`; raises `BadInput`."""
    there = Statement(
        "SELECT EXISTS (SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n "
        "ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = 'meta')",
        [store.schema],
    )
    (((found,),),) = store.run(there)
    if not found:
        if not create:
            raise StoreNotFound(
                f"no store in schema {store.schema!r} of {shown}; index documents into it first"
            )
        (_, ((found,),)) = store.run(lock_statement(store), there)
        if not found:
            _create_tables(store, shown, embedder, dimensions)
    version, kept, width, noted = _load_meta(store)
    name = f"the store in schema {store.schema!r} of {shown}"
    refuse_newer(name, version, VERSION, new="schema")
    refuse_older(name, version, VERSION, new="schema (?schema=NAME)")
    if noted != checksum((version, kept, width)):
        raise damage("its facts are not as they were written")
    check_same_embedder(name, (kept, width), (embedder, dimensions), new="schema")
    place = _find_extension(store) if width else ""
    return replace(store, extension=place, dimensions=width, embedder=kept)


def lock_statement(store: StoreContext) -> Statement:
    """Lock out other writers of this schema until the transaction ends, with a time limit."""
    query = "SELECT set_config('lock_timeout', %s, true), pg_advisory_xact_lock(%s)"
    return Statement(query, [str(1_000 * store.wait), store.lock_id])


def begin_write_statements(store: StoreContext) -> list[Statement]:
    """The first statements of a write; the last one's rows are for `check_schema_version`."""
    return [lock_statement(store), store.statement("SELECT version FROM {s}.meta")]


def begin_write(store: StoreContext) -> None:
    """Begin a batch of writes."""
    (_, ((version,),)) = store.run(*begin_write_statements(store))
    check_schema_version(version, VERSION)


def _load_meta(store: StoreContext) -> tuple[int, str, int, int]:
    rows = store.rows("SELECT to_jsonb(m) FROM {s}.meta AS m LIMIT 2")
    facts = rows[0][0] if len(rows) == 1 else {}
    if not {"application", "version", "embedder", "dimensions"} <= facts.keys():
        raise BadInput(f"schema {store.schema!r} holds other tables and no store; name another")
    return facts["version"], facts["embedder"], facts["dimensions"], facts.get("checksum", 0)


def _create_tables(store: StoreContext, shown: str, embedder: str, dimensions: int) -> None:
    """All tables, in a transaction that holds the lock."""
    query = """SELECT current_setting('server_encoding'),
        EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = %s),
        (SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = %s AND c.relname = ANY(%s::text[]))"""
    bound = [store.schema, store.schema, list(TABLE_NAMES)]
    ((encoding, there, others),) = store.rows(query, bound)
    if encoding != "UTF8":
        raise BadInput(f"the database of {shown} is in {encoding}; a store needs one in UTF8")
    if others:
        raise BadInput(f"schema {store.schema!r} holds other tables and no store; name another")
    place = ""
    if dimensions:
        place = _find_extension(store, make=True)
    full = replace(store, extension=place)
    parts = {key: full.sql(value) for key, value in vector_column_types(dimensions).items()}
    facts = (VERSION, embedder, dimensions)
    meta = "INSERT INTO {s}.meta (version, embedder, dimensions, checksum) VALUES (%s, %s, %s, %s)"
    everyone = (
        "INSERT INTO {s}.audiences (id, digest, principals, state, checksum) "
        "VALUES (%s, %s, '[]', %s, %s)"
    )
    first = checksum([PUBLIC_AUDIENCE, "[]", EMPTY_STATE, 0, 0, 0, 0, 0])
    store.run(
        *([] if there else [store.statement("CREATE SCHEMA {s}")]),
        *(full.statement(each, **parts) for each in TABLES),
        store.statement(meta, [*facts, checksum(facts)]),
        store.statement(everyone, [PUBLIC_AUDIENCE, principals_digest("[]"), EMPTY_STATE, first]),
    )


def _find_extension(store: StoreContext, *, make: bool = False) -> str:
    """The schema that pgvector is in; raises `ExternalError` where it is not or is too old."""
    query = """SELECT n.nspname, e.extversion FROM pg_extension AS e
        JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"""
    found = store.rows(query)
    if not found and make:
        may = """SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
            (SELECT count(*) FROM pg_available_extensions WHERE name = 'vector')"""
        ((super_, available),) = store.rows(may)
        if available and super_:
            (_, found) = store.run(Statement("CREATE EXTENSION vector"), Statement(query))
    if not found:
        raise ExternalError(
            "store: the database has no pgvector; install it on the server, then, as a superuser "
            "in this database, run: CREATE EXTENSION vector"
        )
    ((place, version),) = found
    if tuple(int(part) for part in version.split(".")[:2]) < _MIN_PGVECTOR:
        raise ExternalError(
            f"store: pgvector {version} is too old; 0.8 or later is needed: update it, then run: "
            "ALTER EXTENSION vector UPDATE"
        )
    return str(place)


def principals_digest(principals: str) -> bytes:
    """The key of a set of principals (sorted JSON), which may be too long for an index."""
    return sha256(principals.encode()).digest()

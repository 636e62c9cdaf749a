"""How the tables of a server store are created and checked.

Creation is one transaction under the writers' lock.
"""

from __future__ import annotations

from dataclasses import replace

from foveate.core.errors import BadInput, ExternalError
from foveate.stores.lazy import StoreNotFound, check_same_embedder, refuse_newer, refuse_older
from foveate.stores.postgres.statements import StoreContext
from foveate.stores.sql.database import Statement
from foveate.stores.sql.tables import COLUMNS, Facts, create_statements, load_facts

VERSION = 7

_STORAGE = (
    # Every write reads and replaces some states; out of line they would be compressed each time.
    "ALTER TABLE {s}.audiences ALTER state SET STORAGE PLAIN",
    "ALTER TABLE {s}.audiences SET (fillfactor = 50)",
    "ALTER TABLE {s}.terms SET (fillfactor = 70)",
    # zlib has been over it.
    "ALTER TABLE {s}.documents ALTER text SET STORAGE EXTERNAL",
    "ALTER TABLE {s}.postings ALTER places SET STORAGE MAIN",
    # In the row, as long as it fits a page.
    "ALTER TABLE {s}.scan ALTER vector SET STORAGE {storage}",
)


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
        (_, ((found,),)) = store.run(store.lock_statement(), there)
        if not found:
            _create_tables(store, shown, embedder, dimensions)
    version = _load_version(store)
    name = f"the store in schema {store.schema!r} of {shown}"
    refuse_newer(name, version, VERSION, new="schema")
    refuse_older(name, version, VERSION, new="schema (?schema=NAME)")
    facts = load_facts(store)
    kept = (facts.embedder, facts.dimensions)
    check_same_embedder(name, kept, (embedder, dimensions), new="schema")
    place = _find_extension(store) if facts.dimensions else ""
    return replace(store, extension=place, dimensions=facts.dimensions, embedder=facts.embedder)


def _load_version(store: StoreContext) -> int:
    rows = store.rows("SELECT to_jsonb(m) FROM {s}.meta AS m LIMIT 2")
    facts = rows[0][0] if len(rows) == 1 else {}
    if not {"application", "version", "embedder", "dimensions"} <= facts.keys():
        raise BadInput(f"schema {store.schema!r} holds other tables and no store; name another")
    return int(facts["version"])


def _create_tables(store: StoreContext, shown: str, embedder: str, dimensions: int) -> None:
    """All tables, in a transaction that holds the lock."""
    query = """SELECT current_setting('server_encoding'),
        EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = %s),
        (SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = %s AND c.relname = ANY(%s::text[]))"""
    bound = [store.schema, store.schema, list(COLUMNS)]
    ((encoding, there, others),) = store.rows(query, bound)
    if encoding != "UTF8":
        raise BadInput(f"the database of {shown} is in {encoding}; a store needs one in UTF8")
    if others:
        raise BadInput(f"schema {store.schema!r} holds other tables and no store; name another")
    place = _find_extension(store, make=True) if dimensions else ""
    full = replace(store, extension=place, dimensions=dimensions)
    facts = Facts(version=VERSION, embedder=embedder, dimensions=dimensions)
    storage = "PLAIN" if dimensions <= 4000 else "EXTERNAL"
    store.run(
        *([] if there else [store.statement("CREATE SCHEMA {s}")]),
        *create_statements(full, facts),
        *(store.statement(each, storage=storage) for each in _STORAGE),
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

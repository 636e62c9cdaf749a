"""How a schema on a server becomes a store, is checked, and is brought up to date.

Rules: making and migrating are one transaction under the writers' lock, so that there is a whole
store or none; whoever only reads changes nothing; the extension is made where the role may.
Catalogs are read as tables: `to_regclass` may remember what was before the lock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256

from foveate.core.errors import BadInput, BadOption, ExternalError
from foveate.core.state import EMPTY_STATE
from foveate.stores.checksums import checksum, damage
from foveate.stores.lazy import StoreNotFound
from foveate.stores.postgres import tables
from foveate.stores.postgres.checksums import audience_checksum
from foveate.stores.postgres.names import PUBLIC_AUDIENCE, Names, quote_literal
from foveate.stores.postgres.statements import Statement, StatementFlow

_MIN_PGVECTOR = (0, 8)
"""pgvector's: `halfvec` came with 0.7, iterative scans with 0.8."""
LOCK_TIMEOUT = "30s"
"""So long a writer waits for another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInfo:
    """A store that is there. `migrated`: the version it had before, 0 where it is as it was."""

    names: Names
    embedder: str
    migrated_from: int = 0


def open_schema(
    names: Names, shown: str, *, embedder: str, dimensions: int, create: bool, migrate: bool
) -> StatementFlow[StoreInfo]:
    """Find the store, making or migrating it where that is allowed; raises `BadInput`."""
    there = Statement(
        "SELECT EXISTS (SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n "
        "ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = 'meta')",
        [names.schema],
    )
    (((found,),),) = yield [there]
    if not found:
        if not create:
            raise StoreNotFound(
                f"no store in schema {names.schema!r} of {shown}; index documents into it first"
            )
        (_, ((found,),)) = yield [lock_statement(names), there]
        if not found:
            yield from _create_tables(names, shown, embedder, dimensions)
    version, kept, width, noted = yield from _load_meta(names)
    if version == tables.VERSION and noted != checksum((version, kept, width)):
        raise damage("its facts are not as they were written")
    if embedder and (embedder, dimensions) != (kept, width):
        raise BadOption(
            f"the store in schema {names.schema!r} of {shown} holds vectors of {kept!r} ({width} "
            f"dimensions), not of {embedder!r} ({dimensions}); open it with that embedder, or "
            "index into a new schema"
        )
    facts = (tables.VERSION, kept, width)
    migrated = yield from _migrate(names, shown, version, facts, allowed=migrate)
    place = (yield from _find_extension()) if width else ""
    return StoreInfo(
        names=replace(names, extension=place, dimensions=width),
        embedder=kept,
        migrated_from=migrated,
    )


def lock_statement(names: Names) -> Statement:
    """Wait for other writers of this schema, so long as is bearable; until the transaction ends."""
    query = f"SELECT set_config('lock_timeout', '{LOCK_TIMEOUT}', true), pg_advisory_xact_lock(%s)"
    return Statement(query, [names.lock_id])


def begin_write_statements(names: Names) -> list[Statement]:
    """What every write begins with; hand the last one's rows to `check_schema_version`."""
    return [lock_statement(names), Statement(names.sql("SELECT version FROM {s}.meta"))]


def check_schema_version(version: int) -> None:
    """Another program may have brought the store to a version that we do not know."""
    if version != tables.VERSION:
        raise ExternalError(
            "store: a newer version of foveate has changed its form; nothing was written, "
            "update this program too"
        )


def _load_meta(names: Names) -> StatementFlow[tuple[int, str, int, int]]:
    query = """SELECT count(*) FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = %s AND c.relname = 'meta'
        AND a.attname IN ('application', 'version', 'embedder', 'dimensions')"""
    (((ours,),),) = yield [Statement(query, [names.schema])]
    if ours != 4:
        raise BadInput(f"schema {names.schema!r} holds other tables and no store; name another")
    query = names.sql(
        "SELECT version, embedder, dimensions, to_jsonb(m) ->> 'checksum' FROM {s}.meta AS m"
    )
    (((version, embedder, dimensions, noted),),) = yield [Statement(query)]
    return version, embedder, dimensions, int(noted or 0)


def _create_tables(names: Names, shown: str, embedder: str, dimensions: int) -> StatementFlow[None]:
    """All tables, in a transaction that holds the lock."""
    query = """SELECT current_setting('server_encoding'),
        EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = %s),
        (SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = %s AND c.relname = ANY(%s::text[]))"""
    mine = [table for part in tables.PARTS.values() for table in part]
    (((encoding, there, others),),) = yield [Statement(query, [names.schema, names.schema, mine])]
    if encoding != "UTF8":
        raise BadInput(f"the database of {shown} is in {encoding}; a store needs one in UTF8")
    if others:
        raise BadInput(f"schema {names.schema!r} holds other tables and no store; name another")
    place = ""
    if dimensions:
        place = yield from _find_extension(make=True)
    full = replace(names, extension=place)
    parts = {key: full.sql(value) for key, value in tables.vector_column_types(dimensions).items()}
    made = [] if there else [Statement(names.sql("CREATE SCHEMA {s}"))]
    made += [Statement(full.sql(each, **parts)) for each in tables.TABLES]
    meta = names.sql(
        "INSERT INTO {s}.meta (version, embedder, dimensions, checksum) VALUES (%s, %s, %s, %s)"
    )
    facts = (tables.VERSION, embedder, dimensions)
    made.append(Statement(meta, [*facts, checksum(facts)]))
    everyone = names.sql(
        "INSERT INTO {s}.audiences (id, digest, principals, state, checksum) "
        "VALUES (%s, %s, '[]', %s, %s)"
    )
    first = audience_checksum([PUBLIC_AUDIENCE, "[]", EMPTY_STATE, 0, 0, 0, 0, 0])
    made.append(Statement(everyone, [PUBLIC_AUDIENCE, principals_digest("[]"), EMPTY_STATE, first]))
    yield made


def _find_extension(*, make: bool = False) -> StatementFlow[str]:
    """The schema that pgvector is in; raises `ExternalError` where it is not or is too old."""
    query = """SELECT n.nspname, e.extversion FROM pg_extension AS e
        JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"""
    (found,) = yield [Statement(query)]
    if not found and make:
        may = """SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
            (SELECT count(*) FROM pg_available_extensions WHERE name = 'vector')"""
        (((super_, available),),) = yield [Statement(may)]
        if available and super_:
            (_, found) = yield [Statement("CREATE EXTENSION vector"), Statement(query)]
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


def _migrate(
    names: Names, shown: str, version: int, facts: tuple[int, str, int], *, allowed: bool
) -> StatementFlow[int]:
    """Migrate; the version that there was before, 0 where nothing had to be done.

    `facts`: of the store, as they are to be.
    """
    if version > tables.VERSION:
        raise BadInput(
            f"the store in schema {names.schema!r} of {shown} has schema {version}, this version "
            f"knows up to {tables.VERSION}; update foveate, or index into a new schema"
        )
    if version == tables.VERSION:
        return 0
    if not allowed:
        raise BadInput(
            f"the store in schema {names.schema!r} of {shown} has schema {version}, this version "
            f"reads {tables.VERSION}; keep a copy "
            f"(pg_dump --schema={quote_literal(names.schema)}), "
            "then run: foveate store migrate --store URL"
        )
    if not all(each in tables.STEPS for each in range(version, tables.VERSION)):
        raise BadInput(
            f"nothing leads on from schema {version}; index the documents into a new schema"
        )
    (_, ((found,),)) = yield begin_write_statements(names)  # another may have been quicker
    steps = [step for each in range(found, tables.VERSION) for step in tables.STEPS[each]]
    update = names.sql("UPDATE {s}.meta SET version = %s, checksum = %s")
    yield [
        *(Statement(names.sql(step)) for step in steps),
        Statement(update, [facts[0], checksum(facts)]),
    ]
    return version if found < tables.VERSION else 0


def principals_digest(principals: str) -> bytes:
    """What a set of principals (sorted JSON) is found by; a server's index has no room for it."""
    return sha256(principals.encode()).digest()

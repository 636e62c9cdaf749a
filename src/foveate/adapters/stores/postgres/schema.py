"""How a schema on a server becomes a store, is checked, and is brought up to date.

Rules: making and migrating are one transaction under the writers' lock, so that there is a whole
store or none; whoever only reads changes nothing; the extension is made where the role may.
Catalogs are read as tables: `to_regclass` may remember what was before the lock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256

from foveate.adapters.stores.later import NoStore
from foveate.adapters.stores.postgres import tables
from foveate.adapters.stores.postgres.flow import Ask, Flow
from foveate.adapters.stores.postgres.names import PUBLIC, Names, literal
from foveate.core.errors import BadInput, BadOption, OutsideFailure
from foveate.core.state import EMPTY

_OLDEST = (0, 8)
"""pgvector's: `halfvec` came with 0.7, iterative scans with 0.8."""
PATIENCE = "30s"
"""So long a writer waits for another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A store that is there. `migrated`: the version it had before, 0 where it is as it was."""

    names: Names
    embedder: str
    migrated: int = 0


def opening(
    names: Names, shown: str, *, embedder: str, dimensions: int, create: bool, migrate: bool
) -> Flow[Opened]:
    """Find the store, making or migrating it where that is allowed; raises `BadInput`."""
    there = Ask(
        "SELECT EXISTS (SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n "
        "ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = 'meta')",
        [names.schema],
    )
    (((found,),),) = yield [there]
    if not found:
        if not create:
            raise NoStore(
                f"no store in schema {names.schema!r} of {shown}; index documents into it first"
            )
        (_, ((found,),)) = yield [locked(names), there]
        if not found:
            yield from _made(names, shown, embedder, dimensions)
    version, kept, width = yield from _facts(names)
    if embedder and (embedder, dimensions) != (kept, width):
        raise BadOption(
            f"the store in schema {names.schema!r} of {shown} holds vectors of {kept!r} ({width} "
            f"dimensions), not of {embedder!r} ({dimensions}); open it with that embedder, or "
            "index into a new schema"
        )
    migrated = yield from _brought_up(names, shown, version, allowed=migrate)
    place = (yield from _extension()) if width else ""
    return Opened(
        names=replace(names, extension=place, dimensions=width), embedder=kept, migrated=migrated
    )


def locked(names: Names) -> Ask:
    """Wait for other writers of this schema, so long as is bearable; until the transaction ends."""
    query = f"SELECT set_config('lock_timeout', '{PATIENCE}', true), pg_advisory_xact_lock(%s)"
    return Ask(query, [names.lock])


def writing(names: Names) -> list[Ask]:
    """What every write begins with; hand the last one's rows to `refuse_moved`."""
    return [locked(names), Ask(names.sql("SELECT version FROM {s}.meta"))]


def refuse_moved(version: int) -> None:
    """Another program may have brought the store to a version that we do not know."""
    if version != tables.VERSION:
        raise OutsideFailure(
            "store: a newer version of foveate has changed its form; nothing was written, "
            "update this program too"
        )


def _facts(names: Names) -> Flow[tuple[int, str, int]]:
    query = """SELECT count(*) FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = %s AND c.relname = 'meta'
        AND a.attname IN ('application', 'version', 'embedder', 'dimensions')"""
    (((ours,),),) = yield [Ask(query, [names.schema])]
    if ours != 4:
        raise BadInput(f"schema {names.schema!r} holds other tables and no store; name another")
    query = names.sql("SELECT version, embedder, dimensions FROM {s}.meta")
    (((version, embedder, dimensions),),) = yield [Ask(query)]
    return version, embedder, dimensions


def _made(names: Names, shown: str, embedder: str, dimensions: int) -> Flow[None]:
    """All tables, in a transaction that holds the lock."""
    query = """SELECT current_setting('server_encoding'),
        EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = %s),
        (SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = %s AND c.relname = ANY(%s::text[]))"""
    mine = [table for part in tables.PARTS.values() for table in part]
    (((encoding, there, others),),) = yield [Ask(query, [names.schema, names.schema, mine])]
    if encoding != "UTF8":
        raise BadInput(f"the database of {shown} is in {encoding}; a store needs one in UTF8")
    if others:
        raise BadInput(f"schema {names.schema!r} holds other tables and no store; name another")
    place = ""
    if dimensions:
        place = yield from _extension(make=True)
    full = replace(names, extension=place)
    parts = {key: full.sql(value) for key, value in tables.of_vectors(dimensions).items()}
    made = [] if there else [Ask(names.sql("CREATE SCHEMA {s}"))]
    made += [Ask(full.sql(each, **parts)) for each in tables.TABLES]
    meta = names.sql("INSERT INTO {s}.meta (version, embedder, dimensions) VALUES (%s, %s, %s)")
    made.append(Ask(meta, [tables.VERSION, embedder, dimensions]))
    everyone = names.sql("INSERT INTO {s}.audiences VALUES (%s, %s, '[]', %s)")
    made.append(Ask(everyone, [PUBLIC, digest_of("[]"), EMPTY]))
    yield made


def _extension(*, make: bool = False) -> Flow[str]:
    """The schema that pgvector is in; raises `OutsideFailure` where it is not or is too old."""
    query = """SELECT n.nspname, e.extversion FROM pg_extension AS e
        JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"""
    (found,) = yield [Ask(query)]
    if not found and make:
        may = """SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
            (SELECT count(*) FROM pg_available_extensions WHERE name = 'vector')"""
        (((super_, available),),) = yield [Ask(may)]
        if available and super_:
            (_, found) = yield [Ask("CREATE EXTENSION vector"), Ask(query)]
    if not found:
        raise OutsideFailure(
            "store: the database has no pgvector; install it on the server, then, as a superuser "
            "in this database, run: CREATE EXTENSION vector"
        )
    ((place, version),) = found
    if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST:
        raise OutsideFailure(
            f"store: pgvector {version} is too old; 0.8 or later is needed: update it, then run: "
            "ALTER EXTENSION vector UPDATE"
        )
    return str(place)


def _brought_up(names: Names, shown: str, version: int, *, allowed: bool) -> Flow[int]:
    """Migrate; the version that there was before, 0 where nothing had to be done."""
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
            f"reads {tables.VERSION}; keep a copy (pg_dump --schema={literal(names.schema)}), "
            "then run: foveate store migrate --store URL"
        )
    (_, ((found,),)) = yield writing(names)  # another may have been quicker
    steps = [step for each in range(found, tables.VERSION) for step in tables.STEPS[each]]
    update = Ask(names.sql("UPDATE {s}.meta SET version = %s"), [tables.VERSION])
    yield [*(Ask(names.sql(step)) for step in steps), update]
    return version if found < tables.VERSION else 0


def digest_of(principals: str) -> bytes:
    """What a set of principals (sorted JSON) is found by; a server's index has no room for it."""
    return sha256(principals.encode()).digest()

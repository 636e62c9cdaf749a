"""How a folder becomes an embedded store, and how it is opened.

    STORE/store.db      SQLite, write-ahead log: the truth
    STORE/vectors.bin   the scanned rows, derived from it; may be deleted at any time

A new store is made in one transaction.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote
from sqlite3 import Connection

from foveate.core.errors import BadInput
from foveate.stores import lazy
from foveate.stores.sql.tables import Facts, create_statements, load_facts
from foveate.stores.sqlite.database import SqliteDatabase

VERSION = 9
APPLICATION_ID = 0x666F7665  # "fove", so that `file` and we know our own
DATABASE = "store.db"
BUSY_MS = 30_000

_READ_ONLY = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}


def connect(folder: Path, *, embedder: str, dimensions: int, create: bool) -> SqliteDatabase:
    """Open the store in `folder`, or create it if `create`."""
    path = folder / DATABASE
    if _is_unfinished(path):
        check_folder(folder, create=create)
        _create_store(path, embedder, dimensions)
    connection = connect_existing(folder, write=create)
    try:
        database = open_database(connection)
        kept = (database.embedder, database.dimensions)
        lazy.check_same_embedder(_name(folder), kept, (embedder, dimensions), new="folder")
    except BaseException:
        connection.close()
        raise
    with suppress(sqlite3.OperationalError):  # another is at work, or this only reads
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    # One document touches thousands of pages of the inverted index: copy them back in bulk.
    connection.execute("PRAGMA wal_autocheckpoint = 8000")
    connection.execute("PRAGMA cache_size = -65536")
    return database


def read_only_uri(path: Path) -> str:
    """The URI to read a store on read-only media; see sqlite.org/wal.html#readonly."""
    log = path.with_name(f"{path.name}-wal")
    alone = not log.exists() or log.stat().st_size == 0
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if alone else ''}"


def connect_existing(folder: Path, *, write: bool) -> Connection:
    """A connection to a store of this version; read-only if need be, unless `write`."""
    path = folder / DATABASE
    if _is_unfinished(path):
        check_folder(folder, create=False)
    try:
        return _open_connection(str(path), folder)
    except sqlite3.OperationalError as error:
        if write or error.sqlite_errorcode & 0xFF not in _READ_ONLY:
            raise
        return _open_connection(read_only_uri(path), folder)


def open_database(connection: Connection) -> SqliteDatabase:
    """The connection to a store, to be used with its facts."""
    database = SqliteDatabase(connection=connection)
    facts = load_facts(database)
    return replace(database, embedder=facts.embedder, dimensions=facts.dimensions)


def _open_connection(name: str, folder: Path) -> Connection:
    connection = _connect(name)
    try:
        _check_application(connection, folder)
    except BaseException:
        connection.close()
        raise
    return connection


def check_folder(folder: Path, *, create: bool) -> None:
    """Raise `StoreNotFound` for a folder without a store, `BadInput` if none can be created."""
    if not create:
        raise lazy.StoreNotFound(f"no store in {str(folder)!r}{_missing_store_advice(folder)}")
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{str(folder)!r} is a file; a store is a folder, name another")
    if folder.exists() and any(not f.name.startswith(DATABASE) for f in folder.iterdir()):
        raise BadInput(
            f"{str(folder)!r} holds other files and no store; name a new or an empty folder"
        )


def _missing_store_advice(folder: Path) -> str:
    name = quote(str(folder))
    if folder.is_file():
        return ", which is a file; a store is a folder that foveate index makes"
    if folder.is_dir() and any(folder.iterdir()):
        return f", but other files; to search these, index them: foveate index {name}"
    return f"; index documents into it first: foveate index FOLDER --store {name}"


def _create_store(path: Path, embedder: str, dimensions: int) -> None:
    """Fill the database in one transaction, unless another process was first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(_connect(str(path))) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _count_tables(connection):
                return
            facts = Facts(version=VERSION, embedder=embedder, dimensions=dimensions)
            database = SqliteDatabase(connection=connection)
            database.run(*create_statements(database, facts))
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _is_unfinished(path: Path) -> bool:
    """Whether there is no database, or one whose creation was broken off.

    A journal alone does not say so: it is there too while another process switches to the log.
    """
    if not path.exists() or not path.stat().st_size:
        return True
    if not path.with_name(f"{path.name}-journal").exists():
        return False
    with closing(_connect(str(path))) as connection:
        try:
            return not _count_tables(connection)
        except sqlite3.DatabaseError:
            return False  # no database of ours, or none that may be mended: opening it says which


def _count_tables(connection: Connection) -> int:
    count: int = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    return count


def _connect(name: str) -> Connection:
    return sqlite3.connect(
        name,
        timeout=BUSY_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
        uri=name.startswith("file:///"),
    )


def _check_application(connection: Connection, folder: Path) -> None:
    try:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        application, version = 0, 0
    if application != APPLICATION_ID:
        raise BadInput(f"{str(folder / DATABASE)!r} is not a foveate store; name another folder")
    lazy.check_version(_name(folder), version, VERSION, new="folder: foveate index")


def _name(folder: Path) -> str:
    return f"the store in {str(folder)!r}"

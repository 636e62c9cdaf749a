"""The tables of an embedded store and its facts, and how a folder becomes a store.

    STORE/store.db      SQLite, write-ahead log: the truth
    STORE/vectors.bin   the scanned rows, derived from it; may be deleted at any time

Row ids are never used again. A new store is made in one transaction. A change to a table or to
`terms.py` raises VERSION, and the documents are then indexed again. What is looked up by a text has
two indexes, so that a row that damage hides from one is found in the other.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from shlex import quote
from sqlite3 import Connection
from typing import Any

from foveate.core.errors import BadInput
from foveate.core.state import EMPTY_STATE
from foveate.stores import lazy
from foveate.stores.checksums import checksum, damage, sum_of_facts
from foveate.stores.sql.database import PUBLIC_AUDIENCE

_CHECKSUM = "checksum"


def load_facts(connection: Connection) -> dict[str, Any]:
    """Embedder, dimensions, version of the last write, and more; raises where damaged."""
    found = dict(connection.execute("SELECT key, value FROM meta"))
    if found.pop(_CHECKSUM, None) != sum_of_facts(found):
        raise damage("its facts are not as they were written")
    return found


def save_facts(connection: Connection, rows: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    """Write what changed, and the checksum of all `rows`."""
    changed = {**changes, _CHECKSUM: sum_of_facts(rows)}
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(changed.items()))


VERSION = 8
APPLICATION_ID = 0x666F7665  # "fove", so that `file` and we know our own
DATABASE = "store.db"
BUSY_MS = 30_000

_READ_ONLY = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}

TABLES = """
-- `checksum` is of all other rows, `scan` the sum over the rows of that table. `version` is random
-- and new with every write.
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- Who may read: one row for each distinct set of principals, its lattice hash (state root), and
-- how much it holds, so that what one may read can be counted without reading it.
CREATE TABLE audiences (
    id INTEGER PRIMARY KEY, principals TEXT NOT NULL UNIQUE, state BLOB NOT NULL,
    documents INTEGER NOT NULL DEFAULT 0, chunks INTEGER NOT NULL DEFAULT 0,
    checksum INTEGER NOT NULL DEFAULT 0
);
-- `key`, here and below, is made of the text before it.
CREATE TABLE members (
    principal TEXT NOT NULL, key INTEGER NOT NULL, audience INTEGER NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE INDEX members_by_principal ON members (principal);
CREATE INDEX members_by_key ON members (key);

CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id TEXT NOT NULL UNIQUE, key INTEGER NOT NULL,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    modified_at TEXT,
    principals TEXT NOT NULL,
    metadata TEXT NOT NULL,
    content_hash TEXT NOT NULL,     -- the caller's, for telling whether a file has changed
    text_hash TEXT NOT NULL,        -- ours
    audience INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    places BLOB NOT NULL,           -- packed sequence, row id and audience of each chunk, int64
    text BLOB NOT NULL              -- zlib, last and not read with the others
);
CREATE INDEX documents_by_key ON documents (key);

CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL,
    chunk_id TEXT NOT NULL UNIQUE,
    sequence INTEGER NOT NULL,
    start INTEGER, "end" INTEGER, byte_offset INTEGER,
    page INTEGER, section TEXT NOT NULL, "row" INTEGER, line INTEGER,
    principals TEXT NOT NULL,       -- the chunk's own, or its document's
    metadata TEXT NOT NULL,         -- the document's, and the chunk's over it
    content_hash TEXT NOT NULL,
    text TEXT NOT NULL,
    checksum INTEGER NOT NULL DEFAULT 0         -- with what its document and `scan` say of it
);
CREATE INDEX chunks_by_document ON chunks (document);

-- What a search scans, kept apart from the texts so that reading all of it is cheap.
CREATE TABLE scan (
    chunk INTEGER PRIMARY KEY,
    audience INTEGER NOT NULL,
    terms INTEGER NOT NULL,         -- how many terms the chunk has (BM25's length)
    vector BLOB NOT NULL            -- int8, one byte a dimension
);

-- The inverted index of words and facts: some of a term's places, packed (chunk row id << 16 |
-- occurrences), int64, under the chunk of the first; see postings.py. A term's checksum is a sum
-- over all its places.
CREATE TABLE terms (
    id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, checksum INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX terms_again ON terms (term);
CREATE TABLE postings (
    term INTEGER NOT NULL, first INTEGER NOT NULL, places BLOB NOT NULL,
    PRIMARY KEY (term, first)
) WITHOUT ROWID;

CREATE TABLE counts (
    fingerprint TEXT NOT NULL, hash TEXT NOT NULL, tokens INTEGER NOT NULL,
    checksum INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (fingerprint, hash)
) WITHOUT ROWID;
"""


def connect(folder: Path, *, embedder: str, dimensions: int, create: bool) -> Connection:
    """Open the store in `folder`, or create it if `create`."""
    path = folder / DATABASE
    if _is_unfinished(path):
        check_folder(folder, create=create)
        _create_store(path, embedder, dimensions)
    connection = connect_existing(folder, write=create)
    try:
        refuse_older(connection, folder)
        facts = load_facts(connection)
        kept = (facts["embedder"], facts["dimensions"])
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
    return connection


def read_only_uri(path: Path) -> str:
    """The URI to read a store on read-only media; see sqlite.org/wal.html#readonly."""
    log = path.with_name(f"{path.name}-wal")
    alone = not log.exists() or log.stat().st_size == 0
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if alone else ''}"


def connect_existing(folder: Path, *, write: bool) -> Connection:
    """A connection to a store of this version or before; read-only if need be, unless `write`."""
    path = folder / DATABASE
    if _is_unfinished(path):
        check_folder(folder, create=False)
    try:
        return _open_connection(str(path), folder)
    except sqlite3.OperationalError as error:
        if write or error.sqlite_errorcode & 0xFF not in _READ_ONLY:
            raise
        return _open_connection(read_only_uri(path), folder)


def schema_version(connection: Connection) -> int:
    """The version that the database says it has."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


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
            for statement in TABLES.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            everyone = (PUBLIC_AUDIENCE, "[]", EMPTY_STATE, 0, 0)
            connection.execute(
                "INSERT INTO audiences VALUES (?, ?, ?, ?, ?, ?)", (*everyone, checksum(everyone))
            )
            first = {"embedder": embedder, "dimensions": dimensions, "scan": 0}
            first["version"] = bytes(16)
            save_facts(connection, first, first)
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
        version = schema_version(connection)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        application, version = 0, 0
    if application != APPLICATION_ID:
        raise BadInput(f"{str(folder / DATABASE)!r} is not a foveate store; name another folder")
    lazy.refuse_newer(_name(folder), version, VERSION, new="folder")


def refuse_older(connection: Connection, folder: Path) -> None:
    """Raise `BadInput` for a store of an older version."""
    new = "folder: foveate index"
    lazy.refuse_older(_name(folder), schema_version(connection), VERSION, new=new)


def _name(folder: Path) -> str:
    return f"the store in {str(folder)!r}"

"""The check of an embedded store, in one read transaction; see `sql.check`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from foveate.stores.base import Finding, Report
from foveate.stores.checksums import StoreDamaged
from foveate.stores.sql.check import check_database
from foveate.stores.sqlite import schema, vectors
from foveate.stores.sqlite.database import SqliteDatabase
from foveate.stores.sqlite.transactions import convert_engine_errors, is_damaged


def check(folder: Path | str) -> Report:
    """Check the store in `folder`; raises `BadInput` if there is none of this version."""
    folder = Path(folder)
    with convert_engine_errors():
        try:
            with closing(schema.connect_existing(folder, write=False)) as connection:
                connection.execute("BEGIN")
                database = schema.open_database(connection)
                return check_database(
                    database,
                    _check_vectors(database, folder),
                    first={"file": _check_integrity(database)},
                    readable=_readable,
                    passes=(sqlite3.DatabaseError,),
                )
        except (sqlite3.DatabaseError, StoreDamaged) as error:
            if isinstance(error, sqlite3.Error) and not is_damaged(error):
                raise
            return Report(findings=(Finding(part="file", what=str(error)),))


def _readable(findings: Iterator[str]) -> Iterator[str]:
    """The findings; where the file is damaged, that is one."""
    try:
        yield from findings
    except sqlite3.DatabaseError as error:
        if not is_damaged(error):
            raise
        yield f"cannot be read to its end: {error}"


def _check_integrity(database: SqliteDatabase) -> Iterator[str]:
    yield from (line for (line,) in database.rows("PRAGMA integrity_check") if line != "ok")


def _check_vectors(database: SqliteDatabase, folder: Path) -> Iterator[str]:
    path = folder / vectors.FILE
    if path.exists() and vectors.load_scan(path, database.dimensions) is None:
        yield f"{vectors.FILE} is damaged; it is not used, and the next search writes it again"
    vectors.load_current_scan(database, None)

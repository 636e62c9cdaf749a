from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import foveate
from foveate.core.errors import BadInput, BadOption, ExternalError
from foveate.stores import open_store
from foveate.stores.sqlite import schema
from foveate.testing.store_corpus import corpus


@pytest.mark.parametrize("prefix", ["", "sqlite:", "file:", "file://", "SQLITE:"])
def test_a_url_or_a_path_opens_the_embedded_store(tmp_path: Path, prefix: str):
    """T1: the scheme chooses the engine; none is the embedded one."""
    with closing(open_store(f"{prefix}{tmp_path}/a:b/store")) as store:
        assert repr(store) == f"SqliteStore('{tmp_path}/a:b/store')"
    assert (tmp_path / "a:b" / "store" / "store.db").is_file()


def test_a_url_without_a_folder_is_refused():
    """X1: `sqlite:` alone would be the working directory."""
    with pytest.raises(BadOption, match="names no folder"):
        open_store("sqlite:")


def test_a_folder_of_other_files_is_not_taken_over(tmp_path: Path):
    """X2: a folder of documents given by mistake stays as it is."""
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(BadInput, match="holds other files"):
        open_store(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("content", [b"not a database at all, just text" * 40, b"\0" * 4096])
def test_another_file_of_that_name_is_refused(tmp_path: Path, content: bytes):
    """X2: what is no database is named and left alone."""
    (tmp_path / "store.db").write_bytes(content)
    with pytest.raises(BadInput, match="is not a foveate store"):
        open_store(tmp_path)
    assert (tmp_path / "store.db").read_bytes() == content


def test_a_journal_of_a_store_at_work_is_no_creation_that_was_broken_off(tmp_path: Path):
    """T5: the second process found one while the first switched the store to the log."""
    open_store(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE more (value)")
        assert (tmp_path / "store.db-journal").exists()
        with closing(schema.connect_existing(tmp_path, write=False)) as connection:
            assert schema.open_database(connection).dimensions == 0


BROKEN_OFF = """
import os, sys
from foveate.stores import open_store
from foveate.stores.sqlite.database import SqliteDatabase
run = SqliteDatabase.run

def broken_off(*given):
    run(*given)
    os._exit(0)

SqliteDatabase.run = broken_off
open_store(sys.argv[1])
"""


def test_a_creation_that_was_killed_is_done_again(tmp_path: Path):
    """T5: until its transaction is over there is no store; then any process makes it."""
    source = str(Path(foveate.__file__).parent.parent)
    command = [sys.executable, "-c", BROKEN_OFF, str(tmp_path)]
    subprocess.run(command, check=True, env={"PYTHONPATH": source})
    assert (tmp_path / "store.db").exists()
    with pytest.raises(BadInput, match="no store in"):
        open_store(tmp_path, create=False)
    entry = corpus(count=1)[0]
    with closing(open_store(tmp_path)) as store:
        store.put(entry.document, entry.chunks, None)
    assert [path.name for path in tmp_path.iterdir()] == ["store.db"]
    with closing(open_store(tmp_path, create=False)) as store:
        assert len(list(store.documents())) == 1


def test_a_store_is_searched_where_nothing_can_be_written(tmp_path: Path):
    """T1: SQLite cannot make its shared memory here (nor could root), and reading goes on."""
    entry = corpus(count=1)[0]
    with closing(open_store(tmp_path)) as store:
        store.put(entry.document, entry.chunks, None)
        expected = store.search(entry.chunks[0].text, None)
        root = store.state_root()
    (tmp_path / "store.db-shm").symlink_to("store.db-shm")
    with closing(open_store(tmp_path, create=False)) as store:
        assert store.search(entry.chunks[0].text, None) == expected
        assert store.state_root() == root
        store.remember("f", {"h": 1})
        assert store.counts("f", ["h"]) == {}
        with pytest.raises(ExternalError, match="readonly"):
            store.put(entry.document, entry.chunks, None)
    with pytest.raises(ExternalError, match="unable to open"):
        open_store(tmp_path)


def test_a_log_of_writes_is_read_with_the_store(tmp_path: Path):
    """T5: only where no log stands beside the file is it taken for all there is."""
    path = tmp_path / "a b?" / "store.db"
    entry = corpus(count=1)[0]
    with closing(open_store(path.parent)) as store:
        store.put(entry.document, entry.chunks, None)
        with closing(sqlite3.connect(schema.read_only_uri(path), uri=True)) as reader:
            assert schema.read_only_uri(path).endswith("/a%20b%3F/store.db?mode=ro")
            assert reader.execute("SELECT count(*) FROM documents").fetchone() == (1,)
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                reader.execute("DELETE FROM documents")
    assert schema.read_only_uri(path).endswith("/store.db?mode=ro&immutable=1")

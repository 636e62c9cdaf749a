from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from foveate.core.errors import ExternalError
from foveate.core.seal import content_hash
from foveate.core.types import Chunk
from foveate.ports import Document
from foveate.stores.sqlite import vectors
from foveate.testing.store_corpus import EMBEDDER, corpus
from store_urls import opened


def large(number: int) -> tuple[Document, Chunk]:
    """A document of one chunk that does not compress and has many terms."""
    text = " ".join(content_hash(f"{number} {i}") for i in range(300))
    document = Document(id=f"large {number}", source="large", text=text)
    return document, Chunk(text=text, document_id=document.id, source="large")


def test_a_full_disk_leaves_the_last_good_state(tmp_path: Path):
    """T5: the write that does not fit fails as an outside failure; everything before it stays."""
    vectors = EMBEDDER.embed(["x"])
    with closing(opened(tmp_path / "store")) as store:
        states = [store.state_root()]
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 100}")

        def fill() -> None:
            for number in range(100):
                document, chunk = large(number)
                store.put(document, [chunk], vectors)
                states.append(store.state_root())

        with pytest.raises(ExternalError, match=r"disk is full.*make room"):
            fill()
        written = len(states) - 1
        assert 0 < written < 100
        assert store.state_root() == states[-1]
        assert len(list(store.documents())) == written
        assert len(store.search("x", vectors[0]).candidates) == min(written, 50)
    with closing(opened(tmp_path / "store")) as store:
        assert store.state_root() == states[-1]
        document, chunk = large(written)
        store.put(document, [chunk], vectors)
        assert len(list(store.documents())) == written + 1


@pytest.mark.parametrize("error", [OSError(28, "no room", "mine"), OverflowError("mine")])
def test_a_callers_own_error_leaves_a_batch_as_it_is(tmp_path: Path, error: Exception):
    """T5, X1: what goes wrong between the writes is not the store's, and undoes them."""
    entry = corpus(count=1)[0]
    with closing(opened(tmp_path / "store")) as store:
        before = store.state_root()

        def broken_off() -> None:
            with store.batch():
                entry.put(store)
                raise error

        with pytest.raises(type(error)) as caught:
            broken_off()
        assert caught.value is error
        assert store.state_root() == before


def replace_by_folder(path: Path) -> None:
    """A folder of the same name."""
    path.unlink()
    path.mkdir()


DAMAGE = {
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "torn": lambda path: os.truncate(path, path.stat().st_size // 2),
    "flipped": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\x80"),  # no int8 has it
    "foreign": lambda path: path.write_bytes(b"x" * path.stat().st_size),
    "a folder": replace_by_folder,
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_vector_file_is_never_trusted(tmp_path: Path, how: str):
    """T5: the file is derived; whatever became of it, answers are those of the database."""
    folder = tmp_path / "store"
    query, vector = "granite", EMBEDDER.embed(["granite"])[0]
    with closing(opened(folder)) as store:
        for entry in corpus(count=6):
            entry.put(store)
        expected = store.search(query, vector)
    DAMAGE[how](folder / vectors.FILE)
    with closing(opened(folder)) as store:
        assert store.search(query, vector) == expected


def test_a_file_from_another_history_is_not_used(tmp_path: Path):
    """T5: a database put back from a copy, with row ids used again, does not meet newer vectors."""
    folder, copy = tmp_path / "store", tmp_path / "copy"
    entries = corpus(count=8)
    with closing(opened(folder)) as store:
        entries[0].put(store)
    shutil.copytree(folder, copy)
    with closing(opened(folder)) as store:
        for entry in entries[1:4]:
            entry.put(store)
        store.search("x", EMBEDDER.embed(["x"])[0])
    shutil.copy(copy / "store.db", folder / "store.db")
    query = entries[5].chunks[0].text
    with closing(opened(folder)) as store, closing(opened(copy)) as other:
        for one in (store, other):
            for entry in entries[4:7]:
                entry.put(one)
        vector, everyone = EMBEDDER.embed([query])[0], ("blue", "red")
        found = store.search(query, vector, principals=everyone)
        assert found == other.search(query, vector, principals=everyone)
    assert {c.text: c.semantic_score for c in found.candidates}[query] == 1.0


def test_the_vector_file_is_brought_up_to_date(tmp_path: Path):
    """T5: after a small write only the new rows are read again, and the file is left alone."""
    folder = tmp_path / "store"
    entries = corpus(count=60)
    with closing(opened(folder)) as store:
        for entry in entries:
            entry.put(store)
        query = "x", EMBEDDER.embed(["x"])[0]
        store.search(*query)
        written = (folder / vectors.FILE).read_bytes()
        statements: list[str] = []
        small = min(entries, key=lambda entry: len(entry.chunks))
        small.put(store)
        store._connection.set_trace_callback(statements.append)
        store.search(*query)
        store._connection.set_trace_callback(None)
        last = store._connection.execute("SELECT max(chunk) FROM scan").fetchone()[0]
        (read,) = [sql for sql in statements if "scan WHERE chunk >" in sql]
        assert f"chunk > {last - len(small.chunks) - 1} " in read
        assert (folder / vectors.FILE).read_bytes() == written


def test_a_foreign_lock_is_reported(tmp_path: Path):
    """T5, B7, X3: it is said, and what need not be written is left until it is over."""
    folder = tmp_path / "store"
    entry = corpus(count=1)[0]
    with closing(opened(folder)) as store, closing(sqlite3.connect(folder / "store.db")) as other:
        store._connection.execute("PRAGMA busy_timeout = 1")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ExternalError, match="another process is writing"):
            entry.put(store)
        store.remember("f", {"h": 1})
        assert store.counts("f", ["h"]) == {}
        other.rollback()
        entry.put(store)
        assert len(list(store.documents())) == 1
        store.remember("f", {"h": 1})
        assert store.counts("f", ["h"]) == {"h": 1}

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from foveate.core.errors import BadInput, ExternalError
from foveate.stores.sqlite import backup as backup_
from foveate.stores.sqlite.backup import backup
from foveate.stores.sqlite.check import check
from foveate.stores.sqlite.store import SqliteStore
from foveate.testing.store_corpus import EMBEDDER, change_entry, corpus, fill
from store_urls import opened

EVERYONE = ("blue", "red")
ENTRIES = corpus(count=14)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with documents, searched once."""
    with closing(fill(opened(tmp_path / "store"), ENTRIES)) as store:
        answers(store)
    return tmp_path / "store"


def answers(store: SqliteStore) -> list[object]:
    """What a few searches find."""
    return [
        store.search(query, EMBEDDER.embed([query])[0], principals=EVERYONE)
        for query in ("granite", "cold lamp", "river")
    ]


def names(folder: Path) -> list[str]:
    """What stands in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_stats_count_what_is_there(folder: Path):
    """T1: documents, chunks, vectors, the embedder, the root, and every byte of the folder."""
    with closing(opened(folder)) as store:
        store.delete(ENTRIES[0].document.id)
        found = store.stats()
        chunks = sum(len(entry.chunks) for entry in ENTRIES[1:])
        assert (found.documents, found.chunks, found.vectors) == (13, chunks, chunks)
        assert (found.embedder, found.dimensions, found.schema) == (EMBEDDER.name, 64, 9)
        assert found.state_root == store.state_root()
        sizes = dict(found.bytes)
        assert sum(sizes.values()) == sum(path.stat().st_size for path in folder.iterdir())
        assert sizes["vectors_file"] == (folder / "vectors.bin").stat().st_size
        assert sizes["database"] >= 4096
        assert "left_over" not in sizes
        store.put(ENTRIES[0].document, ENTRIES[0].chunks, None)
        assert store.stats().vectors == chunks


def test_a_backup_in_the_middle_of_a_write_is_of_the_state_before(folder: Path, tmp_path: Path):
    """T5: a writer that is not done is not in the copy, and is not stopped; the copy is a store."""
    with closing(opened(folder)) as store:
        root = store.state_root()
        with store.batch():
            change_entry(ENTRIES[0]).put(store)
            backup(folder, tmp_path / "new" / "copy")
        assert store.state_root() != root

    report = check(tmp_path / "new" / "copy")
    assert (report.state_root, report.findings) == (root, ())
    assert names(tmp_path / "new" / "copy") == ["store.db"]


@pytest.mark.parametrize("what", ["folder", "file", "link"])
def test_a_backup_replaces_nothing(folder: Path, tmp_path: Path, what: str):
    """X2: what is there already is refused and left as it is."""
    target = tmp_path / "copy"
    if what == "folder":
        target.mkdir()
    elif what == "file":
        target.write_text("mine")
    else:
        target.symlink_to("nowhere")
    with pytest.raises(BadInput, match="is there already"):
        backup(folder, target)
    assert names(tmp_path) == ["copy", "store"]


def test_a_backup_goes_beside_the_store(folder: Path, tmp_path: Path):
    """X2: not inside it, and not from where no store is."""
    with pytest.raises(BadInput, match="lies inside the store"):
        backup(folder, folder / "copy")
    with pytest.raises(BadInput, match="no store in"):
        backup(tmp_path / "nowhere", tmp_path / "copy")
    assert names(tmp_path) == ["store"]


def test_a_backup_that_fails_leaves_nothing(folder: Path, tmp_path: Path, monkeypatch):
    """T5: no name, no partial folder; a leftover of another run is written over."""
    partial = tmp_path / f"copy.{os.getpid()}.partial"
    partial.mkdir()
    (partial / "old").write_text("x")

    def full(source: sqlite3.Connection, aside: Path) -> None:
        assert names(aside) == []
        raise OSError(28, "No space left on device", str(aside))

    with monkeypatch.context() as patch:
        patch.setattr(backup_, "_copy_files", full)
        with pytest.raises(ExternalError, match="the disk is full"):
            backup(folder, tmp_path / "copy")
    assert names(tmp_path) == ["store"]

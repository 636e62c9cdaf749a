from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from foveate.core.errors import BadInput
from foveate.stores import open_store
from foveate.stores.sqlite.check import check
from foveate.stores.sqlite.schema import VERSION
from foveate.stores.sqlite.store import SqliteStore
from foveate.testing.store_corpus import corpus, fill
from store_urls import opened


def filled(folder: Path) -> SqliteStore:
    """A store of this version with some documents."""
    store = opened(folder)
    fill(store, corpus(count=9))
    return store


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (VERSION - 1, f"of an older version, .* reads {VERSION}; .* new folder: foveate index"),
        (99, f", this version knows up to {VERSION}; update foveate"),
    ],
)
def test_a_store_of_another_version_is_refused_and_left_alone(
    tmp_path: Path, version: int, said: str
):
    """X1, X2: reading and writing say both numbers and what to do, and change no byte."""
    filled(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "store.db")) as other:
        other.execute(f"PRAGMA user_version = {version}")
    before = (tmp_path / "store.db").read_bytes()

    for create in (True, False):
        with pytest.raises(BadInput, match=rf"has schema {version} ?{said}"):
            open_store(tmp_path, create=create)
    with pytest.raises(BadInput, match=f"has schema {version}"):
        check(tmp_path)

    assert (tmp_path / "store.db").read_bytes() == before

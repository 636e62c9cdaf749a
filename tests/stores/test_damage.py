"""Bits that flip in a store: `store_damage.py` does a thousand for each store."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import store_damage
from foveate.core.errors import ExternalError
from foveate.stores import maintenance, open_store
from foveate.testing.store_corpus import EMBEDDER, CorpusEntry, corpus, fill
from full_counts import count
from store_urls import opened

# What is done behind the store's back, of which no answer may tell.
CHANGED = (
    "UPDATE chunks SET text = replace(text, 'e', 'a') WHERE id = 3",
    "UPDATE chunks SET principals = '[]' WHERE principals <> '[]'",
    "UPDATE documents SET document_id = 'other' WHERE id = 1",
    "UPDATE chunks SET metadata = '{}' WHERE id = 3",
    "UPDATE chunks SET sequence = 7 WHERE id = 3",
    "UPDATE documents SET source = 'z' WHERE id = 1",
    "UPDATE documents SET modified_at = NULL WHERE id = 1",
    "UPDATE scan SET audience = 0 WHERE audience = 1",
    "UPDATE scan SET vector = zeroblob(64) WHERE chunk = 3",
    "UPDATE scan SET terms = terms + 1 WHERE chunk = 3",
    "DELETE FROM scan WHERE chunk = 3",
    "UPDATE terms SET checksum = checksum + 1 WHERE term = 'granite'",
    "DELETE FROM postings WHERE term = 'granite'",
    "UPDATE audiences SET state = zeroblob(2048) WHERE id = 0",
    "UPDATE meta SET embedder = 'other'",
)


def asked(folder: Path, entries: tuple[CorpusEntry, ...]) -> None:
    """Ask for everything that everybody may read together."""
    everyone = ("blue", "red")
    with closing(open_store(folder, create=False)) as store:
        for entry in entries:
            for query in ("granite", entry.chunks[0].text):
                store.search(query, EMBEDDER.embed([query])[0], principals=everyone)
        store.neighbours([(entry.document.id, 0) for entry in entries], 9, principals=everyone)


@pytest.mark.parametrize("statement", CHANGED)
def test_what_was_changed_behind_its_back_is_said(tmp_path: Path, statement: str):
    """X6, T5: a search gives an error that names the command, the command says where."""
    entries = corpus(count=6)
    with closing(opened(tmp_path)) as store:
        fill(store, entries)
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        assert connection.execute(statement).rowcount > 0

    with pytest.raises(ExternalError, match="foveate store check") as raised:
        asked(tmp_path, entries)
    assert not [entry for entry in entries if entry.document.id in str(raised.value)]
    assert maintenance.check(str(tmp_path)).findings


def test_a_damaged_token_count_is_counted_anew(tmp_path: Path):
    """X6, B1: a count that is not as it was written is not handed out."""
    with closing(open_store(tmp_path)) as store:
        store.remember("f", {"a": 25, "b": 28})
        with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
            connection.execute("UPDATE counts SET tokens = 24 WHERE hash = 'a'")
        assert store.counts("f", ["a", "b"]) == {"b": 28}


def test_a_flipped_bit_in_the_embedded_store_changes_no_answer(tmp_path: Path, figure):
    """X6, T1, T5, B1: answers are equal, or there is an error that says what to do."""
    tally = store_damage.on_sqlite(tmp_path, flips=count(24, 120), seed=11, documents=24)
    figure(f"sqlite: {tally}")
    assert (tally.outcomes["silent"], tally.notes) == (0, [])
    assert tally.outcomes["error"] > count(2, 10)

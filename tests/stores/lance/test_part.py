from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import lance as engine
import pytest

import lance_writers
from foveate.core.errors import BadInput
from foveate.stores.lance import LanceStore, part, schema
from foveate.testing.store_corpus import corpus


@pytest.fixture
def store(tmp_path):
    """An empty distributed store in a folder."""
    with closing(LanceStore(f"lance:{tmp_path}/s", **lance_writers.OPTIONS)) as store:
        yield store


def written(store, *entries):
    """A part of these documents."""
    return store.write_part([(entry.document, entry.chunks, None) for entry in entries])


def test_a_part_is_refused_when_its_segment_is_merged_away(store):
    """T5, X1: what was committed is known for as long as a part lives, whatever became of it."""
    first, second = (written(store, entry) for entry in corpus(count=2))
    store.commit_parts([first])
    store.commit_parts([second])
    store.compact(keep=timedelta(0))
    assert first.segment not in store._versions.current().head.segments
    for is_there in (True, False):
        with pytest.raises(BadInput, match="in the store already.*write them again"):
            store.commit_parts([first])
        assert store.delete("d00") is is_there
    assert [name for name, _ in store.documents()] == ["d01"]
    assert store.check().findings == ()


def test_a_part_of_another_store_is_refused(store, tmp_path):
    """T5, X1: files of another store, or vectors of another length, never get into this one."""
    (entry,) = corpus(count=1)
    with (
        closing(LanceStore(f"lance:{tmp_path}/other", **lance_writers.OPTIONS)) as same,
        closing(LanceStore(f"lance:{tmp_path}/bare")) as bare,
    ):
        for stranger in (written(same, entry), written(bare, entry)):
            with pytest.raises(BadInput, match="written for another store"):
                store.commit_parts([stranger])
    assert list(store.documents()) == []
    store.commit_parts([written(store, entry)])
    assert len(list(store.documents())) == 1


def test_a_part_that_is_old_or_has_lost_its_files_is_refused(store, tmp_path):
    """T5, X1: nothing is committed whose files are not there, or may not be soon."""
    (entry,) = corpus(count=1)
    ours = written(store, entry)
    old = replace(ours, written=ours.written - part.LIFETIME_SECONDS - 1)
    with pytest.raises(BadInput, match="older than six days.*write its documents again"):
        store.commit_parts([old])
    for file in ours.files.values():
        (tmp_path / "s" / "store.lance" / "data" / file.name).unlink()
    with pytest.raises(BadInput, match=r"not in the store any more; write its documents again"):
        store.commit_parts([ours])
    assert list(store.documents()) == []
    assert store.search("granite", None).candidates == ()


def test_what_is_remembered_of_transactions_has_a_bound():
    """T5: old parts and old transactions leave the head, which comes back as it was written."""
    now = schema.Head()
    for number in range(300):
        now = schema.record_transaction(now, number, {number: 1000 + number}, since=1200)
    assert sorted(now.committed) == list(range(200, 300))
    assert now.recent == tuple(range(44, 300))
    assert schema.head_from_table(schema.table_from_head(now)) == now


@pytest.mark.parametrize("said", ["Commit conflict for version 2: 412", "connection reset"])
def test_a_commit_whose_answer_was_lost_is_done(store, monkeypatch, said):
    """T5, X1: a request that was sent twice meets itself, which is no other writer's doing."""
    (entry,) = corpus(count=1)
    real = engine.LanceDataset.commit

    def unheard(*given, **options):
        real(*given, **options)
        raise OSError(said)

    monkeypatch.setattr(engine.LanceDataset, "commit", staticmethod(unheard))
    entry.put(store)
    version = store.version
    assert [name for name, _ in store.documents()] == ["d00"]
    store.commit_parts([written(store, replace(entry, document=entry.document))])
    assert store.version == version + 1
    assert store.delete("d00")
    assert list(store.documents()) == []

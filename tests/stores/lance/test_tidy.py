from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from random import Random

import pytest

import lance_writers
from foveate.core.errors import BadInput
from foveate.stores import open_store
from foveate.stores.lance import LanceStore, batch, compaction
from foveate.stores.lance.schema import Head, Segment
from foveate.testing.store_corpus import EMBEDDER, change_entry, corpus, fill
from foveate.testing.stores import QUERIES

EVERYONE = ("blue", "red")


def answers(store):
    """Everything that is searched for, to compare."""
    found = [
        store.search(query, EMBEDDER.embed([query])[0], principals=who, where=where)
        for query in QUERIES[:3]
        for who in ((), EVERYONE)
        for where in (None, {"lang": "nl"})
    ]
    return found, store.state_root(), list(store.documents())


def acts(entries, seed, count):
    """Random writes, deletions and batches, each to be done to any store."""
    random = Random(seed)
    for _ in range(count):
        entry = random.choice(entries)
        some = random.sample(entries, 3)
        yield random.choice(
            [
                entry.put,
                change_entry(entry).put,
                lambda store, name=entry.document.id: store.delete(name),
                lambda store, some=some: lance_writers.batch(store, some),
            ]
        )


@pytest.mark.parametrize("seed", [1, 2])
def test_any_history_with_indexes_and_merges_answers_as_the_embedded_store(
    tmp_path, monkeypatch, seed
):
    """T1, T4, D3: scalar indexes, deleted rows, merged segments and new ones change nothing."""
    monkeypatch.setattr(compaction, "MIN_INDEXED_CHUNKS", 10)
    monkeypatch.setattr(compaction, "MERGE_COUNT", 4)
    url, options = f"lance:{tmp_path}/store", lance_writers.OPTIONS
    with (
        closing(LanceStore(url, **options)) as store,
        closing(open_store(tmp_path / "plain", **options)) as plain,
    ):
        for number, act in enumerate(acts(corpus(seed, 12), seed, 45)):
            act(store)
            act(plain)
            if number % 15 == 9:
                store.compact(keep=timedelta(0))
            if number % 15 == 12:
                assert answers(store) == answers(plain)
                assert store.check().findings == ()
        names = {one.name for one in store._versions.current().dataset.describe_indices()}
        assert {"term_idx", "document_id_idx", "chunk_id_idx", "labels_idx"} <= names
        assert answers(store) == answers(plain)


def test_small_segments_become_few(tmp_path):
    """T4: a store that grew document by document does not stay in as many files."""
    with closing(LanceStore(f"lance:{tmp_path}/s", **lance_writers.OPTIONS)) as store:
        fill(store, corpus(count=50))
        head = store._versions.current().head
    assert len(head.segments) < 20
    assert sum(segment.rows for segment in head.segments.values()) == sum(
        len(entry.chunks) for entry in corpus(count=50)
    )


def test_what_is_merged_is_of_one_size():
    """T4: sixteen segments of a size are due, the smallest first, and full ones never."""
    sizes = [*[3] * 15, *[40] * 17, *[compaction.FULL_SEGMENT_CHUNKS] * 40]
    segments = {n: Segment(files={}, rows=rows) for n, rows in enumerate(sizes)}
    assert compaction.find_small_segments(Head(segments=segments)) == list(range(15, 32))
    segments[99] = Segment(files={}, rows=2)
    assert compaction.find_small_segments(Head(segments=segments)) == [*range(15), 99]
    assert compaction.find_small_segments(Head()) == []
    large = {n: Segment(files={}, rows=compaction.FULL_SEGMENT_CHUNKS - 1) for n in range(16)}
    assert compaction.find_small_segments(Head(segments=large)) == [0, 1]


def test_a_reader_goes_on_with_its_version_until_it_is_older_than_is_kept(tmp_path):
    """T5: compacting takes no file from a version that is young enough to be read."""
    entries = corpus(count=12)
    with closing(LanceStore(f"lance:{tmp_path}/s", **lance_writers.OPTIONS)) as store:
        fill(store, entries)
        old = store._versions.current()
        before = old.read_rows("chunks", ["text"]).num_rows
        for entry in entries[:-1]:
            store.delete(entry.document.id)
        store.compact()
        assert old.read_rows("chunks", ["text"]).num_rows == before
        files = [len(list((tmp_path / "s").rglob("*.lance")))]
        store.compact(keep=timedelta(0))
        files.append(len(list((tmp_path / "s").rglob("*.lance"))))
        assert all(earlier > later for earlier, later in pairwise(files))
        with pytest.raises((OSError, ValueError), match="Not found"):
            old.read_rows("chunks", ["text"])
        assert len(list(store.documents())) == 1


def test_a_part_is_committed_once_and_meets_no_other(tmp_path):
    """T5, X1: parts with a document or a chunk in common are refused, and so is one twice."""
    with closing(LanceStore(f"lance:{tmp_path}/s", **lance_writers.OPTIONS)) as store:
        one, other = corpus(count=2)
        rows = [(entry.document, entry.chunks, None) for entry in (one, other)]
        first, second = store.write_part(rows[:1]), store.write_part(rows)
        with pytest.raises(BadInput, match="'d00' stands in two parts"):
            store.commit_parts([first, second])
        with pytest.raises(BadInput, match="stands twice in this part"):
            store.write_part([rows[0], rows[0]])
        store.commit_parts([first])
        with pytest.raises(BadInput, match="in the store already"):
            store.commit_parts([first])
        store.commit_parts([second])
        assert [name for name, _ in store.documents()] == ["d00", "d01"]
        assert store.stats().chunks == len(one.chunks) + len(other.chunks)


def test_a_large_batch_looks_its_ids_up_once(tmp_path, monkeypatch):
    """T2, T5: ids are read once a batch, and one that is another document's is refused at once."""
    looked = []
    real = batch.find_existing

    def there(snapshot, *rest):
        looked.append(snapshot.version)
        return real(snapshot, *rest)

    monkeypatch.setattr(batch, "find_existing", there)
    with closing(LanceStore(f"lance:{tmp_path}/s", **lance_writers.OPTIONS)) as store:
        entries = corpus(count=60)
        lance_writers.batch(store, list(entries[:30]))
        looked.clear()
        theirs = replace(entries[40].chunks[0], id=entries[3].chunks[0].id)
        with store.batch():
            fill(store, entries[:40])
            assert len(looked) < 10
            with pytest.raises(BadInput, match="has a chunk .* already"):
                store.put(entries[40].document, [theirs], None)
            store.delete("d03")
            store.put(entries[40].document, [theirs], None)
        assert len(set(looked)) == 1
        assert len(list(store.documents())) == 40
        assert store.check().findings == ()

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pyarrow as pa
import pytest

import lance_writers
from foveate.core.errors import BadOption
from foveate.core.state import EMPTY_STATE
from foveate.stores import maintenance
from foveate.stores.lance import LanceStore, commit, part, schema
from foveate.testing.store_corpus import corpus


@pytest.fixture
def url(tmp_path):
    """A distributed store with some documents in one segment."""
    url = f"lance:{tmp_path}/store"
    with closing(LanceStore(url, **lance_writers.OPTIONS)) as store:
        lance_writers.batch(store, list(corpus(count=6)))
        store.delete("d03")
    return url


def test_bytes_are_those_of_the_files(url, tmp_path):
    """T1: counts are among them, also where nobody has asked for one yet."""
    with closing(LanceStore(url, create=False)) as store:
        found = store.stats().bytes
    known = (tmp_path / "store" / "known.lance" / "data").glob("*.lance")
    assert found["known"] == sum(one.stat().st_size for one in known) > 0
    assert maintenance.store_bytes(url) == sum(found.values())


def tampered(url, change):
    """The head as somebody else would write it."""
    with closing(LanceStore(url, create=False)) as store:
        now = store._versions.current()
        commit.write_commit(store.location, now, commit.CommitPlan(head=change(now.head)))


GONE = schema.StoredFile("gone.lance")


def each(values, change):
    """Every value of a mapping changed."""
    return {key: change(value) for key, value in values.items()}


def audiences(**fields):
    """A head whose audiences have other fields."""
    return lambda head: replace(
        head, audiences=each(head.audiences, lambda one: replace(one, **fields))
    )


def files(change):
    """A head whose segments have other files."""
    return lambda head: replace(
        head, segments=each(head.segments, lambda one: replace(one, files=change(one.files)))
    )


def without(kind):
    """A head whose segments have no file of this kind."""
    return files(lambda known: {name: file for name, file in known.items() if name != kind})


def renumbered(head):
    """A head whose segments have other numbers."""
    return replace(head, segments={number + 1: one for number, one in head.segments.items()})


@pytest.mark.parametrize(
    ("change", "where", "said"),
    [
        (audiences(state=EMPTY_STATE), "state", "is not that of the rows"),
        (audiences(chunks=99), "state", "is counted as"),
        (renumbered, "rows", "has a key of another segment"),
        (without("documents"), "rows", "belongs to no document"),
        (without("postings"), "words", "has no words"),
        (files(lambda known: {**known, "chunks": GONE}), "rows", "its file of chunks is not there"),
    ],
)
def test_what_does_not_agree_is_named(url, change, where, said):
    """T1, X1: states, figures, files and words that are not those of the rows are findings."""
    tampered(url, change)
    findings = maintenance.check(url).findings
    assert any(one.part == where and said in one.what for one in findings), findings


@pytest.mark.parametrize(
    ("column", "value", "where", "said"),
    [
        ("text", "other words", "rows", "is not the one that was put"),
        ("text", "other words", "words", "the places of 'other' are not those"),
        ("terms", 99, "words", "terms, not 99"),
        ("norm", 1, "vectors", "has not the length that is noted"),
        ("audience", 7, "rows", "has an audience of other principals"),
        ("labels", ["x"], "rows", "is filtered by other metadata"),
        ("title", "Other", "rows", "says other things of its document"),
    ],
)
def test_a_changed_row_is_named(url, column, value, where, said):
    """T1, X1: every derived column of a chunk is worked out again."""
    with closing(LanceStore(url, create=False)) as store:
        rewrite_first_chunk(store, column, value)
    findings = maintenance.check(url).findings
    assert any(one.part == where and said in one.what for one in findings), findings


def rewrite_first_chunk(store, column, value):
    """The one file of chunks, written again with another value in its first row."""
    now = store._versions.current()
    (segment,) = now.head.segments.values()
    old = now.files[segment.files["chunks"].name]
    rows = old.to_table(columns=[*schema.CHUNK_COLUMNS, "vector"])
    at = rows.schema.get_field_index(column)
    values = [value, *rows.column(column).to_pylist()[1:]]
    rows = rows.set_column(at, rows.schema.field(at), pa.array(values, rows.schema.types[at]))
    written, added = part.write_fragments(store.location, {"chunks": rows})
    head = files(lambda known: {**known, **written})(now.head)
    plan = commit.CommitPlan(head=head, removed=[old.fragment_id], added=added)
    commit.write_commit(store.location, now, plan)


def test_what_only_other_stores_do_says_what_to_do(url, tmp_path):
    """X1: a copy is made another way here."""
    with pytest.raises(BadOption, match=r"object store's own tools.*docs/lance.md"):
        maintenance.backup(url, tmp_path / "copy")

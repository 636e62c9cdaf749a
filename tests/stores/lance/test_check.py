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


def test_a_whole_store_is_found_whole(url, tmp_path):
    """T1, T5: what the check works out from the rows is what the store says of itself."""
    report = maintenance.check(url)
    with closing(LanceStore(url, create=False)) as store:
        figures = store.stats()
    assert report.findings == ()
    assert (report.documents, report.chunks) == (5, figures.chunks)
    assert report.state_root == figures.state_root
    assert maintenance.store_bytes(url) == sum(figures.bytes.values())
    known = (tmp_path / "store" / "known.lance" / "data").glob("*.lance")
    assert figures.bytes["known"] == sum(one.stat().st_size for one in known) > 0


def tampered(url, change):
    """The head as somebody else would write it."""
    with closing(LanceStore(url, create=False)) as store:
        now = store._versions.current()
        commit.write_commit(store.location, now, commit.CommitPlan(head=change(now.head)))


GONE = schema.StoredFile("gone.lance")


def each(values, change):
    """Every value of a mapping changed."""
    return {key: change(value) for key, value in values.items()}


@pytest.mark.parametrize(
    ("change", "where", "said"),
    [
        (
            lambda head: replace(
                head, audiences=each(head.audiences, lambda a: replace(a, state=EMPTY_STATE))
            ),
            "state",
            "is not that of the rows",
        ),
        (
            lambda head: replace(
                head, audiences=each(head.audiences, lambda a: replace(a, chunks=99))
            ),
            "state",
            "is counted as",
        ),
        (
            lambda head: replace(
                head,
                segments={n + 1: segment for n, segment in head.segments.items()},
            ),
            "rows",
            "has a key of another segment",
        ),
        (
            lambda head: replace(
                head,
                segments=each(
                    head.segments,
                    lambda s: replace(s, files={k: f for k, f in s.files.items() if k[0] != "d"}),
                ),
            ),
            "rows",
            "belongs to no document",
        ),
        (
            lambda head: replace(
                head,
                segments=each(
                    head.segments,
                    lambda s: replace(s, files={k: f for k, f in s.files.items() if k[0] != "p"}),
                ),
            ),
            "words",
            "has no words",
        ),
        (
            lambda head: replace(
                head,
                segments=each(
                    head.segments,
                    lambda s: replace(
                        s, files={**s.files, "chunks": schema.StoredFile("gone.lance")}
                    ),
                ),
            ),
            "rows",
            "its file of chunks is not there",
        ),
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
    files = {**segment.files, **written}
    head = replace(now.head, segments=each(now.head.segments, lambda s: replace(s, files=files)))
    plan = commit.CommitPlan(head=head, removed=[old.fragment_id], added=added)
    commit.write_commit(store.location, now, plan)


def test_what_only_other_stores_do_says_what_to_do(url, tmp_path):
    """X1: a copy is made another way here."""
    with pytest.raises(BadOption, match=r"object store's own tools.*docs/lance.md"):
        maintenance.backup(url, tmp_path / "copy")

from __future__ import annotations

from contextlib import closing

import pyarrow as pa
import pytest

import lance_writers
from foveate.core.errors import BadOption
from foveate.stores import maintenance
from foveate.stores.lance import LanceStore, tables
from foveate.stores.totals import Totals
from foveate.testing.store_corpus import corpus


@pytest.fixture
def url(tmp_path):
    """A distributed store with some documents."""
    url = f"lance:{tmp_path}/store"
    with closing(LanceStore(url, **lance_writers.OPTIONS)) as store:
        lance_writers.batch(store, list(corpus(count=6)))
        store.delete("d03")
    return url


def table(url):
    """The table of the store, to be changed behind its back."""
    with closing(LanceStore(url, create=False)) as store:
        return tables.open_table(store.location)


def test_bytes_are_those_of_rows_and_indexes(url):
    """T1: the figures of the latest version."""
    with closing(LanceStore(url, create=False)) as store:
        found = store.stats().bytes
    assert set(found) == {"rows", "indexes"}
    assert all(found.values())
    assert maintenance.store_bytes(url) == sum(found.values())


def test_a_head_that_does_not_agree_is_named(url):
    """T1, X1: states and figures that are not those of the rows are findings."""
    found = table(url)
    row = tables.head_row(found.schema.remove_metadata(), Totals())
    found.merge_insert("key").when_matched_update_all().execute(row)
    (finding,) = maintenance.check(url).findings
    assert (finding.part, finding.what) == (
        "state",
        "what readers may read is not what the head says",
    )


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("text", "other words", "its text is not the one that was put"),
        ("words", "other words", "is found by other words than its own"),
        ("principals", '["green"]', "is not what the head says"),
        ("section", "Other", "is not what the head says"),
    ],
)
def test_a_changed_row_is_named(url, column, value, said):
    """T1, X1: texts, words and all that the state root covers are worked out again."""
    found = table(url)
    key = found.to_table(columns=["key"], filter="chunk_id IS NOT NULL")["key"][0].as_py()
    found.update({column: f"'{value}'"}, where=f"key = '{key}'")
    findings = maintenance.check(url).findings
    assert any(said in one.what for one in findings), findings


def test_a_row_that_is_there_twice_is_named(url):
    """T1, X1: ids are unique."""
    found = table(url)
    rows = found.to_table(filter="chunk_id IS NOT NULL").slice(0, 1)
    found.insert(pa.Table.from_batches(rows.to_batches(), schema=found.schema))
    findings = maintenance.check(url).findings
    assert any("twice; ids are unique" in one.what for one in findings), findings


def test_what_only_other_stores_do_says_what_to_do(url, tmp_path):
    """X1: a copy is made another way here."""
    with pytest.raises(BadOption, match=r"object store's own tools.*docs/lance.md"):
        maintenance.backup(url, tmp_path / "copy")

"""Opening, batches, refusals, threads and principals, in a folder, on Lance and on a server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest

import store_urls
from foveate.core.errors import BadInput, BadOption, ExternalError
from foveate.core.types import Chunk
from foveate.ports import Document
from foveate.stores import maintenance, open_store
from foveate.testing.store_corpus import EMBEDDER, change_entry, corpus, fill
from source_tree import PACKAGE
from store_urls import opened


def test_reading_a_store_that_is_not_there_makes_none(new_url: Callable[[], str], tmp_path: Path):
    """T1: `create=False` says what to do, twice, and leaves no folder behind."""
    url = new_url()
    for _ in range(2):
        with pytest.raises(BadInput, match="no store in .*index documents into it first"):
            open_store(url, create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_store_keeps_its_embedder(new_url: Callable[[], str]):
    """D3, T1: what is there is opened as it is; vectors of two models are never in one store."""
    url = new_url()
    with closing(opened(url)) as store:
        corpus(count=1)[0].put(store)
        root = store.state_root()
    with closing(open_store(url, create=False)) as store:
        assert (store.embedder_name, store.dimensions) == (EMBEDDER.name, EMBEDDER.dimensions)
        assert store.state_root() == root
    said = rf"vectors of {EMBEDDER.name!r} \({EMBEDDER.dimensions} dimensions\), not of 'two' \(9\)"
    with pytest.raises(BadOption, match=said):
        open_store(url, embedder_name="two", dimensions=9)
    for name, dimensions in (("a", 0), ("", 4), ("a", -1)):
        with pytest.raises(BadOption, match="both or neither"):
            open_store(url, embedder_name=name, dimensions=dimensions)


VERSIONED = {"lance": "lance.tables", "postgresql": "postgres.schema", "sqlite": "sqlite.schema"}


@pytest.mark.parametrize(
    ("newer", "said"), [(1, "index .* into a new (folder|place|schema)"), (-1, "update foveate")]
)
def test_a_store_of_another_version_is_refused_and_left_alone(
    new_url: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    newer: int,
    said: str,
):
    """T1, X1, X2: reading, writing and the check say both numbers and what to do."""
    url = new_url()
    with closing(opened(url)) as store:
        corpus(count=1)[0].put(store)
        figures = store.stats(principals=())
    files = {path: path.read_bytes() for path in tmp_path.rglob("store.db")}
    known = figures.schema + newer
    with monkeypatch.context() as patch:
        patch.setattr(f"foveate.stores.{VERSIONED[url.partition(':')[0]]}.VERSION", known)
        for attempt in (
            lambda: open_store(url),
            lambda: open_store(url, create=False),
            lambda: maintenance.check(url),
        ):
            with pytest.raises(BadInput, match=f"has schema {figures.schema}, .*{known}; {said}"):
                attempt()
    assert all(path.read_bytes() == data for path, data in files.items())
    with closing(open_store(url, create=False)) as store:
        assert store.stats(principals=()) == figures


MAKE = """import sys
from contextlib import closing
from store_urls import opened
with closing(opened(sys.argv[1])) as store:
    print(store.state_root())
"""


def test_many_processes_may_make_one_store(new_url: Callable[[], str], tmp_path: Path):
    """T5: whoever comes second uses what the first has made, and nothing is left of the race."""
    url = new_url()
    paths = os.pathsep.join((str(PACKAGE.parent), str(Path(store_urls.__file__).parent)))
    started = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE, url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths},
        )
        for _ in range(4)
    ]
    answers = [process.communicate() for process in started]
    assert [error for _, error in answers] == [b""] * 4
    assert len({root for root, _ in answers}) == 1
    left = {path.name for path in (tmp_path / "store0").glob("*")}
    assert left <= {"store.db", "store.db-wal", "store.db-shm", "store.lance"}
    with closing(opened(url)) as store:
        corpus(count=1)[0].put(store)


@pytest.mark.parametrize(
    "new_url",
    ["sqlite", pytest.param("postgresql", marks=pytest.mark.server)],
    indirect=True,
)
def test_a_closed_store_says_so(new_url: Callable[[], str]):
    """X1, X3: closing twice is fine, and a call after it is an error that says what to do."""
    store = opened(new_url())
    store.close()
    store.close()
    with pytest.raises(ExternalError, match="^store: it is closed; open it again"):
        store.state_root()


def test_a_store_without_an_embedder_searches_its_text(new_url: Callable[[], str]):
    """T4: full text alone works, and vectors are refused there."""
    entry = corpus(count=1)[0]
    with closing(open_store(new_url())) as store:
        store.put(entry.document, entry.chunks, None)
        found = store.search(entry.chunks[0].text, None)
        assert found.candidates[0].id == entry.chunks[0].id
        assert found.candidates[0].semantic_score is None
        with pytest.raises(BadInput, match="shape"):
            entry.put(store)


def test_what_asks_for_nothing_is_refused(new_url: Callable[[], str]):
    """T1: with the same words by every engine; a limit of -1 gave all documents, or none."""
    with closing(open_store(new_url())) as store:
        with pytest.raises(BadOption, match="limit is -1; it must be 1 or more"):
            store.listed(limit=-1)
        with pytest.raises(BadOption, match="limit is 0 and depth 50; both must be 1 or more"):
            store.search("cold", None, limit=0)
        with pytest.raises(BadOption, match="limit is 100 and depth 0; both must be 1 or more"):
            store.search("cold", None, depth=0)
        with pytest.raises(BadOption, match="window is -1; it must be 0 or more"):
            store.neighbours([("d", 0)], -1)


def test_readers_are_a_list(new_url: Callable[[], str]):
    """X5: a single name was read as its letters, each of them a reader."""
    with closing(open_store(new_url())) as store:
        for call in (
            lambda: store.put(Document(id="d", source="d", text="", principals="red"), (), None),
            lambda: store.search("cold", None, principals="red"),
            lambda: store.neighbours([("d", 0)], 1, principals="red"),
            lambda: store.document("d", principals="red"),
            lambda: store.listed(principals="red"),
            lambda: store.state_root(principals="red"),
            lambda: store.stats(principals="red"),
        ):
            with pytest.raises(BadInput, match="must be a list of strings, not 'red'"):
                call()


@pytest.mark.parametrize("name", ["red\0x", "it's", 'a"b', "ü", "[]", "%", "\\"])
def test_any_name_can_be_a_principal(new_url: Callable[[], str], name: str):
    """X5: a principal is a string, whatever is in it; a prefix of it is another."""
    document = Document(id="d", source="d", text="cold", principals=(name,))
    url = new_url()
    with closing(open_store(url)) as store:
        store.put(document, [Chunk(text="cold", document_id="d")], None)
        assert len(store.search("cold", None, principals=[name]).candidates) == 1
        assert len(store.neighbours([("d", 0)], 1, principals=[name])) == 1
        for other in (name[:-1], name + "x", "red", f'"{name}"'):
            assert store.search("cold", None, principals=[other]).candidates == ()
            assert store.neighbours([("d", 0)], 1, principals=[other]) == []
            assert store.document("d", principals=[other]) is None
    assert maintenance.check(url).findings == ()


def test_a_refused_document_changes_nothing(new_url: Callable[[], str]):
    """X2: half of a document is never written, and the old one is still there."""
    first, second = corpus(count=2)
    with closing(opened(new_url())) as store:
        first.put(store)
        second.put(store)
        before = store.state_root()
        rows = EMBEDDER.embed(["x"] * len(first.chunks))
        twice = (*first.chunks, first.chunks[0])
        with pytest.raises(BadInput, match="this document has a chunk .* ids are unique"):
            store.put(first.document, twice, EMBEDDER.embed(["x"] * len(twice)))
        with pytest.raises(BadInput, match="is of document"):
            store.put(second.document, first.chunks, rows)
        with pytest.raises(BadInput, match="counts for"):
            store.put(first.document, first.chunks, rows, [1] * (len(rows) + 1), fingerprint="f")
        assert store.state_root() == before


def test_a_batch_is_one_transaction(new_url: Callable[[], str]):
    """T5: what fails undoes all; what is refused undoes itself; a nested batch undoes its own."""
    entries = corpus(count=9)
    url = new_url()
    with (
        closing(opened(url)) as store,
        closing(opened(new_url())) as plain,
    ):
        for entry in entries[:3]:
            entry.put(plain)
            entry.put(store)
        before = store.state_root()

        def undone() -> None:
            with store.batch():
                entries[4].put(store)
                store.delete(entries[0].document.id)
                store.search("granite", EMBEDDER.embed(["granite"])[0])
                entries[6].put(store)
                raise KeyError

        with pytest.raises(KeyError):
            undone()
        assert store.state_root() == before
        with store.batch():
            entries[3].put(store)
            with pytest.raises(BadInput, match="is of document"):
                store.put(entries[0].document, entries[1].chunks, None)
            with pytest.raises(KeyError):
                undone()
            change_entry(entries[4]).put(store)
            fill(store, entries[4:])
            assert store.delete(entries[5].document.id)
            assert not store.delete(entries[5].document.id)
        for entry in (*entries[3:5], *entries[6:]):
            entry.put(plain)
        assert store.state_root() == plain.state_root()
        query, vector = "granite", EMBEDDER.embed(["granite"])[0]
        assert store.search(query, vector) == plain.search(query, vector)
    assert maintenance.check(url).findings == ()


def test_a_whole_store_is_found_whole(new_url: Callable[[], str]):
    """T1, T5, D3: empty or full, what the check works out from the rows is what the store says."""
    url, entries = new_url(), corpus(count=9)
    for expected in (0, 8):
        with closing(opened(url)) as store:
            figures = store.stats()
        report = maintenance.check(url)
        assert report.findings == ()
        assert (report.documents, report.chunks) == (expected, figures.chunks)
        assert report.state_root == figures.state_root
        with closing(opened(url)) as store, store.batch():
            for entry in (*entries, change_entry(entries[-1])):
                entry.put(store)
            store.delete("d03")


def test_threads_share_a_store(new_url: Callable[[], str]):
    """T5: readers, writers and who remembers counts, in one process, without error or deadlock."""
    entries = corpus(count=8)
    url = new_url()
    with closing(fill(opened(url), entries)) as store:
        expected = store.search("granite", None)
        hashes = [chunk.content_hash for entry in entries for chunk in entry.chunks]
        barrier = Barrier(6)

        def repeated(work: Callable[[int], object]) -> None:
            barrier.wait()
            for n in range(5):
                work(n)

        def read(_: int) -> None:
            assert store.search("granite", None) == expected

        def write(n: int) -> None:
            for entry in entries if n % 2 else entries[::-1]:
                entry.put(store)

        def note(n: int) -> None:
            store.remember("f1", dict.fromkeys(hashes if n % 2 else hashes[::-1], n))

        with ThreadPoolExecutor(6) as threads:
            done = list(threads.map(repeated, (read, read, write, write, note, note)))
        assert done == [None] * 6
    assert maintenance.check(url).findings == ()

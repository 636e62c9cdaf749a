from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from foveate.core.errors import MissingExtra
from foveate.core.replay import build_bundle, compare_bundles, inputs_from_bundle
from foveate.core.types import Chunk
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.plugins import component_registry
from foveate.ports import Document
from foveate.stores import open_store
from foveate.stores.int8 import quantise
from foveate.stores.sqlite import vector_index
from foveate.stores.sqlite.backup import backup
from foveate.stores.sqlite.check import check
from foveate.stores.sqlite.store import SqliteStore

ROWS, DIMENSIONS, IN_DOCUMENT = 20_000, 48, 500


def clustered(count: int, seed: int) -> np.ndarray:
    """Rows around a hundred centres, as embeddings lie; the same for the same seed."""
    centres = np.random.default_rng(0).standard_normal((100, DIMENSIONS))
    random = np.random.default_rng(seed)
    near = centres[random.integers(100, size=count)]
    return near + 0.5 * random.standard_normal((count, DIMENSIONS))


def put(store: SqliteStore, name: str, vectors: np.ndarray, who: tuple[str, ...] = ()) -> None:
    """A document with a chunk a vector; odd chunks have another colour."""
    chunks = [
        Chunk(
            id=f"{name}-{i}",
            text=f"row {name} {i}",
            document_id=name,
            source=name,
            sequence=i,
            metadata={"colour": ("red", "blue")[i % 2], "rare": i % 400 == 7},
        )
        for i in range(len(vectors))
    ]
    text = "".join(chunk.text for chunk in chunks)
    document = Document(id=name, source=name, text=text, principals=who)
    store.put(document, chunks, vectors)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 20,000 rows, and 500 of somebody's own; with its index."""
    folder = tmp_path_factory.mktemp("nearby") / "store"
    rows = clustered(ROWS, 1)
    with closing(open_store(folder, embedder_name="e", dimensions=DIMENSIONS)) as store:
        with store.batch():
            for start in range(0, ROWS, IN_DOCUMENT):
                put(store, f"d{start}", rows[start : start + IN_DOCUMENT])
            put(store, "own", clustered(500, 2), ("ada",))
        assert store.approximate(least=1_000) == 1
    return folder


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    backup(filled, tmp_path / "copy")
    for path in filled.glob("nearby-*.bin"):
        (tmp_path / "copy" / path.name).write_bytes(path.read_bytes())
    return tmp_path / "copy"


def found(store: SqliteStore, vector: np.ndarray, **options: object) -> list[str]:
    """The ten nearest by vector alone."""
    return [c.id for c in store.search("", vector, limit=10, **options).candidates]


@pytest.mark.parametrize("options", [{}, {"principals": ("ada",)}, {"where": {"colour": "red"}}])
def test_what_an_index_brings_is_nearly_what_a_scan_brings(filled: Path, tmp_path: Path, options):
    """T4: recall@10 of 0.98 or more, with readers and filters too, and scores that are exact."""
    queries = clustered(60, 3)
    backup(filled, tmp_path / "exact")
    with closing(open_store(filled)) as store, closing(open_store(tmp_path / "exact")) as exact:
        hits = 0
        for vector in queries:
            near = store.search("", vector, limit=10, **options)
            true = exact.search("", vector, limit=10, **options)
            assert (near.exact, true.exact) == (False, True)
            assert near.index.startswith("usearch hnsw ")
            scores = {c.id: c.semantic_score for c in true.candidates}
            assert all(
                scores.get(c.id, c.semantic_score) == c.semantic_score for c in near.candidates
            )
            hits += len(scores.keys() & {c.id for c in near.candidates})
    assert hits / (10 * len(queries)) >= 0.98


def test_few_rows_that_a_filter_wants_are_compared(filled: Path):
    """T4: what an index would have to be searched for in vain is found exactly, and said to be."""
    with closing(open_store(filled)) as store:
        answer = store.search("", clustered(1, 4)[0], limit=10, where={"rare": True})
    assert (answer.exact, answer.index, len(answer.candidates)) == (True, "", 10)


def test_rows_that_came_and_went_since_are_right(folder: Path):
    """T4, T5: an older index brings no row that is gone, and what is new is compared exactly."""
    vector = clustered(1, 5)[0]
    with closing(open_store(folder)) as store:
        first = found(store, vector)
        store.delete(first[0].partition("-")[0])
        put(store, "new", vector[None])
        again = found(store, vector)
        assert again[0] == "new-0"
        assert first[0] not in again
        assert not store.search("", vector).exact
    assert check(folder).findings == ()


def test_an_index_of_what_one_may_not_read_decides_nothing(filled: Path, folder: Path):
    """X5: rows of other readers, indexed or not, change neither answers nor the index's name."""
    vector = clustered(1, 6)[0]
    with closing(open_store(folder)) as store, closing(open_store(filled)) as other:
        put(store, "secret", np.repeat(vector[None], 300, axis=0), ("eve",))
        assert store.approximate(least=300) == 3
        mine, theirs = (s.search("row", vector, principals=("bob",)) for s in (store, other))
        assert mine == theirs
        assert store.search("row", vector, principals=("eve",)).index.count("usearch") == 2


@pytest.mark.parametrize("how", ["missing", "flipped", "torn", "foreign", "no package"])
def test_a_file_that_cannot_be_trusted_is_not_used(folder: Path, how: str, monkeypatch):
    """T5: the search is exact again, and the check says what is wrong."""
    path = vector_index.index_path(folder, 0)
    data = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "no package":
        monkeypatch.setitem(sys.modules, "usearch.index", None)
    else:
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        path.write_bytes({"flipped": flipped, "torn": data[:-9], "foreign": b"x"}[how])
    with closing(open_store(folder)) as store:
        assert store.search("", clustered(1, 7)[0]).exact
    whats = [finding.what for finding in check(folder).findings]
    expected = 0 if how in {"missing", "no package"} else 1
    assert sum("nearby-0.bin is not the one that was built" in what for what in whats) == expected
    assert len(whats) == expected


def test_an_index_that_says_other_things_than_the_rows_is_found(folder: Path):
    """T5: the check compares every vector that the index holds."""
    with closing(open_store(folder)) as store, store._transaction("IMMEDIATE") as connection:
        other = "(SELECT vector FROM scan WHERE chunk = 78)"
        connection.execute(f"UPDATE scan SET vector = {other} WHERE chunk = 77")
    assert "nearby-0.bin says other things than the rows; delete it" in [
        finding.what for finding in check(folder).findings
    ]


def test_without_the_package_the_extra_is_named(folder: Path, monkeypatch):
    """X1: building says what to install."""
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with closing(open_store(folder)) as store, pytest.raises(MissingExtra, match=r"foveate\[ann\]"):
        store.approximate(least=1)


def test_the_same_rows_give_the_same_index(folder: Path):
    """D1: built again, it has the same digest, so that manifests name the same."""
    vector = clustered(1, 8)[0]
    with closing(open_store(folder)) as store:
        before = store.search("", vector)
        assert store.approximate(least=1_000) == 1
        assert store.search("", vector) == before


def test_a_manifest_says_which_index_chose(filled: Path):
    """D2, D4: exact or not, and by which index; a bundle keeps it, and an older one means exact."""

    class Fixed:
        name, dimensions = "e", DIMENSIONS

        def embed(self, texts):
            return clustered(len(texts), 9)

    with closing(open_store(filled)) as store:
        assembler = Assembler(
            store=store, embedder=Fixed(), options=AssembleOptions(recipe="naive")
        )
        prepared = assembler.run("row")
        manifest = prepared.context.manifest
        assert not manifest.exact
        assert manifest.index == store.search("row", clustered(1, 9)[0]).index
    bundle = build_bundle(prepared.inputs, prepared.context, component_registry())
    inputs = inputs_from_bundle(bundle, component_registry())
    assert (inputs.exact, inputs.index) == (False, manifest.index)
    old = {**bundle, "manifest": {**bundle["manifest"]}}
    for part in (old, old["manifest"]):
        del part["exact"], part["index"]
    assert inputs_from_bundle(old, component_registry()).exact
    exact = {**bundle, "manifest": {**bundle["manifest"], "exact": True, "index": ""}}
    assert compare_bundles(old, exact).identical
    assert [c.partition(":")[0] for c in compare_bundles(old, bundle).causes] == ["exact", "index"]


def test_vectors_without_direction_are_left_out(tmp_path: Path):
    """T4: a row of zeros lies nowhere; it is not indexed, and does no harm."""
    with closing(open_store(tmp_path, embedder_name="e", dimensions=DIMENSIONS)) as store:
        put(store, "none", np.zeros((50, DIMENSIONS)))
        put(store, "some", clustered(100, 10))
        assert store.approximate(least=101) == 0
        assert store.approximate(least=100) == 1
        vector = clustered(1, 11)[0]
        exact = quantise(clustered(100, 10), rows=100, dimensions=DIMENSIONS).astype(int)
        aim = quantise([vector], rows=1, dimensions=DIMENSIONS)[0].astype(int)
        best = int(np.argmax(exact @ aim / np.sqrt((exact**2).sum(axis=1))))
        assert found(store, vector)[0] == f"some-{best}"
    assert check(tmp_path).findings == ()

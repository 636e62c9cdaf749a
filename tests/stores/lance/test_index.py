from __future__ import annotations

import re
from contextlib import closing

import numpy as np
import pytest

from foveate.core.replay import build_bundle, compare_bundles, inputs_from_bundle
from foveate.core.types import Chunk
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.plugins import component_registry
from foveate.ports import Document
from foveate.stores import open_store
from foveate.stores.lance import LanceStore

DIMENSIONS, DOCUMENTS, EACH, DEPTH = 32, 60, 20, 10
OPTIONS = {"embedder_name": "clustered", "dimensions": DIMENSIONS}
WHO = ("red",)


def rows(seed=0):
    """Documents of twenty chunks each around one direction; every third is for `red` alone."""
    random = np.random.default_rng(seed)
    for number in range(DOCUMENTS):
        name = f"d{number:02}"
        document = Document(
            id=name, source=name, text="", principals=WHO if number % 3 == 0 else ()
        )
        chunks = [
            Chunk(text=f"{name} {i}", id=f"{name}-{i}", document_id=name, source=name, sequence=i)
            for i in range(EACH)
        ]
        centre = random.standard_normal(DIMENSIONS)
        yield document, chunks, centre + 0.7 * random.standard_normal((EACH, DIMENSIONS))


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """The embedded store, and a distributed one that keeps no vectors in memory, with an index."""
    folder = tmp_path_factory.mktemp("index")
    plain = open_store(folder / "plain", **OPTIONS)
    lean = LanceStore(f"lance:{folder}/lean", exact=0, **OPTIONS)
    with plain.batch():
        for one in rows():
            plain.put(*one)
    with lean.batch():
        for one in rows():
            lean.put(*one)
    lean.compact()
    with closing(plain), closing(lean):
        yield plain, lean


def asked():
    """Vectors around the chunks."""
    noise = np.random.default_rng(9)
    return [v[3] + 0.3 * noise.standard_normal(DIMENSIONS) for _, _, v in rows()]


@pytest.mark.parametrize("who", [(), WHO], ids=str)
def test_the_index_finds_what_comparing_all_finds(stores, who):
    """T4: of the ten best, 98 in a hundred; scores are exact, and the answer says what it is."""
    hits = 0
    for vector in asked():
        options = {"limit": DEPTH, "depth": DEPTH, "principals": who}
        expected, found = (store.search("", vector, **options) for store in stores)
        assert expected.exact
        assert not found.exact
        assert re.fullmatch("lance ivf_rq [0-9a-f]{16}", found.index)
        cosines = {c.id: c.semantic_score for c in expected.candidates}
        for candidate in found.candidates:
            assert candidate.semantic_score == cosines.get(candidate.id, candidate.semantic_score)
        hits += len(cosines.keys() & {c.id for c in found.candidates})
    assert hits / (DEPTH * DOCUMENTS) >= 0.98


def test_the_index_names_nothing_that_may_not_be_read(stores):
    """X5: filters and readers apply before the index is cut, so a leg is full all the same."""
    _, lean = stores
    for vector in asked():
        found = lean.search("", vector, limit=DEPTH, depth=DEPTH)
        assert len(found.candidates) == DEPTH
        assert not any(candidate.chunk.principals for candidate in found.candidates)


def test_what_is_not_in_the_index_yet_is_found_too(stores):
    """T4: a document is found as soon as it is acknowledged."""
    _, lean = stores
    vector = np.full(DIMENSIONS, 3.0)
    chunk = Chunk(text="new", document_id="new", source="new")
    lean.put(Document(id="new", source="new", text="new"), [chunk], [vector])
    found = lean.search("", vector, limit=1, depth=DEPTH)
    assert [candidate.document_id for candidate in found.candidates] == ["new"]
    assert not found.exact
    assert lean.delete("new")
    found = lean.search("", vector, limit=1, depth=DEPTH)
    assert found.candidates[0].document_id != "new"


def test_a_manifest_says_which_index_chose(stores):
    """D2, D4: exact or not, and by which index; a bundle keeps it, and an older one means exact."""

    class Fixed:
        name, dimensions = OPTIONS["embedder_name"], DIMENSIONS

        def embed(self, texts):
            return asked()[: len(texts)]

    _, lean = stores
    assembler = Assembler(store=lean, embedder=Fixed(), options=AssembleOptions(recipe="naive"))
    prepared = assembler.run("d01")
    manifest = prepared.context.manifest
    assert not manifest.exact
    assert manifest.index == lean.search("d01", asked()[0]).index
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


def test_the_name_of_the_index_tells_of_no_write(stores):
    """X5: what others write that one may not read leaves the whole answer as it was."""
    _, lean = stores
    vector = asked()[1]
    before = lean.search("", vector, limit=DEPTH, depth=DEPTH)
    chunk = Chunk(text="secret", document_id="secret", source="secret", principals=WHO)
    document = Document(id="secret", source="secret", text="secret", principals=WHO)
    lean.put(document, [chunk], [vector])
    assert lean.search("", vector, limit=DEPTH, depth=DEPTH) == before
    assert lean.delete("secret")
    assert not before.exact

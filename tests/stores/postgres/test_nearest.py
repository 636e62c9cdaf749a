from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from foveate.core.types import Chunk
from foveate.ports import Document, SearchResult
from foveate.stores import open_store


def fill(store, vectors, *, principals=()) -> None:
    """One document of as many chunks as there are vectors; every tenth has a tag."""
    name = f"d{'-'.join(principals)}"
    chunks = [
        Chunk(
            text=f"word{n % 7}",
            id=f"{name}-{n:05}",
            document_id=name,
            sequence=n,
            metadata={"tag": n % 50},
        )
        for n in range(len(vectors))
    ]
    store.put(Document(id=name, source=name, text="", principals=principals), chunks, vectors)


@pytest.mark.parametrize("dimensions", [3, 1040, 1041, 2500, 4100])
def test_cosines_are_exact_in_every_width(new_schema, tmp_path: Path, dimensions: int):
    """T4, D1: also where sums no longer fit 24 bits, scores are a folder's, to the bit."""
    random = np.random.default_rng(dimensions)
    vectors = np.sign(random.standard_normal((20, dimensions))) * 127
    vectors[:, ::3] = random.integers(-127, 128, (20, len(range(0, dimensions, 3))))
    vectors[7] = 0
    vectors[9] = vectors[8] = vectors[3]
    names = {"embedder_name": "e", "dimensions": dimensions}
    with (
        closing(open_store(new_schema(), **names)) as server,
        closing(open_store(tmp_path, **names)) as folder,
    ):
        for store in (server, folder):
            fill(store, vectors)
        for query in (vectors[3], vectors[0] - 1, -vectors[5]):
            for depth in (2, 7, 50):
                ours = server.search("", query, depth=depth)
                assert ours == folder.search("", query, depth=depth)
                scores = [c.semantic_score for c in ours.candidates]
                assert scores == [
                    c.semantic_score for c in folder.search("", query, depth=depth).candidates
                ]
        assert server.check().findings == ()


def test_beyond_a_size_the_index_is_used_and_said(new_schema):
    """T4: approximate above `exact`, never for fewer; cosines stay exact, most is found."""
    random = np.random.default_rng(5)
    vectors = random.standard_normal((3000, 16))
    url = f"{new_schema()}&exact=1000"
    with closing(open_store(url, embedder_name="e", dimensions=16)) as store:
        fill(store, vectors)
        fill(store, random.standard_normal((40, 16)), principals=("few",))
        queries = random.standard_normal((20, 16))
        exact = [store.search("", query, depth=10) for query in queries]
        assert all(found.exact for found in exact)
        root = store.state_root()
        store.compact()
        assert store.state_root() == root

        found = [store.search("", query, depth=10) for query in queries]
        assert not any(each.exact for each in found)
        shared = [
            len({c.id for c in a.candidates} & {c.id for c in b.candidates})
            for a, b in zip(exact, found, strict=True)
        ]
        assert sum(shared) >= 0.9 * 10 * len(queries)
        for known, each in zip(exact, found, strict=True):
            scores = {c.id: c.semantic_score for c in known.candidates}
            assert len(each.candidates) == 10
            for c in each.candidates:
                assert c.semantic_score == scores.get(c.id, c.semantic_score)

        few = store.search("", queries[0], depth=10, where={"tag": 3})
        assert few.exact
        assert len(few.candidates) == 10
        words = store.search("word3", None, depth=10)
        assert words.exact
        assert store.check().findings == ()


def test_what_others_may_read_does_not_decide_about_the_index(new_schema, round_trips):
    """T4, X5: the same statements for a reader, be the rest of the store large or not there."""
    random = np.random.default_rng(6)
    mine, others = random.standard_normal((100, 8)), random.standard_normal((2000, 8))
    query = random.standard_normal(8)
    options = {"limit": 5, "depth": 5, "principals": ("few",)}

    def asked(store, where: dict[str, int] | None) -> tuple[list[str], SearchResult]:
        round_trips.clear()
        found = store.search("", query, where=where, **options)
        said = [each.sql for statements in round_trips for each in statements]
        return [each.replace(store._context.schema, "s") for each in said], found

    def filled(*, alone: bool):
        store = open_store(f"{new_schema()}&exact=50", embedder_name="e", dimensions=8)
        fill(store, mine, principals=("few",))
        if not alone:
            fill(store, others, principals=("many",))
        store.compact()
        return store

    with closing(filled(alone=True)) as small, closing(filled(alone=False)) as large:
        for where in (None, {"tag": list(range(40))}, {"tag": 3}):
            ours, theirs = asked(small, where), asked(large, where)
            assert ours[0] == theirs[0]
            by_index = any("hnsw.iterative_scan" in each for each in ours[0])
            assert by_index is (where != {"tag": 3})
            assert (ours[1].exact, ours[1].index) == (theirs[1].exact, theirs[1].index)

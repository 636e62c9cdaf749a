from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from foveate.core.types import Chunk
from foveate.ports import Document
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

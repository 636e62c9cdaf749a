from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from foveate.stores import open_store
from foveate.stores.lance import LanceStore
from foveate.testing.store_corpus import EMBEDDER, corpus
from foveate.testing.stores import LAWS, Law


@pytest.fixture
def open_empty(tmp_path: Path) -> Callable[[], LanceStore]:
    """A new, empty distributed store in a folder at every call."""
    numbers = count()

    def opened() -> LanceStore:
        url = f"lance:{tmp_path}/store{next(numbers)}"
        return open_store(url, embedder_name=EMBEDDER.name, dimensions=EMBEDDER.dimensions)

    return opened


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_distributed_store_keeps_every_law(open_empty: Callable[[], LanceStore], law: Law):
    """T1, T4, D3, X5: the contract that every store keeps, isolation included."""
    entries = corpus(5, 10)
    assert len(entries) == 10
    law(open_empty, entries)

"""Stores for the documents of the laws."""

from __future__ import annotations

from pathlib import Path

from foveate.stores import open_store
from foveate.stores.base import BaseStore
from foveate.testing.store_corpus import EMBEDDER

OPTIONS = {"embedder_name": EMBEDDER.name, "dimensions": EMBEDDER.dimensions}


def opened(url: str | Path) -> BaseStore:
    """The store at a URL, made where there is none."""
    return open_store(url, **OPTIONS)

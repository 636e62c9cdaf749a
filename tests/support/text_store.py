"""A store of documents of one chunk each, embedded for real."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from foveate.core.types import Chunk
from foveate.ports import Document, Store
from foveate.providers.embedders import load_embedder
from foveate.stores import open_store

EMBEDDER = load_embedder("hashing")


def put(store: Store, name: str, text: str, *principals: str) -> None:
    """A document of one chunk, which has its name too."""
    document = Document(id=name, source=name, text=text, principals=principals)
    chunk = Chunk(id=name, text=text, document_id=name, source=name, principals=principals)
    store.put(document, [chunk], EMBEDDER.embed([text]))


@contextmanager
def stored(url: Path | str, texts: Mapping[str, str]) -> Iterator[Store]:
    """A new store of these texts, by the names of their documents, until it is left."""
    store = open_store(url, embedder_name=EMBEDDER.name, dimensions=EMBEDDER.dimensions)
    with closing(store):
        for name, text in texts.items():
            put(store, name, text)
        yield store

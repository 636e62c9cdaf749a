"""Opens a store for reading, with the embedder whose vectors it holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from foveate.core.errors import BadOption
from foveate.ports import Embedder, Store


@contextmanager
def open_store_with_embedder(url: str) -> Iterator[tuple[Store, Embedder | None]]:
    """The store, which must exist, and its embedder; None where it has full text alone."""
    from foveate.stores import open_store

    with open_store(url, create=False) as store:
        yield store, load_recorded_embedder(store.embedder_name)


def load_recorded_embedder(recorded: str) -> Embedder | None:
    """The embedder that a store names; raises `BadOption` where another version is installed."""
    if not recorded:
        return None
    from foveate import plugins

    embedder = plugins.embedder(embedder_spelling(recorded))
    if embedder.name != recorded:
        raise BadOption(
            f"the store holds vectors of {recorded!r}, installed is {embedder.name!r}; "
            "install that version, or index the documents into a new folder"
        )
    return embedder


def embedder_spelling(recorded: str) -> str:
    """What one types to get the embedder that calls itself so.

    >>> embedder_spelling("wordllama/l2_supercat-256@0.4.0"), embedder_spelling("hashing-256@1")
    ('wordllama', 'hashing')
    >>> embedder_spelling("ollama:nomic-embed-text")
    'ollama:nomic-embed-text'
    """
    if ":" in recorded:
        return recorded
    return recorded.partition("@")[0].partition("/")[0].partition("-")[0]

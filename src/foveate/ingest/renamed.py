"""What the store has of a document that comes again under another name."""

from __future__ import annotations

from typing import Any

from foveate.ingest.document_task import PreparedDocument
from foveate.ports import Store


def load_stored_vectors(store: Store, identity: str, part: PreparedDocument) -> Any:
    """The vectors that the store has of these very chunks in that document; None if not of all."""
    places = [(identity, chunk.sequence) for chunk in part.chunks]
    found = store.neighbours(places, 0, principals=part.document.principals)
    known = {chunk.sequence: chunk for chunk in found}
    rows = [
        known[chunk.sequence].embedding
        for chunk in part.chunks
        if chunk.sequence in known and known[chunk.sequence].content_hash == chunk.content_hash
    ]
    if not rows or len(rows) < len(part.chunks) or any(row is None for row in rows):
        return None
    import numpy as np

    return np.asarray(rows, dtype=np.float32)

"""The candidates of golden cases as a store, for diagnosing without one of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foveate.core.types import Chunk
from foveate.evals.cases import Case, Passage
from foveate.ports import Document, Embedder, Store


def fill(
    store: Store,
    cases: Sequence[Case],
    embedder: Embedder | None,
    *,
    changed: Callable[[Chunk], Chunk] | None = None,
) -> int:
    """Put every document that the cases' candidates are of; how many chunks there are.

    `changed`: what is to be stored of a chunk in its place.
    """
    documents: dict[str, dict[str, Passage]] = {}
    taken: set[str] = set()
    for case in cases:
        for passage in case.chunks:
            name = passage.doc_id or passage.id
            if passage.id not in taken:
                taken.add(passage.id)
                documents.setdefault(name, {})[passage.id] = passage
    for name, passages in documents.items():
        ordered = sorted(passages.values(), key=lambda p: (p.sequence, p.start or 0, p.id))
        chunks = [_chunk(name, passage) for passage in ordered]
        chunks = [changed(chunk) for chunk in chunks] if changed is not None else chunks
        vectors = embedder.embed([chunk.text for chunk in chunks]) if embedder else None
        store.put(_document(name, ordered[0]), chunks, vectors)
    return len(taken)


def _document(name: str, first: Passage) -> Document:
    return Document(id=name, source=first.source or name, text="", title=first.title)


def _chunk(name: str, passage: Passage) -> Chunk:
    return Chunk(
        id=passage.id,
        document_id=name,
        source=passage.source or name,
        title=passage.title,
        sequence=passage.sequence,
        text=passage.text,
        start=passage.start,
        end=None if passage.start is None else passage.start + len(passage.text),
    )

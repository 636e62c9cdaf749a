"""The candidates of golden cases as a store, for diagnosing without one of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from foveate.core.types import Chunk
from foveate.evals.cases import Case, Passage, chunk_from_passage
from foveate.ports import Document, Embedder, Store


def rename_conflicts(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The cases; one that contradicts an earlier one has documents and chunks of its own names.

    It does where a chunk with the same id, or at the same place of the same document, has another
    text, or where a chunk is of another document. In the seventh case, `d0` becomes `d0 (7)`.
    """
    chunks: dict[str, tuple[str, str]] = {}
    places: dict[tuple[str, int | None], str] = {}
    found = []
    for number, case in enumerate(cases, 1):
        wrong = any(
            chunks.get(p.id, (p.doc_id, p.text)) != (p.doc_id, p.text)
            or (
                p.start is not None and not _one_begins(places.get((p.doc_id, p.start), ""), p.text)
            )
            for p in case.chunks
        )
        kept = _with_own_names(case, f" ({number})") if wrong else case
        for p in kept.chunks:
            chunks[p.id] = (p.doc_id, p.text)
            if p.start is not None:
                place = (p.doc_id, p.start)
                places[place] = max(places.get(place, ""), p.text, key=len)
        found.append(kept)
    return tuple(found)


def _with_own_names(case: Case, mark: str) -> Case:
    """Evidence in documents that the case has no chunk of keeps its document's name."""
    names = {passage.doc_id: passage.doc_id + mark for passage in case.chunks}
    return replace(
        case,
        chunks=tuple(replace(p, id=p.id + mark, doc_id=names[p.doc_id]) for p in case.chunks),
        evidence=tuple(
            replace(
                one,
                doc_id=names.get(one.doc_id, one.doc_id),
                chunk_ids=tuple(name + mark for name in one.chunk_ids),
            )
            for one in case.evidence
        ),
    )


def _one_begins(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def fill_store(
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
    for passage in (passage for case in cases for passage in case.chunks):
        if passage.id not in taken:
            taken.add(passage.id)
            documents.setdefault(passage.doc_id, {})[passage.id] = passage
    for name, passages in documents.items():
        ordered = sorted(passages.values(), key=lambda p: (p.sequence, p.start or 0, p.id))
        chunks = [
            replace(chunk_from_passage(p), document_id=name, source=p.source or name)
            for p in ordered
        ]
        chunks = [changed(chunk) for chunk in chunks] if changed is not None else chunks
        vectors = embedder.embed([chunk.text for chunk in chunks]) if embedder else None
        first = ordered[0]
        document = Document(id=name, source=first.source or name, text="", title=first.title)
        store.put(document, chunks, vectors)
    return len(taken)

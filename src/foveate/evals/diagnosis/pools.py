"""The candidates of golden cases as a store, for diagnosing without one of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from foveate.core.types import Chunk
from foveate.evals.cases import Case, Passage, chunk_from_passage
from foveate.ports import Document, Embedder, Store


def rename_conflicts(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The cases, with different documents or chunks of one name renamed.

    Two documents of one name are the same unless a chunk with the same id, or at the same place,
    has another text; the second becomes `d0 (2)`. A chunk id of another document is renamed
    likewise.
    """
    documents: dict[str, _DocumentTexts] = {}
    owners: dict[str, str] = {}
    return tuple(_renamed(case, documents, owners) for case in cases)


class _DocumentTexts:
    """A document's texts by chunk id and by start."""

    def __init__(self) -> None:
        self._by_id: dict[str, str] = {}
        self._by_start: dict[int, str] = {}

    def agrees(self, passages: Sequence[Passage]) -> bool:
        """Whether these can be of the same document."""
        return all(
            self._by_id.get(p.id, p.text) == p.text
            and (p.start is None or _one_begins(self._by_start.get(p.start, ""), p.text))
            for p in passages
        )

    def add(self, passages: Sequence[Passage]) -> None:
        """Remember them."""
        for p in passages:
            self._by_id[p.id] = p.text
            if p.start is not None:
                self._by_start[p.start] = max(self._by_start.get(p.start, ""), p.text, key=len)


def _renamed(case: Case, documents: dict[str, _DocumentTexts], owners: dict[str, str]) -> Case:
    of: dict[str, list[Passage]] = {}
    for passage in case.chunks:
        of.setdefault(passage.doc_id or passage.id, []).append(passage)
    names: dict[str, str] = {}
    ids: dict[str, str] = {}
    for name, passages in of.items():
        names[name] = final = next(
            one
            for one in _names(name)
            if documents.setdefault(one, _DocumentTexts()).agrees(passages)
        )
        documents[final].add(passages)
        for p in passages:
            ids[p.id] = next(i for i in _names(p.id) if owners.setdefault(i, final) == final)
    return replace(
        case,
        chunks=tuple(replace(p, id=ids[p.id], doc_id=names[p.doc_id or p.id]) for p in case.chunks),
        evidence=tuple(
            replace(
                one,
                doc_id=names.get(one.doc_id, one.doc_id),
                chunk_ids=tuple(ids.get(i, i) for i in one.chunk_ids),
            )
            for one in case.evidence
        ),
        gold_doc_ids=tuple(names.get(name, name) for name in case.gold_doc_ids),
    )


def _names(name: str) -> Iterator[str]:
    """`d0`, `d0 (2)`, `d0 (3)`, …"""
    yield name
    for number in count(2):
        yield f"{name} ({number})"


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
    for case in cases:
        for passage in case.chunks:
            name = passage.doc_id or passage.id
            if passage.id not in taken:
                taken.add(passage.id)
                documents.setdefault(name, {})[passage.id] = passage
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

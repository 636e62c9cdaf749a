"""What a diagnosis reads from a store: documents as their chunks, and how each leg ranks them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from foveate.core.types import Candidate, Chunk
from foveate.evals.measures import Spread
from foveate.ports import Embedder, Store

DEEP = 200
"""Candidates; what neither leg ranks among so many counts as not found."""
_WHOLE = 1 << 30
"""Chunks around the first: all of a document, by whatever store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """Chunk ids best first, by words, by vectors, and as the search fuses them."""

    words: tuple[str, ...]
    vectors: tuple[str, ...]
    fused: tuple[Candidate, ...]


@dataclass(slots=True)
class Shelf:
    """A store seen by one reader, with what was read of it remembered for the run."""

    store: Store
    embedder: Embedder | None = None
    principals: tuple[str, ...] = ()
    _documents: dict[str, tuple[Chunk, ...]] = field(default_factory=dict)

    def chunks(self, document_id: str) -> tuple[Chunk, ...]:
        """All chunks of a document in order; none where it is not there to be read."""
        if document_id not in self._documents:
            found = self.store.neighbours([(document_id, 0)], _WHOLE, principals=self.principals)
            self._documents[document_id] = tuple(found)
        return self._documents[document_id]

    def ranked(self, query: str) -> Ranked:
        """How each leg ranks for the query."""
        vector = self.embedder.embed([query])[0] if self.embedder is not None else None
        return Ranked(
            words=_ids(self._search(query, None)),
            vectors=_ids(self._search("", vector)) if vector is not None else (),
            fused=self._search(query, vector),
        )

    def _search(self, query: str, vector: Any) -> tuple[Candidate, ...]:
        return self.store.search(
            query, vector, limit=DEEP, depth=DEEP, principals=self.principals
        ).candidates


def held(evidence: str, texts: Iterable[str]) -> float:
    """The share of the evidence's words that stand in the texts, one after another."""
    return Spread("\n".join(texts), 1).cover(evidence)[0]


def whole(chunks: Iterable[Chunk]) -> str:
    """A document's text from its chunks: by their offsets where they have them."""
    text, end = "", 0
    for chunk in chunks:
        if chunk.start is None or not text:
            text += ("\n" if text else "") + chunk.text
        else:
            text += chunk.text[max(0, end - chunk.start) :]
        end = chunk.end if chunk.end is not None else end
    return text


def _ids(candidates: Iterable[Candidate]) -> tuple[str, ...]:
    return tuple(candidate.id for candidate in candidates)

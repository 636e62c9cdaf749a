"""What a diagnosis reads from a store: documents as their chunks, and how each leg ranks them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from foveate.core.types import Candidate, Chunk
from foveate.evals.measures import WordIndex
from foveate.ports import Embedder, Store

SEARCH_DEPTH = 200
"""Candidates; what neither leg ranks among so many counts as not found."""
_ALL_NEIGHBOURS = 1 << 30
"""Chunks around the first: all of a document, by whatever store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rankings:
    """Chunk ids best first, by words, by vectors, and as the search fuses them."""

    words: tuple[str, ...]
    vectors: tuple[str, ...]
    fused: tuple[Candidate, ...]


@dataclass(slots=True)
class StoreReader:
    """A store seen by one reader, with what was read of it remembered for the run."""

    store: Store
    embedder: Embedder | None = None
    principals: tuple[str, ...] = ()
    _documents: dict[str, tuple[Chunk, ...]] = field(default_factory=dict)

    def chunks(self, document_id: str) -> tuple[Chunk, ...]:
        """All chunks of a document in order; none where it is not there to be read."""
        if document_id not in self._documents:
            found = self.store.neighbours(
                [(document_id, 0)], _ALL_NEIGHBOURS, principals=self.principals
            )
            self._documents[document_id] = tuple(found)
        return self._documents[document_id]

    def rank(self, query: str) -> Rankings:
        """How each leg ranks for the query."""
        vector = self.embedder.embed([query])[0] if self.embedder is not None else None
        return Rankings(
            words=_candidate_ids(self._search(query, None)),
            vectors=_candidate_ids(self._search("", vector)) if vector is not None else (),
            fused=self._search(query, vector),
        )

    def _search(self, query: str, vector: Any) -> tuple[Candidate, ...]:
        return self.store.search(
            query, vector, limit=SEARCH_DEPTH, depth=SEARCH_DEPTH, principals=self.principals
        ).candidates


def evidence_share(evidence: str, texts: Iterable[str]) -> float:
    """The share of the evidence's words that stand in the texts, one after another."""
    return WordIndex("\n".join(texts), 1).coverage(evidence)[0]


def join_chunks(chunks: Iterable[Chunk]) -> str:
    """A document's text from its chunks: by their offsets where they have them."""
    text, end = "", 0
    for chunk in chunks:
        if chunk.start is None or not text:
            text += ("\n" if text else "") + chunk.text
        else:
            text += chunk.text[max(0, end - chunk.start) :]
        end = chunk.end if chunk.end is not None else end
    return text


def _candidate_ids(candidates: Iterable[Candidate]) -> tuple[str, ...]:
    return tuple(candidate.id for candidate in candidates)

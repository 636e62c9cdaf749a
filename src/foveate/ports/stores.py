"""Who keeps: a store that finds chunks again, and a cache that may forget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from foveate.core.types import Candidate, Chunk, Vector
from foveate.ports.documents import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What a search gave: candidates best first, and how they were found.

    `state_root`: of what the caller may read, in the very state that was searched. `exact`:
    whether every row was compared; where not, `index` says by which indexes some were chosen.
    `notes`: what stood between the search and these candidates, and what could not be done.
    """

    candidates: tuple[Candidate, ...]
    badge: Literal["hybrid", "vector_only"]
    lexical_matches: int
    exact: bool = True
    index: str = ""
    state_root: str = ""
    notes: tuple[tuple[str, int | float | str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """How a cache does: answers since it was opened; entries and bytes where it knows them."""

    hits: int = 0
    misses: int = 0
    errors: int = 0
    entries: int | None = None
    bytes: int | None = None

    @property
    def hit_rate(self) -> float:
        """Share of the questions that it had an answer to, 0 where it was asked none."""
        asked = self.hits + self.misses + self.errors
        return self.hits / asked if asked else 0.0


class Cache(Protocol):
    """Keeps bytes under keys for a while. It may forget at any time, and never fails a caller."""

    def get(self, key: str) -> bytes | None:
        """What was put under the key, or None."""

    def put(self, key: str, value: bytes) -> None:
        """Keep it, best effort."""

    def stats(self) -> CacheStats:
        """Hits, misses and errors so far."""

    def close(self) -> None:
        """Let go of what it holds open."""


class Store(Protocol):
    """Documents and chunks, searchable. One folder, one server, one cluster: the same words."""

    def put(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        vectors: Any,
        counts: Sequence[int] = (),
        *,
        fingerprint: str = "",
    ) -> None:
        """Replace one document and its chunks in one transaction.

        `counts`: tokens of each chunk, remembered under the tokenizer's `fingerprint`.
        """

    def delete(self, document_id: str) -> bool:
        """Remove a document and its chunks; False where it was not there."""

    def documents(self) -> Iterator[tuple[str, str]]:
        """(document id, content hash) of every document, by id."""

    def search(
        self,
        query: str,
        vector: Vector | None,
        *,
        limit: int = 100,
        depth: int = 50,
        principals: Iterable[str] = (),
        where: Mapping[str, Any] | None = None,
    ) -> SearchResult:
        """Vector and BM25 side by side (`depth` each), fused by RRF, the best `limit`."""

    def neighbours(
        self, places: Sequence[tuple[str, int]], window: int, *, principals: Iterable[str] = ()
    ) -> list[Chunk]:
        """Chunks within `window` of the (document id, sequence) places, in one round trip."""

    def counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        """Token counts already known for these content hashes."""

    def remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        """Keep token counts; best effort, never an error."""

    def readings(self, version: str, hashes: Sequence[str]) -> dict[str, bytes]:
        """What was kept of these texts under this version: content hash to bytes, as they went in.

        One round trip. A store without this method and `keep` works; texts are then read anew.
        """

    def keep(self, version: str, readings: Mapping[str, bytes]) -> None:
        """Keep what is known of texts, by content hash; best effort, never an error.

        Not part of the content: answers and the state root do not know of it.
        """

    def state_root(self, *, principals: Iterable[str] | None = None) -> str:
        """Hash of the content: independent of insertion order, covers the embedder's name.

        With `principals`, of what they may read alone; None is the whole store.
        """

    def close(self) -> None:
        """Let go of files and connections."""


class ListableStore(Protocol):
    """What a store can do besides, and a service needs: show a reader its documents."""

    def document(self, document_id: str, *, principals: Iterable[str] = ()) -> Document | None:
        """One document with its text; None where it is not there, or not all of it to be read."""

    def listed(
        self, *, after: str = "", limit: int = 100, principals: Iterable[str] = ()
    ) -> list[Document]:
        """Up to `limit` documents behind `after` by id, those that `document` gives; no texts."""

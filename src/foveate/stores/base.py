"""The methods of every store, with their checks, and its figures; an engine adds those with `_`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Self

from foveate.core.checks import check_principals, is_encodable
from foveate.core.errors import BadInput, BadOption, ExternalError
from foveate.core.types import Chunk, Vector
from foveate.ports import Document, SearchResult


class StoreFull(ExternalError):
    """There is no room for a write, a deletion included; nothing was changed."""

    def __init__(self, store: str) -> None:
        super().__init__(
            f"{store}: the disk is full; the store is as it was before, make room and try again"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """A store in figures. `bytes`: part → bytes on disk, empty for a caller with principals."""

    documents: int
    chunks: int
    vectors: int
    embedder: str
    dimensions: int
    schema: int
    state_root: str
    bytes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding and its part: file, rows, words, vectors or state."""

    part: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a check covered, and its findings. `state_root`: computed from the rows."""

    documents: int = 0
    chunks: int = 0
    state_root: str = ""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class PutRequest:
    """A document to store: the arguments of `BaseStore.put`; raises `BadInput`."""

    document: Document
    chunks: Sequence[Chunk]
    vectors: Any
    counts: Sequence[int] = ()
    fingerprint: str = ""

    def __post_init__(self) -> None:
        counts, chunks = len(self.counts), len(self.chunks)
        if counts and counts != chunks:
            raise BadInput(f"{counts} counts for {chunks} chunks", field="counts")

    def counts_by_hash(self) -> dict[str, int]:
        """Content hash → tokens; empty without counts or without a fingerprint."""
        hashes = [chunk.content_hash for chunk in self.chunks] if self.fingerprint else []
        return dict(zip(hashes, self.counts, strict=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What a search is asked: the arguments of `BaseStore.search`."""

    query: str
    vector: Vector | None
    limit: int
    depth: int
    principals: tuple[str, ...]
    where: Mapping[str, Any] | None


class BaseStore(ABC):
    """A store; see `foveate.ports.Store`. Safe to share between threads.

    `embedder_name` and `dimensions`: of its vectors; empty and 0 where it has full text alone.
    """

    embedder_name: str
    dimensions: int

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def put(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        vectors: Any,
        counts: Sequence[int] = (),
        *,
        fingerprint: str = "",
    ) -> None:
        """Replace one document and its chunks in one transaction; raises `BadInput`.

        `vectors`: shape (chunks, dimensions), None for zeros. `counts`: tokens of each chunk, kept
        under the tokenizer's `fingerprint`.
        """
        self._put(PutRequest(document, chunks, vectors, counts, fingerprint))

    def delete(self, document_id: str) -> bool:
        """Remove a document and its chunks; False where it was not there."""
        return self._can_hold(document_id) and self._delete(document_id)

    @abstractmethod
    def batch(self) -> AbstractContextManager[None]:
        """Writes inside are one transaction: all there at the end, or none.

        A refused document is undone alone.
        """

    def documents(self) -> Iterator[tuple[str, str]]:
        """(document id, content hash) of every document, by id, as of this moment."""
        return iter(self._documents())

    def document(self, document_id: str, *, principals: Iterable[str] = ()) -> Document | None:
        """One document with its text; None where it is not there, or not all of it to be read."""
        if not self._can_hold(document_id):
            return None
        return self._document(document_id, check_principals(principals))

    def listed(
        self, *, after: str = "", limit: int = 100, principals: Iterable[str] = ()
    ) -> list[Document]:
        """Up to `limit` documents behind `after` by id, those that `document` gives; no texts."""
        if limit < 1:
            raise BadOption(f"listed: limit is {limit}; it must be 1 or more")
        readers = check_principals(principals)
        return self._listed(after, limit, readers) if self._can_hold(after) else []

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
        """Cosine and BM25 side by side (`depth` each), fused by RRF, the best `limit`.

        `where`: equality on `source`, `document_id`, `title`, `id`, `section`, `page`, `row`,
        `line`, `sequence` or a metadata key; a list means any of. Filters apply before the legs
        are cut. The result's `exact` is False if an index named the candidates by vector.
        """
        if limit < 1 or depth < 1:
            raise BadOption(f"search: limit is {limit} and depth {depth}; both must be 1 or more")
        asked = Search(
            query=query,
            vector=vector,
            limit=limit,
            depth=depth,
            principals=check_principals(principals),
            where=where,
        )
        return self._search(asked)

    def neighbours(
        self, places: Sequence[tuple[str, int]], window: int, *, principals: Iterable[str] = ()
    ) -> list[Chunk]:
        """Chunks within `window` of (document id, sequence) places, by document and sequence."""
        if window < 0:
            raise BadOption(f"neighbours: window is {window}; it must be 0 or more")
        asked = sorted({place for place in places if self._can_hold(place[0])})
        found = self._neighbours(asked, window, check_principals(principals)) if asked else ()
        # By code points, whatever an engine orders by.
        return sorted(found, key=attrgetter("document_id", "sequence", "id"))

    def counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        """Token counts already known for these content hashes (who has a hash has the text)."""
        if not self._can_hold(fingerprint):
            return {}
        return self._counts(fingerprint, list(filter(self._can_hold, hashes)))

    def remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        """Keep token counts; best effort: a store that cannot write only counts again."""
        kept = {hash_: tokens for hash_, tokens in counts.items() if self._can_hold(hash_)}
        if kept and self._can_hold(fingerprint):
            with suppress(ExternalError):
                self._remember(fingerprint, kept)

    def state_root(self, *, principals: Iterable[str] | None = None) -> str:
        """Hash of the content and the embedder's name, of what `principals` may read if given."""
        return self._state_root(None if principals is None else check_principals(principals))

    def stats(self, *, principals: Iterable[str] | None = None) -> Stats:
        """The store in figures; with `principals`, of what they may read alone."""
        return self._stats(None if principals is None else check_principals(principals))

    @abstractmethod
    def check(self) -> Report:
        """Work out again all that is derived, in one state; what is wrong is a finding."""

    @abstractmethod
    def compact(self) -> None:
        """Give back the room that deleting left; answers and state root stay as they are."""

    @abstractmethod
    def close(self) -> None:
        """Close files and connections; a second time does nothing."""

    def _can_hold(self, text: str) -> bool:
        """Whether the engine's texts can hold it; what they cannot is not there."""
        return is_encodable(text)

    @abstractmethod
    def _put(self, given: PutRequest) -> None: ...

    @abstractmethod
    def _delete(self, document_id: str) -> bool: ...

    @abstractmethod
    def _documents(self) -> Iterable[tuple[str, str]]: ...

    @abstractmethod
    def _document(self, document_id: str, principals: tuple[str, ...]) -> Document | None: ...

    @abstractmethod
    def _listed(self, after: str, limit: int, principals: tuple[str, ...]) -> list[Document]: ...

    @abstractmethod
    def _search(self, asked: Search) -> SearchResult: ...

    @abstractmethod
    def _neighbours(
        self, places: list[tuple[str, int]], window: int, principals: tuple[str, ...]
    ) -> Iterable[Chunk]: ...

    @abstractmethod
    def _counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]: ...

    @abstractmethod
    def _remember(self, fingerprint: str, counts: Mapping[str, int]) -> None: ...

    @abstractmethod
    def _state_root(self, principals: tuple[str, ...] | None) -> str: ...

    @abstractmethod
    def _stats(self, principals: tuple[str, ...] | None) -> Stats: ...

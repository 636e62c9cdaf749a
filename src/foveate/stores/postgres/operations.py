"""What a server store does, each operation written once as a flow of statements.

`store.py` makes a method of each for a thread and one for an event loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from foveate.core.errors import BadOption
from foveate.core.types import Chunk, Vector
from foveate.ports import Document, SearchResult
from foveate.stores.int8 import quantise_or_zeros
from foveate.stores.postgres import check as check_
from foveate.stores.postgres import contents, search, write
from foveate.stores.postgres.connect import Address, CurrentBatch, convert_engine_errors
from foveate.stores.postgres.postings import PostingsCache
from foveate.stores.postgres.schema import StoreInfo
from foveate.stores.postgres.statements import StatementFlow
from foveate.stores.report import Report, Stats


class ServerStore:
    """The state of an open store, whichever driver it uses."""

    def __init__(self, where: Address, opened: StoreInfo) -> None:
        self._address = where
        self._names = opened.names
        self._postings_cache = PostingsCache()
        self._current_batch = CurrentBatch[Any]()
        self.embedder_name: str = opened.embedder
        self.dimensions: int = opened.names.dimensions

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._address.display_url!r})"

    def _convert_errors(self) -> AbstractContextManager[None]:
        return convert_engine_errors(self._address.display_url)

    def _check_not_in_batch(self) -> None:
        if self._current_batch.connection_for_writing() is not None:
            raise BadOption("compact: not inside a batch; the server does it between transactions")


def put(
    self: ServerStore,
    document: Document,
    chunks: Sequence[Chunk],
    vectors: Any,
    counts: Sequence[int] = (),
    *,
    fingerprint: str = "",
) -> StatementFlow[None]:
    """Replace one document and its chunks in one transaction; raises `BadInput`.

    `vectors`: shape (chunks, dimensions), None for zeros. `counts`: tokens of each chunk,
    remembered where the tokenizer's `fingerprint` is given.
    """
    rows = quantise_or_zeros(vectors, rows=len(chunks), dimensions=self.dimensions)
    new = write.prepare_document(document, chunks, rows, counts, fingerprint)
    return write.replace_document(self._names, new)


def delete(self: ServerStore, document_id: str) -> StatementFlow[bool]:
    """Remove a document and its chunks; False where it was not there."""
    return write.delete_document(self._names, document_id)


def documents(self: ServerStore) -> StatementFlow[list[tuple[str, str]]]:
    """(document id, content hash) of every document, by id, as of this moment."""
    return contents.list_content_hashes(self._names)


def document(
    self: ServerStore, document_id: str, *, principals: Iterable[str] = ()
) -> StatementFlow[Document | None]:
    """One document with its text; None where it is not there, or not all of it to be read."""
    return contents.load_document(self._names, document_id, principals)


def listed(
    self: ServerStore, *, after: str = "", limit: int = 100, principals: Iterable[str] = ()
) -> StatementFlow[list[Document]]:
    """Up to `limit` documents behind `after` by id, those that `document` gives; no texts."""
    return contents.list_documents(self._names, after, limit, principals)


def hybrid_search(
    self: ServerStore,
    query: str,
    vector: Vector | None,
    *,
    limit: int = 100,
    depth: int = 50,
    principals: Iterable[str] = (),
    where: Mapping[str, Any] | None = None,
) -> StatementFlow[SearchResult]:
    """Cosine and BM25 side by side (`depth` each), fused by RRF, the best `limit`.

    `where` as in the embedded store. Filters apply before the legs are cut, so a filtered
    search is as full as an open one.
    """
    return search.hybrid_search(
        self._names,
        self.embedder_name,
        query,
        vector,
        limit=limit,
        depth=depth,
        principals=tuple(principals),
        where=where,
        exact=self._address.exact,
        memory=self._postings_cache,
    )


def neighbours(
    self: ServerStore,
    places: Sequence[tuple[str, int]],
    window: int,
    *,
    principals: Iterable[str] = (),
) -> StatementFlow[list[Chunk]]:
    """Chunks within `window` of the (document id, sequence) places; one statement.

    Ordered by document id, sequence, chunk id; those at the places themselves included.
    """
    return search.load_neighbours(self._names, places, window, principals)


def counts(
    self: ServerStore, fingerprint: str, hashes: Sequence[str]
) -> StatementFlow[dict[str, int]]:
    """Token counts already known for these content hashes."""
    return contents.load_counts(self._names, fingerprint, hashes)


def remember(self: ServerStore, fingerprint: str, counts: Mapping[str, int]) -> StatementFlow[None]:
    """Keep token counts; best effort: a store that cannot write only counts again."""
    return contents.save_counts(self._names, fingerprint, counts)


def readings(
    self: ServerStore, version: str, hashes: Sequence[str]
) -> StatementFlow[dict[str, bytes]]:
    """Analyses of these texts that were kept under this version."""
    return contents.load_analyses(self._names, version, hashes)


def keep(self: ServerStore, version: str, readings: Mapping[str, bytes]) -> StatementFlow[None]:
    """Keep analyses of texts; best effort: a store that cannot write only reads again."""
    return contents.save_analyses(self._names, version, readings)


def state_root(self: ServerStore, *, principals: Iterable[str] | None = None) -> StatementFlow[str]:
    """Hash of the content and of the embedder's name; of what `principals` may read, if given.

    It does not depend on the order of writes, and tells nothing of what may not be read.
    """
    return contents.compute_state_root(self._names, self.embedder_name, principals)


def stats(self: ServerStore, *, principals: Iterable[str] | None = None) -> StatementFlow[Stats]:
    """The store in figures; with `principals`, of what they may read alone."""
    return contents.compute_stats(self._names, self.embedder_name, principals)


def check(self: ServerStore) -> StatementFlow[Report]:
    """Work out again all that is derived, in one snapshot; see `report.Report`."""
    return check_.check_store(self._names, self.embedder_name)

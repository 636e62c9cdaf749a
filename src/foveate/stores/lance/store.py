"""The distributed store: one Lance table in a folder or on an object store.

A write is one commit, planned again after another writer's; a read is of the latest version.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from threading import RLock
from typing import Any

from foveate.core.errors import ExternalError
from foveate.core.state import state_hash
from foveate.core.types import Chunk
from foveate.ports import Document, SearchResult
from foveate.stores.base import BaseStore, PutRequest, Report, Search, Stats
from foveate.stores.filters import iter_batches
from foveate.stores.lance import commit, compaction, contents, files, part, schema, search
from foveate.stores.lance.batch import Batch
from foveate.stores.lance.check import check
from foveate.stores.lance.commit import commit_with_retry
from foveate.stores.lance.contents import TokenCounts
from foveate.stores.lance.files import Snapshot
from foveate.stores.lance.location import convert_engine_errors, parse_location
from foveate.stores.lance.part import Part
from foveate.stores.lance.scan import ScanReader, Versions
from foveate.stores.rows import PreparedDocument

EXACT = 1_000_000
"""Up to so many chunks every vector is compared."""


class LanceStore(BaseStore):
    """A store on Lance; see `foveate.ports.Store`. Safe to share between threads.

    `url`: `lance:PATH` or `lance+s3://BUCKET/PREFIX`. `exact`: chunks up to which all vectors are
    compared. `tidy`: whether writes also merge small files, which one of many writers should do.
    """

    def __init__(
        self,
        url: str,
        *,
        embedder_name: str = "",
        dimensions: int = 0,
        create: bool = True,
        storage_options: Mapping[str, str] | None = None,
        exact: int = EXACT,
        tidy: bool = True,
    ) -> None:
        self.location = parse_location(url, storage_options)
        self._write_lock = RLock()
        self._tidy = tidy
        self._batch: Batch | None = None
        with convert_engine_errors(self.location):
            dataset, facts = schema.connect(
                self.location, embedder=embedder_name, dimensions=dimensions, create=create
            )
        self.embedder_name = facts["embedder"]
        self.dimensions = facts["dimensions"]
        self._store_id: str = facts["store"]
        self._versions = Versions(self.location, dataset, ScanReader(self.dimensions, exact))
        self._known = TokenCounts(self.location)

    def __repr__(self) -> str:
        return f"LanceStore({self.location.name!r})"

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Writes inside are one transaction: all there at the end, or none of them.

        A refused document is undone alone. Reads inside see the state before. After 20,000
        chunks, a document of the batch cannot change in it.
        """
        with self._write_lock:
            if self._batch is not None:
                mark = self._batch.savepoint()
                try:
                    yield
                except BaseException:
                    self._batch.rollback_to(mark)
                    raise
                return
            self._batch = mine = Batch(current=self._versions.current, write=self._write_part)
            try:
                yield
            finally:
                self._batch = None
            with convert_engine_errors(self.location):
                parts, deleted = mine.finish()
            self._commit(parts, deleted)

    def write_part(self, documents: Iterable[Sequence[Any]], *, fingerprint: str = "") -> Part:
        """Write documents, each once, as files that no reader sees yet; raises `BadInput`.

        `documents`: (document, chunks, vectors[, counts]), 20,000 to 200,000 chunks. Any
        process may; send the part to the caller of `commit_parts` within six days.
        """
        rows = [
            part.prepare_rows(replace(PutRequest(*one), fingerprint=fingerprint), self.dimensions)
            for one in documents
        ]
        return self._write_part(rows)

    def commit_parts(self, parts: Iterable[Part]) -> None:
        """Commit parts of any processes in one transaction; their documents replace older ones.

        Raises `BadInput` for a document in two parts, and for a part that was committed
        before, belongs to another store, is older than six days, or has lost its files.
        """
        sent = list(parts)
        with convert_engine_errors(self.location):
            commit.check_disjoint(sent, self._versions.current().head)
            part.check_parts(self.location, sent, store=self._store_id, dimensions=self.dimensions)
        self._commit(sent, sent=True)

    @property
    def version(self) -> int:
        """Lance's number of the latest version; it counts all writes, so it is not for readers."""
        with self._current() as now:
            return now.version

    def check(self) -> Report:
        """Work out again all that is derived, of one version; others may write meanwhile."""
        with convert_engine_errors(self.location):
            now = self._versions.current(verify=False)
            return check(
                self.location, now, embedder=self.embedder_name, dimensions=self.dimensions
            )

    def compact(self, *, keep: timedelta = compaction.DEFAULT_RETENTION) -> None:
        """Join small files, update indexes, and delete versions older than `keep`.

        Others may write meanwhile; a read that began before `keep` fails.
        """
        with self._write_lock, convert_engine_errors(self.location):
            compaction.merge_all(self._versions.current, self.location, self.dimensions)
            compaction.update_indexes(
                self._versions.current(), self.dimensions, self._versions.reader.exact
            )
            files.seal_indexes(self.location)
            # With what only they need goes what was written a week ago and never committed.
            latest = self._versions.current()
            latest.dataset.checkout_version(latest.version).cleanup_old_versions(older_than=keep)
            self._known.compact(keep)

    def close(self) -> None:
        """Forget what is in memory; a second time does nothing."""
        self._versions.clear()

    def _put(self, given: PutRequest) -> None:
        """One commit a document, so batch many."""
        one = part.prepare_rows(given, self.dimensions)
        with self._write_lock:
            if self._batch is None:
                self._commit([self._write_part([one])])
                return
            with convert_engine_errors(self.location):
                self._batch.put(one)

    def _delete(self, document_id: str) -> bool:
        with self._write_lock:
            if self._batch is None:
                return bool(self._commit([], {document_id}))
            with convert_engine_errors(self.location):
                return self._batch.delete(document_id)

    def _documents(self) -> Iterable[tuple[str, str]]:
        with self._current() as now:
            return contents.list_content_hashes(now)

    def _document(self, document_id: str, principals: tuple[str, ...]) -> Document | None:
        with self._current() as now:
            return contents.load_document(now, document_id, now.head.audiences_for(principals))

    def _listed(self, after: str, limit: int, principals: tuple[str, ...]) -> list[Document]:
        with self._current() as now:
            return contents.list_documents(now, after, limit, now.head.audiences_for(principals))

    def _search(self, asked: Search) -> SearchResult:
        with convert_engine_errors(self.location):
            now, scan = self._versions.current_scan()
            ground = search.SearchContext(snapshot=now, scan=scan, dimensions=self.dimensions)
            return search.hybrid_search(ground, asked, embedder=self.embedder_name)

    def _neighbours(
        self, places: list[tuple[str, int]], window: int, principals: tuple[str, ...]
    ) -> Iterable[Chunk]:
        found: dict[str, Chunk] = {}  # windows of two slices may meet
        with self._current() as now:
            audiences = now.head.audiences_for(principals)
            for some in iter_batches(places):
                near = search.load_neighbours(now, self.dimensions, some, window, audiences)
                found.update((chunk.id, chunk) for chunk in near)
        return found.values()

    def _counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        with suppress(ExternalError), convert_engine_errors(self.location):
            return self._known.get(fingerprint, hashes)
        return {}  # what cannot be read can be counted again

    def _remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        with convert_engine_errors(self.location):
            self._known.add([(fingerprint, counts)])

    def _state_root(self, principals: tuple[str, ...] | None) -> str:
        with self._current() as now:
            return self._state_of(now, _readers(now, principals))

    def _stats(self, principals: tuple[str, ...] | None) -> Stats:
        with convert_engine_errors(self.location):
            now, scan = self._versions.current_scan()
            readers = _readers(now, principals)
            made_with = (self.embedder_name, self.dimensions)
            known = self._known.bytes() if readers is None else 0
            mine = self._state_of(now, readers)
            return contents.compute_stats(now, scan, readers, made_with, mine, known=known)

    @contextmanager
    def _current(self) -> Iterator[Snapshot]:
        """The latest version; Lance's errors inside leave as ours."""
        with convert_engine_errors(self.location):
            yield self._versions.current()

    def _write_part(self, rows: Sequence[PreparedDocument]) -> Part:
        with convert_engine_errors(self.location):
            return part.write_part(self.location, self.dimensions, rows, store=self._store_id)

    def _commit(
        self, parts: Sequence[Part], deleted: Collection[str] = (), *, sent: bool = False
    ) -> int:
        """Commit, again after each conflict; how many documents it removed."""
        if not parts and not deleted:
            return 0
        with self._write_lock:
            order = commit.CommitRequest(parts=parts, deleted=deleted, sent=sent)
            went = commit_with_retry(self.location, self._versions, order)
            with suppress(ExternalError), convert_engine_errors(self.location):
                self._known.add(counts for one in parts for counts in one.known.items())
            if self._tidy:
                with suppress(ExternalError), convert_engine_errors(self.location):
                    now = self._versions.current()
                    if due := compaction.find_small_segments(now.head):
                        compaction.merge_segments(now, self.location, self.dimensions, due)
        return went

    def _state_of(self, now: Snapshot, audiences: Iterable[int] | None) -> str:
        return state_hash(now.head.state(audiences), embedder=self.embedder_name)


def _readers(now: Snapshot, principals: tuple[str, ...] | None) -> list[int] | None:
    return None if principals is None else now.head.audiences_for(principals)

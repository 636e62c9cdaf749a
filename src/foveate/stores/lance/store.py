"""The distributed store: one Lance table in a folder or on an object store.

A write is one commit, planned again after another writer's; a read is of the latest version.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from operator import attrgetter
from threading import RLock
from typing import Any, Self

from foveate.core.checks import is_encodable
from foveate.core.errors import ExternalError
from foveate.core.state import state_hash
from foveate.core.types import Chunk, Vector
from foveate.ports import Document, SearchResult
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
from foveate.stores.outlines import wanted_places
from foveate.stores.report import Report, Stats
from foveate.stores.rows import PreparedDocument

EXACT = 1_000_000
"""Up to so many chunks every vector is compared."""


class LanceStore:
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
        self.embedder_name: str = facts["embedder"]
        self.dimensions: int = facts["dimensions"]
        self._store_id: str = facts["store"]
        self._versions = Versions(self.location, dataset, ScanReader(self.dimensions, exact))
        self._counts = TokenCounts(self.location)

    def __repr__(self) -> str:
        return f"LanceStore({self.location.name!r})"

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
        """Replace one document and its chunks in one commit; raises `BadInput`. Batch many."""
        one = part.prepare_rows(
            document, chunks, vectors, counts, fingerprint=fingerprint, dimensions=self.dimensions
        )
        with self._write_lock:
            if self._batch is None:
                self._commit([self._write_part([one])])
                return
            with convert_engine_errors(self.location):
                self._batch.put(one)

    def delete(self, document_id: str) -> bool:
        """Remove a document and its chunks; False where it was not there."""
        if not is_encodable(document_id):
            return False
        with self._write_lock:
            if self._batch is None:
                return bool(self._commit([], {document_id}))
            with convert_engine_errors(self.location):
                return self._batch.delete(document_id)

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
            part.prepare_rows(*one, fingerprint=fingerprint, dimensions=self.dimensions)
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

    def documents(self) -> Iterator[tuple[str, str]]:
        """(document id, content hash) of every document, by id, as of this moment."""
        with self._current() as now:
            return iter(contents.list_content_hashes(now))

    def document(self, document_id: str, *, principals: Iterable[str] = ()) -> Document | None:
        """One document with its text; None where it is not there, or not all of it to be read."""
        if not is_encodable(document_id):
            return None
        with self._current() as now:
            return contents.load_document(now, document_id, now.head.audiences_for(principals))

    def listed(
        self, *, after: str = "", limit: int = 100, principals: Iterable[str] = ()
    ) -> list[Document]:
        """Up to `limit` readable documents behind `after` by id, without texts."""
        if not is_encodable(after):
            return []
        with self._current() as now:
            return contents.list_documents(now, after, limit, now.head.audiences_for(principals))

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

        `where` as in the embedded store; `exact` is False if an index named the candidates
        by vector.
        """
        with convert_engine_errors(self.location):
            now, scan = self._versions.current_scan()
            audiences = now.head.audiences_for(principals)
            ground = search.SearchContext(snapshot=now, scan=scan, dimensions=self.dimensions)
            return search.hybrid_search(
                ground,
                query,
                vector,
                limit=limit,
                depth=depth,
                audiences=audiences,
                where=where,
                embedder=self.embedder_name,
            )

    def neighbours(
        self, places: Sequence[tuple[str, int]], window: int, *, principals: Iterable[str] = ()
    ) -> list[Chunk]:
        """Chunks within `window` of (document id, sequence) places, by document and sequence."""
        asked = wanted_places(places, window, is_encodable)
        if not asked:
            return []
        found: dict[str, Chunk] = {}
        with self._current() as now:
            audiences = now.head.audiences_for(principals)
            for some in iter_batches(asked):
                near = search.load_neighbours(now, self.dimensions, some, window, audiences)
                found.update((chunk.id, chunk) for chunk in near)
        return sorted(found.values(), key=attrgetter("document_id", "sequence", "id"))

    def counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        """Token counts already known for these content hashes (who has a hash has the text)."""
        with suppress(ExternalError), convert_engine_errors(self.location):
            return self._counts.get(fingerprint, hashes)
        return {}  # what cannot be read can be counted again

    def remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        """Keep token counts; best effort: a store that cannot write only counts again."""
        self._remember([(fingerprint, counts)])

    def state_root(self, *, principals: Iterable[str] | None = None) -> str:
        """Hash of the content and the embedder's name, of what `principals` may read if given."""
        with self._current() as now:
            return self._compute_state_root(
                now, None if principals is None else now.head.audiences_for(principals)
            )

    def stats(self, *, principals: Iterable[str] | None = None) -> Stats:
        """The store in figures; with `principals`, of what they may read alone."""
        with convert_engine_errors(self.location):
            now, scan = self._versions.current_scan()
            readers = None if principals is None else now.head.audiences_for(principals)
            made_with = (self.embedder_name, self.dimensions)
            known = self._counts.bytes() if readers is None else 0
            mine = self._compute_state_root(now, readers)
            return contents.compute_stats(now, scan, readers, made_with, mine, known=known)

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
            self._counts.compact(keep)

    def close(self) -> None:
        """Forget what is in memory; a second time does nothing."""
        self._versions.clear()

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
            self._remember(counts for one in parts for counts in one.known.items())
            if self._tidy:
                with suppress(ExternalError), convert_engine_errors(self.location):
                    now = self._versions.current()
                    if due := compaction.find_small_segments(now.head):
                        compaction.merge_segments(now, self.location, self.dimensions, due)
        return went

    def _remember(self, counts: Iterable[tuple[str, Mapping[str, int]]]) -> None:
        with suppress(ExternalError), convert_engine_errors(self.location):
            self._counts.add(counts)

    def _compute_state_root(self, now: Snapshot, audiences: Iterable[int] | None) -> str:
        return state_hash(now.head.state(audiences), embedder=self.embedder_name)

"""The distributed store: Lance tables in a folder or on an object store.

A write is one commit, planned again after another writer's; a read is of the latest version.
"""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from datetime import timedelta
from itertools import chain
from threading import RLock
from typing import Any

import pyarrow as pa

from foveate.core.bounded_cache import BoundedCache
from foveate.core.errors import ExternalError
from foveate.core.types import Chunk
from foveate.ports import Document, SearchResult
from foveate.stores.base import BaseStore, PutRequest, Report, Search, Stats
from foveate.stores.filters import iter_batches
from foveate.stores.lance import tables
from foveate.stores.lance.check import check
from foveate.stores.lance.conditions import IS_CHUNK, all_of, in_condition
from foveate.stores.lance.location import convert_engine_errors, is_conflict, parse_location
from foveate.stores.lance.rows import build_rows, count_rows
from foveate.stores.lance.snapshot import Snapshot
from foveate.stores.rows import Rows, duplicate_id_error
from foveate.stores.totals import CHUNKS, DOCUMENTS

EXACT = 1_000_000
"""Up to so many chunks every vector is compared."""
RETENTION = timedelta(days=1)
_COUNTS_BYTES = 64 << 20
_ATTEMPTS, _MAX_WAIT = 200, 1.0


class LanceStore(BaseStore):
    """A store on Lance; see `foveate.ports.Store`. Safe to share between threads.

    `url`: `lance:PATH` or `lance+s3://BUCKET/PREFIX`. `exact`: chunks up to which all vectors are
    compared.
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
    ) -> None:
        self.location = parse_location(url, storage_options)
        self._write_lock = RLock()
        self._exact = exact
        self._in_batch = False
        self._written: dict[str, Rows] = {}
        """Documents of the batch: their rows, none for one that goes."""
        self._known = BoundedCache[tuple[str, str], int](_COUNTS_BYTES)
        with convert_engine_errors(self.location):
            dataset, facts = tables.connect(
                self.location, embedder=embedder_name, dimensions=dimensions, create=create
            )
            self.embedder_name = facts["embedder"]
            self.dimensions = int(facts["dimensions"])
            self._now = self._open(dataset)

    def __repr__(self) -> str:
        return f"LanceStore({self.location.name!r})"

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Writes inside are one transaction: all there at the end, or none of them.

        They are in memory until then. A refused document is undone alone. Reads inside see the
        state before.
        """
        with self._write_lock:
            before, outermost = dict(self._written), not self._in_batch
            self._in_batch = True
            try:
                yield
                if outermost:
                    self._write(self._written)
            except BaseException:
                self._written = before
                raise
            finally:
                if outermost:
                    self._written, self._in_batch = {}, False

    @property
    def version(self) -> int:
        """Lance's number of the latest version; it counts all writes, so it is not for readers."""
        with self._current() as now:
            return int(now.dataset.version)

    def check(self) -> Report:
        """Work out again all that is derived, of one version; others may write meanwhile."""
        with self._current() as now:
            return check(now, embedder=self.embedder_name)

    def compact(self, *, keep: timedelta = RETENTION) -> None:
        """Join small files, update indexes, and delete versions older than `keep`.

        Others may write meanwhile; a read that began before `keep` fails.
        """
        with self._write_lock, self._current() as now:
            dataset = now.copy()
            chunks = sum(figures[CHUNKS] for figures in now.head.figures.values())
            many = chunks if self.dimensions and chunks > self._exact else 0
            with suppress(OSError):  # what another writer changes meanwhile is left as it is
                dataset.optimize.compact_files()
                tables.update_indexes(dataset, vectors=many)
            dataset.cleanup_old_versions(older_than=keep)

    def close(self) -> None:
        """Nothing is held open."""

    def _put(self, given: PutRequest) -> None:
        """One commit a document outside a batch, so batch many."""
        rows = build_rows(given, self.dimensions)
        name, ids = given.document.id, {chunk.id for chunk in given.chunks}
        with self.batch():
            others = (each for key, each in self._written.items() if key != name)
            for row in chain.from_iterable(others):
                if row.get("chunk_id") in ids:
                    raise duplicate_id_error("another document", row["chunk_id"])
            with self._current() as now:
                now.check_free(sorted(ids), {name, *self._written})
            self._written[name] = rows
        self._remember(given.fingerprint, given.counts_by_hash())

    def _delete(self, document_id: str) -> bool:
        with self.batch():
            there = bool(self._written.get(document_id))
            if document_id not in self._written:
                with self._current() as now:
                    there = now.has_document(document_id)
            self._written[document_id] = []
            return there

    def _documents(self) -> Iterable[tuple[str, str]]:
        with self._current() as now:
            return now.content_hashes()

    def _document(self, document_id: str, principals: tuple[str, ...]) -> Document | None:
        with self._current() as now:
            return now.document(document_id, now.readers(principals))

    def _listed(self, after: str, limit: int, principals: tuple[str, ...]) -> list[Document]:
        with self._current() as now:
            return now.documents_after(after, limit, now.readers(principals))

    def _search(self, asked: Search) -> SearchResult:
        with self._current() as now:
            return now.search(asked, embedder=self.embedder_name)

    def _neighbours(
        self, places: list[tuple[str, int]], window: int, principals: tuple[str, ...]
    ) -> Iterable[Chunk]:
        found: dict[str, Chunk] = {}  # windows of two slices may meet
        with self._current() as now:
            for some in iter_batches(places):
                near = now.neighbours(some, window, now.readers(principals))
                found.update((chunk.id, chunk) for chunk in near)
        return found.values()

    def _counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        found = {name: self._known.get((fingerprint, name)) for name in hashes}
        return {name: tokens for name, tokens in found.items() if tokens is not None}

    def _remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        for name, tokens in counts.items():
            self._known.put((fingerprint, name), tokens)

    def _state_root(self, principals: tuple[str, ...] | None) -> str:
        with self._current() as now:
            return now.state_root(now.readers(principals), self.embedder_name)

    def _stats(self, principals: tuple[str, ...] | None) -> Stats:
        with self._current() as now:
            readers = now.readers(principals)
            figures = [now.head.figures[one] for one in readers]
            mine = all_of(IS_CHUNK, "vector IS NOT NULL", in_condition("principals", readers))
            return Stats(
                documents=sum(figure[DOCUMENTS] for figure in figures),
                chunks=sum(figure[CHUNKS] for figure in figures),
                vectors=now.dataset.count_rows(mine) if self.dimensions else 0,
                embedder=self.embedder_name,
                dimensions=self.dimensions,
                schema=tables.VERSION,
                state_root=now.state_root(readers, self.embedder_name),
                bytes=tables.sizes(now.dataset) if principals is None else {},
            )

    @contextmanager
    def _current(self) -> Iterator[Snapshot]:
        """The latest version, opened again when there is a newer one; Lance's errors as ours.

        One that somebody is reading stays as it is.
        """
        with convert_engine_errors(self.location):
            latest = self._now.dataset.latest_version
            if latest != self._now.dataset.version:
                self._now = self._open(self._now.dataset.checkout_version(latest))
            yield self._now

    def _open(self, dataset: Any) -> Snapshot:
        return Snapshot(
            dataset=dataset,
            head=tables.read_head(dataset),
            dimensions=self.dimensions,
            exact=self._exact,
        )

    def _write(self, written: Mapping[str, Rows]) -> None:
        """Documents in place of those with their ids, in one commit, again after each conflict."""
        with convert_engine_errors(self.location):
            schema = tables.store_schema(self.dimensions)
            rows = pa.Table.from_pylist([*chain.from_iterable(written.values())], schema=schema)
        for attempt in range(_ATTEMPTS):
            try:
                with self._current() as now:
                    self._try_commit(now, rows, written.keys())
            except ExternalError as error:
                if not is_conflict(error):
                    raise
                wait = min(_MAX_WAIT, 0.01 * 1.5 ** min(attempt, 12))
                time.sleep(random.uniform(0, wait))  # noqa: S311 (so that two do not keep step)
            else:
                with suppress(ExternalError), self._current() as now:
                    tables.join_small_files(now.copy())
                return
        raise ExternalError(
            f"store {self.location.name}: others write without a pause; nothing was changed, "
            f"try again"
        )

    def _try_commit(self, now: Snapshot, rows: Any, leaving: Collection[str]) -> None:
        """One `merge_insert`: rows that come, rows that go, and the head."""
        head = deepcopy(now.head)
        come = rows.select(list(tables.MEMBER_COLUMNS)).to_pylist()
        count_rows(head, come)
        now.check_free([row["chunk_id"] for row in come if row["chunk_id"]], leaving)
        before = now.read_members(leaving)
        count_rows(head, before, sign=-1)
        old = {row["document_id"] for row in before}
        if come or old:
            merge = now.copy().merge_insert("key").when_matched_update_all()
            merge = merge.when_not_matched_insert_all().conflict_retries(0)
            if old:
                merge = merge.when_not_matched_by_source_delete(in_condition("document_id", old))
            merge.execute(pa.concat_tables([tables.head_row(rows.schema, head), rows]))

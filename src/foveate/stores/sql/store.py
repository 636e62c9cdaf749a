"""The methods that the SQL stores have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar

from foveate.core.types import Chunk
from foveate.ports import Document, SearchResult
from foveate.stores.base import BaseStore, PutRequest, Search, Stats
from foveate.stores.sql import contents, search, write
from foveate.stores.sql.audiences import compute_state_root, load_audiences
from foveate.stores.sql.database import Database
from foveate.stores.sql.postings import PendingPostings, Readable

D = TypeVar("D", bound=Database)


class SqlStore(BaseStore, Generic[D]):
    """A store whose rows are kept by SQL; an engine adds transactions and compares vectors."""

    version: ClassVar[int]
    """Of its tables."""

    @abstractmethod
    def _read_transaction(self) -> AbstractContextManager[D]:
        """Reads inside see one state; inside a batch, the batch's."""

    @abstractmethod
    def _write_transaction(self) -> AbstractContextManager[tuple[D, PendingPostings]]:
        """Writes inside are one transaction; inside a batch, undone alone where it fails."""

    @abstractmethod
    def _nearest(self, database: D, readable: Readable, aim: Any, matching: Any, depth: int) -> Any:
        """See `search.Nearest`."""

    @abstractmethod
    def _sizes(self, database: D) -> Mapping[str, int]:
        """Bytes by part."""

    def _put(self, given: PutRequest) -> None:
        if not self._can_hold(given.fingerprint):
            given = replace(given, fingerprint="")
        with self._write_transaction() as (database, pending):
            write.replace_document(database, pending, given)

    def _delete(self, document_id: str) -> bool:
        with self._write_transaction() as (database, pending):
            return write.remove_document(database, pending, document_id)

    def _documents(self) -> Iterable[tuple[str, str]]:
        with self._read_transaction() as database:
            return contents.list_content_hashes(database)

    def _document(self, document_id: str, principals: tuple[str, ...]) -> Document | None:
        with self._read_transaction() as database:
            return contents.load_document(database, document_id, principals)

    def _listed(self, after: str, limit: int, principals: tuple[str, ...]) -> list[Document]:
        with self._read_transaction() as database:
            return contents.list_documents(database, after, limit, principals)

    def _search(self, asked: Search) -> SearchResult:
        with self._read_transaction() as database:
            return search.hybrid_search(
                database, asked, lambda *given: self._nearest(database, *given)
            )

    def _neighbours(
        self, places: list[tuple[str, int]], window: int, principals: tuple[str, ...]
    ) -> Iterable[Chunk]:
        with self._read_transaction() as database:
            return search.load_neighbours(database, places, window, principals)

    def _counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        with self._read_transaction() as database:
            return contents.load_counts(database, fingerprint, hashes)

    def _state_root(self, principals: tuple[str, ...] | None) -> str:
        with self._read_transaction() as database:
            return compute_state_root(database, load_audiences(database, principals))

    def _stats(self, principals: tuple[str, ...] | None) -> Stats:
        with self._read_transaction() as database:
            audiences = load_audiences(database, principals)
            mine, bound = database.ids_among([row[0] for row in audiences])
            query = f"SELECT count(*) FROM {{s}}.scan WHERE norm > 0 AND audience {mine}"
            ((vectors,),) = database.rows(query, bound)
            return Stats(
                documents=sum(row[3] for row in audiences),
                chunks=sum(row[4] for row in audiences),
                vectors=vectors,
                embedder=self.embedder_name,
                dimensions=self.dimensions,
                schema=self.version,
                state_root=compute_state_root(database, audiences),
                bytes=self._sizes(database) if principals is None else {},
            )

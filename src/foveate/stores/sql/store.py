"""The reads that the SQL stores have in common, as methods of a store."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

from foveate.ports import Document
from foveate.stores.base import BaseStore
from foveate.stores.sql import contents
from foveate.stores.sql.audiences import compute_state_root, load_audiences
from foveate.stores.sql.database import Database


class SqlStore(BaseStore):
    """A store whose rows are read by SQL."""

    @abstractmethod
    def _read_transaction(self) -> AbstractContextManager[Database]:
        """Reads inside see one state; inside a batch, the batch's."""

    def _documents(self) -> Iterable[tuple[str, str]]:
        with self._read_transaction() as database:
            return contents.list_content_hashes(database)

    def _document(self, document_id: str, principals: tuple[str, ...]) -> Document | None:
        with self._read_transaction() as database:
            return contents.load_document(database, document_id, principals)

    def _listed(self, after: str, limit: int, principals: tuple[str, ...]) -> list[Document]:
        with self._read_transaction() as database:
            return contents.list_documents(database, after, limit, principals)

    def _counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        with self._read_transaction() as database:
            return contents.load_counts(database, fingerprint, hashes)

    def _state_root(self, principals: tuple[str, ...] | None) -> str:
        with self._read_transaction() as database:
            return compute_state_root(database, load_audiences(database, principals))

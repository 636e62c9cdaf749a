"""Batches: writes that become one transaction, held as rows until they are many."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from foveate.core.errors import BadInput
from foveate.stores.lance.commit import find_existing
from foveate.stores.lance.files import Snapshot
from foveate.stores.lance.part import Part
from foveate.stores.rows import PreparedDocument, duplicate_id_error

MAX_CHUNKS_IN_MEMORY = 1_000_000
"""Chunks of which the ids are read at once, 16 bytes each in memory."""
_LOOKUPS_BEFORE_READ = 8
"""So many documents are looked up one by one before all ids are read."""


class ChunkIds:
    """The ids of one version."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._lookups = 0
        self._hashes: tuple[Any, Any] | None = None

    def check_free(self, name: str, ids: Sequence[str], leaving: Collection[str]) -> None:
        """Raise `BadInput` where an id is that of another document that is not `leaving`."""
        self._lookups += 1
        if self._lookups == _LOOKUPS_BEFORE_READ:
            chunks = sum(one.chunks for one in self._snapshot.head.audiences.values())
            self._hashes = self._read_hashes() if chunks <= MAX_CHUNKS_IN_MEMORY else None
        if self._hashes is None or not self._are_free(self._hashes, name, ids):
            find_existing(self._snapshot, {name}, ids, leaving)

    def _read_hashes(self) -> tuple[Any, Any]:
        """The hashes of all chunks' ids, ascending, and those of their documents' beside them."""
        rows = self._snapshot.read_rows("chunks", ["chunk_id", "document_id"])
        if rows is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        chunks, documents = (
            np.fromiter(map(hash, rows.column(n).to_pylist()), np.int64, rows.num_rows)
            for n in (0, 1)
        )
        order = np.argsort(chunks)
        return chunks[order], documents[order]

    @staticmethod
    def _are_free(hashes: tuple[Any, Any], name: str, ids: Sequence[str]) -> bool:
        """Whether each id is free or this document's own."""
        chunks, documents = hashes
        wanted = np.fromiter(map(hash, ids), np.int64, len(ids))
        start, end = (np.searchsorted(chunks, wanted, side) for side in ("left", "right"))
        found = np.flatnonzero(start < end)
        return bool(np.all(documents[start[found]] == hash(name)))


MAX_PENDING_CHUNKS = 20_000
"""So many chunks wait in memory; then they are written, and their documents cannot change."""

WritePart = Callable[[list[PreparedDocument]], Part]


@dataclass(slots=True, kw_only=True)
class Batch:
    """`current`: the version that ids are checked against; `write` makes a part of documents."""

    current: Callable[[], Snapshot]
    write: WritePart
    _pending: dict[str, PreparedDocument | None] = field(default_factory=dict)
    _chunks: dict[str, str] = field(default_factory=dict)
    _written_parts: list[Part] = field(default_factory=list)
    _written_ids: set[str] = field(default_factory=set)
    _removed_ids: set[str] = field(default_factory=set)
    """All documents that were put or deleted here; their earlier versions go."""
    _rows: int = 0
    _ids: ChunkIds | None = None
    """Of the version in which the batch began; the commit looks again, in the latest."""

    def put(self, one: PreparedDocument) -> None:
        """Take a document in place of the one with its id; raises `BadInput`."""
        name = one.row["document_id"]
        self._check_not_written(name)
        ids = [chunk["chunk_id"] for chunk in one.chunks]
        for chunk in ids:
            if self._chunks.get(chunk, name) != name:
                raise duplicate_id_error("another document", chunk)
        # Ids of documents that leave in this very batch are free.
        if self._ids is None:
            self._ids = ChunkIds(self.current())
        self._ids.check_free(name, ids, self._removed_ids)
        self._drop(name)
        self._removed_ids.add(name)
        self._pending[name] = one
        self._chunks.update(dict.fromkeys(ids, name))
        self._rows += len(ids)
        if self._rows >= MAX_PENDING_CHUNKS:
            self._flush()

    def delete(self, name: str) -> bool:
        """Leave a document out; False where it was not there."""
        self._check_not_written(name)
        if name in self._pending:
            found = self._pending[name] is not None
        else:
            found = bool(find_existing(self.current(), {name}))
        self._drop(name)
        self._removed_ids.add(name)
        self._pending[name] = None
        return found

    def finish(self) -> tuple[list[Part], set[str]]:
        """Everything as parts, and which documents are to go."""
        deleted = {name for name, one in self._pending.items() if one is None}
        self._flush()
        return self._written_parts, deleted

    def savepoint(self) -> tuple[dict[str, PreparedDocument | None], dict[str, str], int]:
        """The pending state, for `rollback_to`."""
        return dict(self._pending), dict(self._chunks), len(self._written_parts)

    def rollback_to(
        self, mark: tuple[dict[str, PreparedDocument | None], dict[str, str], int]
    ) -> None:
        """As it was then. Parts that were written meanwhile are left to be cleaned away."""
        waiting, chunks, written = mark
        self._pending, self._chunks = dict(waiting), dict(chunks)
        del self._written_parts[written:]
        self._written_ids = {name for part in self._written_parts for name in part.documents}
        self._removed_ids = self._written_ids | self._pending.keys()
        self._rows = sum(len(one.chunks) for one in self._pending.values() if one is not None)

    def _drop(self, name: str) -> None:
        before = self._pending.pop(name, None)
        for chunk in before.chunks if before is not None else ():
            del self._chunks[chunk["chunk_id"]]
            self._rows -= 1

    def _flush(self) -> None:
        documents = [one for one in self._pending.values() if one is not None]
        if documents:
            self._written_parts.append(self.write(documents))
            self._written_ids.update(self._written_parts[-1].documents)
        self._pending = {name: None for name, one in self._pending.items() if one is None}
        self._rows = 0

    def _check_not_written(self, name: str) -> None:
        if name in self._written_ids:
            raise BadInput(
                f"{name!r} is written in this batch already, which has grown over "
                f"{MAX_PENDING_CHUNKS} chunks; "
                f"change a document once in a large batch",
                field="document_id",
            )

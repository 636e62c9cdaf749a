"""Whose the ids of chunks are in one version of the store: what a batch asks of every document.

Rules: ids are compared as hashes; what is said to be free is free in that version; what may not be
is looked up there. In a store of more than `MAX_CHUNKS_IN_MEMORY` chunks everything is looked up,
by its index.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from foveate.stores.lance.commit import find_existing
from foveate.stores.lance.snapshot import Snapshot

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
        if self._lookups == _LOOKUPS_BEFORE_READ and self._chunk_count() <= MAX_CHUNKS_IN_MEMORY:
            self._hashes = self._read_hashes()
        if self._hashes is None or not self._are_free(self._hashes, name, ids):
            find_existing(self._snapshot, {name}, ids, leaving)

    def _chunk_count(self) -> int:
        return sum(one.chunks for one in self._snapshot.head.audiences.values())

    def _read_hashes(self) -> tuple[Any, Any]:
        """The hashes of all chunks' ids, ascending, and those of their documents' beside them."""
        import numpy as np

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
        """Whether each id is nobody's, or this document's own."""
        import numpy as np

        chunks, documents = hashes
        wanted = np.fromiter(map(hash, ids), np.int64, len(ids))
        start, end = (np.searchsorted(chunks, wanted, side) for side in ("left", "right"))
        found = np.flatnonzero(start < end)
        return bool(np.all(documents[start[found]] == hash(name)))

"""Whose the ids of chunks are in one version of the store: what a batch asks of every document.

Rules: ids are compared as hashes; what is said to be free is free in that version; what may not be
is looked up there. In a store of more than `MOST` chunks everything is looked up, by its index.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from foveate.adapters.stores.lance.commit import there
from foveate.adapters.stores.lance.snapshot import Snapshot

MOST = 1_000_000
"""Chunks of which the ids are read at once, 16 bytes each in memory."""
_FEW = 8
"""So many documents are looked up one by one before all ids are read."""


class Ids:
    """The ids of one version."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._asked = 0
        self._hashes: tuple[Any, Any] | None = None

    def refuse_taken(self, name: str, ids: Sequence[str], leaving: Collection[str]) -> None:
        """Raise `BadInput` where an id is that of another document that is not `leaving`."""
        self._asked += 1
        if self._asked == _FEW and self._chunks() <= MOST:
            self._hashes = self._read()
        if self._hashes is None or not self._free(self._hashes, name, ids):
            there(self._snapshot, {name}, ids, leaving)

    def _chunks(self) -> int:
        return sum(one.chunks for one in self._snapshot.head.audiences.values())

    def _read(self) -> tuple[Any, Any]:
        """The hashes of all chunks' ids, ascending, and those of their documents' beside them."""
        import numpy as np

        rows = self._snapshot.rows("chunks", ["chunk_id", "document_id"])
        if rows is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        chunks, documents = (
            np.fromiter(map(hash, rows.column(n).to_pylist()), np.int64, rows.num_rows)
            for n in (0, 1)
        )
        order = np.argsort(chunks)
        return chunks[order], documents[order]

    @staticmethod
    def _free(hashes: tuple[Any, Any], name: str, ids: Sequence[str]) -> bool:
        """Whether each id is nobody's, or this document's own."""
        import numpy as np

        chunks, documents = hashes
        wanted = np.fromiter(map(hash, ids), np.int64, len(ids))
        start, end = (np.searchsorted(chunks, wanted, side) for side in ("left", "right"))
        found = np.flatnonzero(start < end)
        return bool(np.all(documents[start[found]] == hash(name)))

"""Writes that are to be one transaction: kept as rows until they are many, then written as parts.

Rules: what is refused is refused at once and leaves nothing behind; the last write of a document
counts, as long as it has not left memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from foveate.adapters.stores.lance.commit import there
from foveate.adapters.stores.lance.ids import Ids
from foveate.adapters.stores.lance.part import Part, Prepared, taken
from foveate.adapters.stores.lance.snapshot import Snapshot
from foveate.core.errors import BadInput

LARGE = 20_000
"""So many chunks wait in memory; then they are written, and their documents cannot change."""

Write = Callable[[list[Prepared]], Part]


@dataclass(slots=True, kw_only=True)
class Batch:
    """`current`: the version that ids are checked against; `write` makes a part of documents."""

    current: Callable[[], Snapshot]
    write: Write
    _waiting: dict[str, Prepared | None] = field(default_factory=dict)
    _chunks: dict[str, str] = field(default_factory=dict)
    _written: list[Part] = field(default_factory=list)
    _sealed: set[str] = field(default_factory=set)
    _leaving: set[str] = field(default_factory=set)
    """All documents that were put or deleted here: those before them go."""
    _rows: int = 0
    _ids: Ids | None = None
    """Of the version in which the batch began; the commit looks again, in the latest."""

    def put(self, one: Prepared) -> None:
        """Take a document in place of the one with its id; raises `BadInput`."""
        name = one.row["document_id"]
        self._refuse_sealed(name)
        ids = [chunk["chunk_id"] for chunk in one.chunks]
        for chunk in ids:
            if self._chunks.get(chunk, name) != name:
                raise taken("another document", chunk)
        # Ids of documents that leave in this very batch are free.
        if self._ids is None:
            self._ids = Ids(self.current())
        self._ids.refuse_taken(name, ids, self._leaving)
        self._drop(name)
        self._leaving.add(name)
        self._waiting[name] = one
        self._chunks.update(dict.fromkeys(ids, name))
        self._rows += len(ids)
        if self._rows >= LARGE:
            self._seal()

    def delete(self, name: str) -> bool:
        """Leave a document out; False where it was not there."""
        self._refuse_sealed(name)
        if name in self._waiting:
            found = self._waiting[name] is not None
        else:
            found = bool(there(self.current(), {name}))
        self._drop(name)
        self._leaving.add(name)
        self._waiting[name] = None
        return found

    def all(self) -> tuple[list[Part], set[str]]:
        """Everything as parts, and which documents are to go."""
        deleted = {name for name, one in self._waiting.items() if one is None}
        self._seal()
        return self._written, deleted

    def mark(self) -> tuple[dict[str, Prepared | None], dict[str, str], int]:
        """What is waiting now, to come back to."""
        return dict(self._waiting), dict(self._chunks), len(self._written)

    def back_to(self, mark: tuple[dict[str, Prepared | None], dict[str, str], int]) -> None:
        """As it was then. Parts that were written meanwhile are left to be cleaned away."""
        waiting, chunks, written = mark
        self._waiting, self._chunks = dict(waiting), dict(chunks)
        del self._written[written:]
        self._sealed = {name for part in self._written for name in part.documents}
        self._leaving = self._sealed | self._waiting.keys()
        self._rows = sum(len(one.chunks) for one in self._waiting.values() if one is not None)

    def _drop(self, name: str) -> None:
        before = self._waiting.pop(name, None)
        for chunk in before.chunks if before is not None else ():
            del self._chunks[chunk["chunk_id"]]
            self._rows -= 1

    def _seal(self) -> None:
        documents = [one for one in self._waiting.values() if one is not None]
        if documents:
            self._written.append(self.write(documents))
            self._sealed.update(self._written[-1].documents)
        self._waiting = {name: None for name, one in self._waiting.items() if one is None}
        self._rows = 0

    def _refuse_sealed(self, name: str) -> None:
        if name in self._sealed:
            raise BadInput(
                f"{name!r} is written in this batch already, which has grown over {LARGE} chunks; "
                f"change a document once in a large batch",
                field="document_id",
            )

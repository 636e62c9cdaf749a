"""One run's books: what the store had, what was seen, what became of it. Reads no file.

Everything that is written is written here, in the order in which it is told, so that the store
does not depend on who prepared it, or on who was done first.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from foveate import readings
from foveate.core.errors import BadInput, BadOption, BadRequest, OutsideFailure
from foveate.ingest.by_model import ByModel
from foveate.ingest.one import Part, Prepared, Refused, Task, Unchanged, vectors_of
from foveate.ingest.prepare import digest_of, origin_of, root_of
from foveate.ingest.renamed import vectors_in
from foveate.ingest.waiting import Waiting
from foveate.ingest.walk import Failure, File, Walk
from foveate.ports import QUESTIONS, Embedder, Store

__all__ = ["Books", "Report"]

_COUNTED = (
    *("added", "updated", "unchanged", "deleted", "chunks", "renamed", "summarised", "questions"),
)
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run did, in documents; `chunks` counts those written. `skipped`: nothing wrong.

    `renamed`: how many of those added are of those deleted, with the same text under another name.
    `summarised`: documents written with a summary that they did not bring. `questions`: those of
    the chunks written. `without_model`: documents of which the model wrote nothing of use.
    """

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    failed: tuple[Failure, ...] = ()
    skipped: tuple[Failure, ...] = ()
    chunks: int = 0
    renamed: int = 0
    summarised: int = 0
    questions: int = 0
    without_model: tuple[Failure, ...] = ()


class Books:
    """Takes what is prepared, writes it, and says at the end what was done.

    `embedder` makes the vectors of what comes without them, of several documents at once; those of
    a document that has a new name alone are taken from the store. `at_once`: how many documents are
    one transaction, where the store has one for many (`batch`). Raises `BadOption` where the
    store has documents of another path of the same name.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        fingerprint: str,
        walks: Sequence[Walk],
        *,
        describe: ByModel | None = None,
        at_once: int = 1,
    ) -> None:
        self._store, self._embedder, self._fingerprint = store, embedder, fingerprint
        self._walks, self._at_once = walks, at_once
        self._describe = describe
        self._without: list[Failure] = []
        self._known = dict(store.documents())
        _refuse_other_roots(walks, self._known)
        self._seen: dict[str, str] = {}
        self._waiting = self._none_waiting()
        self._failed = [failure for each in walks for failure in each.failed]
        self._unread = {failure.path for failure in self._failed}
        self._counts = dict.fromkeys(_COUNTED, 0)
        self._moved = self._gone()

    def moved(self) -> frozenset[str]:
        """The digests of documents whose file is gone: where they come again, they were moved."""
        return frozenset(self._moved)

    def _gone(self) -> dict[str, list[str]]:
        """By digest, the ids of documents whose file is not there any more."""
        there = {file.name for each in self._walks for file in each.files}
        gone: dict[str, list[str]] = {}
        for identity, stored in self._known.items():
            origin = origin_of(stored)
            if origin not in there and self._ours(origin) and not self._is_unread(origin):
                gone.setdefault(digest_of(stored), []).append(identity)
        return gone

    def tasks(self) -> list[Task]:
        """The files to read, in the walk's order, each with what the store has from it."""
        known: dict[str, dict[str, str]] = {}
        for identity, stored in self._known.items():
            known.setdefault(origin_of(stored), {})[identity] = stored
        files = (file for each in self._walks for file in each.files)
        return [Task(file=file, known=known.get(file.name, {})) for file in files]

    def take(self, file: File, part: Part) -> None:
        """One part of a file: count it, or write it."""
        if isinstance(part, Refused):
            self._fail(file, part.reason)
            return
        identity = part.id if isinstance(part, Unchanged) else part.document.id
        try:
            self._refuse_taken(identity)
        except BadInput as error:
            self._fail(file, str(error))
            return
        self._seen[identity] = file.name
        if isinstance(part, Unchanged):
            self._counts["unchanged"] += 1
            return
        self._waiting.add(file, self._with_known_vectors(part))
        if self._waiting.is_time():
            self.write()

    def _none_waiting(self) -> Waiting:
        describes, embeds = self._describe is not None, self._embedder is not None
        return Waiting(at_once=self._at_once, describes=describes, embeds=embeds)

    def write(self) -> None:
        """Write what waits, each document in a transaction of its own, or all in one."""
        waiting, self._waiting = self._waiting.parts, self._none_waiting()
        if not waiting:
            return
        waiting = self._embedded(self._described(waiting))
        try:
            with self._batch():
                refused = self._put_all(waiting)
        except BadRequest:
            # One that met what another writer wrote meanwhile: the others go in without it.
            refused = self._put_all(waiting)
        self._note(waiting, refused)

    def _batch(self) -> AbstractContextManager[None]:
        """One transaction for what is written inside, where that is wanted and the store can."""
        batch = getattr(self._store, "batch", None) if self._at_once > 1 else None
        return nullcontext() if batch is None else batch()

    def _put_all(self, waiting: list[tuple[File, Prepared]]) -> dict[str, str]:
        """By the document's id, why the store would not have it."""
        refused: dict[str, str] = {}
        for _, part in waiting:
            try:
                self._put(part)
            except BadRequest as error:
                refused[part.document.id] = str(error)
        return refused

    def _note(self, waiting: list[tuple[File, Prepared]], refused: Mapping[str, str]) -> None:
        """Count what is written, and keep what its texts come out as, all at once."""
        found: dict[str, bytes] = {}
        for file, part in waiting:
            if part.document.id in refused:
                del self._seen[part.document.id]
                self._fail(file, refused[part.document.id])
                continue
            known = part.document.id in self._known
            self._counts["updated" if known else "added"] += 1
            self._counts["chunks"] += len(part.chunks)
            own = "summary" in part.brought or not part.document.summary
            self._counts["summarised"] += not own
            asked = (chunk.metadata.get(QUESTIONS, ()) for chunk in part.chunks)
            self._counts["questions"] += sum(map(len, asked))
            found.update(part.readings)
        readings.keep(self._store, found)

    def _described(self, waiting: list[tuple[File, Prepared]]) -> list[tuple[File, Prepared]]:
        """With what the model says of them; of whom it says nothing stay as they are."""
        if self._describe is None:
            return waiting
        found = self._describe.described([part for _, part in waiting])
        for (file, part), each in zip(waiting, found, strict=True):
            if each.failure:
                reason = f"{part.document.id!r}: {each.failure}"
                self._without.append(Failure(path=file.name, reason=reason))
        return [(file, each.part) for (file, _), each in zip(waiting, found, strict=True)]

    def _with_known_vectors(self, part: Prepared) -> Prepared:
        """The part with the vectors of the same document under its old name, where it had one."""
        old = self._moved.get(digest_of(part.document.content_hash))
        if not old or part.document.id in self._known:
            return part
        self._counts["renamed"] += 1
        vectors = vectors_in(self._store, old.pop(0), part) if self._embedder else None
        return part if vectors is None else replace(part, vectors=vectors)

    def _embedded(self, waiting: list[tuple[File, Prepared]]) -> list[tuple[File, Prepared]]:
        bare = [part for _, part in waiting if part.vectors is None]
        texts = [chunk.text for part in bare for chunk in part.chunks]
        vectors = vectors_of(self._embedder, texts)
        if vectors is None:
            return waiting
        found, at = [], 0
        for file, part in waiting:
            if part.vectors is None:
                own = vectors[at : at + len(part.chunks)]
                at += len(part.chunks)
                found.append((file, replace(part, vectors=own)))
            else:
                found.append((file, part))
        return found

    def _refuse_taken(self, identity: str) -> None:
        """An id belongs to one file; one that is in the store from elsewhere is left alone."""
        if identity in self._seen:
            raise BadInput(f"{identity!r} is taken by {self._seen[identity]}", field="id")
        if identity not in self._known:
            return
        origin = origin_of(self._known[identity])
        if not self._ours(origin):
            raise BadInput(
                f"{identity!r} is in the store from {origin or 'another writer'}; "
                f"delete it there first, or use another id",
                field="id",
            )

    def _put(self, part: Prepared) -> None:
        try:
            self._store.put(
                part.document,
                part.chunks,
                part.vectors,
                part.counts,
                fingerprint=self._fingerprint,
            )
        except OSError as error:
            identity = part.document.id
            if error.errno in _FULL:
                raise OutsideFailure(
                    f"the disk is full; {identity!r} was not written, what earlier transactions "
                    f"wrote was: make room and run again"
                ) from error
            raise OutsideFailure(f"the store failed at {identity!r}: {error}") from error

    def delete_gone(self) -> None:
        """Delete what came from these paths and was not seen, unless it could not be read."""
        gone = [
            (identity, origin)
            for identity, origin in ((name, origin_of(s)) for name, s in self._known.items())
            if identity not in self._seen and self._ours(origin) and not self._is_unread(origin)
        ]
        for start in range(0, len(gone), self._at_once):
            with self._batch():
                self._delete(gone[start : start + self._at_once])

    def _delete(self, gone: Sequence[tuple[str, str]]) -> None:
        for identity, origin in gone:
            try:
                self._counts["deleted"] += self._store.delete(identity)
            except BadRequest as error:
                self._failed.append(Failure(path=origin, reason=f"{identity!r}: {error}"))

    def report(self) -> Report:
        """The books, closed."""
        skipped = tuple(failure for each in self._walks for failure in each.skipped)
        return Report(
            failed=tuple(self._failed),
            skipped=skipped,
            without_model=tuple(self._without),
            **self._counts,
        )

    def _ours(self, origin: str) -> bool:
        return any(_is_under(origin, each.scope) for each in self._walks)

    def _is_unread(self, origin: str) -> bool:
        parents = (origin[: i + 1] for i, char in enumerate(origin) if char == "/")
        return origin in self._unread or any(parent in self._unread for parent in parents)

    def _fail(self, file: File, reason: str) -> None:
        self._failed.append(Failure(path=file.name, reason=reason))
        self._unread.add(file.name)


def _refuse_other_roots(walks: Sequence[Walk], known: Mapping[str, str]) -> None:
    """Names alone do not tell `a/docs` from `b/docs`: one would delete and overwrite the other."""
    for each in walks:
        for stored in known.values():
            if _is_under(origin_of(stored), each.scope) and root_of(stored) != each.root:
                raise BadOption(
                    f"the store has documents of another place called {each.scope!r}, and they "
                    f"would be lost; index this one into another store, or the folder that holds "
                    f"both into a new one (if it was moved: delete the store and index anew)"
                )


def _is_under(origin: str, scope: str) -> bool:
    return origin.startswith(scope) if scope.endswith("/") else origin == scope

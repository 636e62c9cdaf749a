"""The state of one run: what the store had, what was found, and what was written.

Everything is written here in the order of the walk, so the store does not depend on which process
was first.
"""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeAlias

from foveate.core.errors import BadInput, BadOption, ExternalError, InvalidRequest
from foveate.ingest.document_task import (
    EMBED_BATCH,
    PreparedDocument,
    PreparedImage,
    PreparedPart,
    Refusal,
    Task,
    UnchangedDocument,
    embed_texts,
)
from foveate.ingest.images import keep_image
from foveate.ingest.load import NO_TEXT, describe_left_out
from foveate.ingest.model_enrichment import ModelEnricher
from foveate.ingest.prepare import origin_from_hash, root_from_hash
from foveate.ingest.walk import Failure, File, Walk
from foveate.ports import QUESTIONS, Embedder, Store

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)

MAX_CHUNKS, MAX_CHARACTERS = 4_096, 8 << 20
"""Chunks, and characters of documents, that wait to be written at the most."""
MODEL_BATCH = 32
"""Documents that wait for a model at the most, and are written at once: its words are dear."""

FileDocument: TypeAlias = tuple[File, PreparedDocument]
"""A document and the file that it is from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of a run, in documents; `chunks` counts those written. `skipped`: nothing wrong.

    `summarised`: documents written with a generated summary. `questions`: those of the chunks
    written. `without_model`: documents for which the model wrote nothing usable. `encodings`: files
    written that are not UTF-8, and what they were read as. `without_text`: files written in which
    no text was found. `in_part`: files written that show more than was read, and how much of which
    kind.
    """

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    failed: tuple[Failure, ...] = ()
    skipped: tuple[Failure, ...] = ()
    chunks: int = 0
    summarised: int = 0
    questions: int = 0
    without_model: tuple[Failure, ...] = ()
    encodings: tuple[Failure, ...] = ()
    without_text: tuple[Failure, ...] = ()
    in_part: tuple[Failure, ...] = ()


class RunState:
    """Takes prepared documents, writes them, and reports the result.

    `embedder` computes missing vectors for several documents at once. `at_once`: how many
    documents share a transaction (`batch`).
    `image_folder`: where the bytes of images are written. Raises `BadOption` if the store has
    documents of another path of the same name.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        fingerprint: str,
        walks: Sequence[Walk],
        *,
        describe: ModelEnricher | None = None,
        at_once: int = 1,
        image_folder: str = "",
    ) -> None:
        self._image_folder = image_folder
        self._store, self._embedder, self._fingerprint = store, embedder, fingerprint
        self._walks, self._at_once = walks, at_once
        self._describe = describe
        self._without_model: list[Failure] = []
        self._encodings: dict[str, str] = {}
        self._without_text: dict[str, None] = {}
        self._left_out: dict[str, Counter[str]] = {}
        self._stored_hashes = dict(store.documents())
        _check_roots(walks, self._stored_hashes)
        self._file_by_id: dict[str, str] = {}
        self._waiting: list[FileDocument] = []
        self._failed = [failure for each in walks for failure in each.failed]
        self._unread_paths = {failure.path for failure in self._failed}
        self._counts = Counter[str]()

    def tasks(self) -> list[Task]:
        """The files to read, in the walk's order, each with what the store has from it."""
        known: dict[str, dict[str, str]] = {}
        for identity, stored in self._stored_hashes.items():
            known.setdefault(origin_from_hash(stored), {})[identity] = stored
        files = (file for each in self._walks for file in each.files)
        return [Task(file=file, known=known.get(file.name, {})) for file in files]

    def add_part(self, file: File, part: PreparedPart) -> None:
        """One part of a file: count it, or write it."""
        if isinstance(part, Refusal):
            self._record_failure(file, part.reason)
            return
        if isinstance(part, PreparedImage):
            keep_image(part.data, self._image_folder)
            return
        identity = part.id if isinstance(part, UnchangedDocument) else part.document.id
        try:
            self._check_id_free(identity)
        except BadInput as error:
            self._record_failure(file, str(error))
            return
        self._file_by_id[identity] = file.name
        if isinstance(part, UnchangedDocument):
            self._counts["unchanged"] += 1
            return
        self._waiting.append((file, part))
        if is_full(
            [waits for _, waits in self._waiting],
            at_once=self._at_once,
            describes=self._describe is not None,
            embeds=self._embedder is not None,
        ):
            self.flush()

    def flush(self) -> None:
        """Write what waits, each document in a transaction of its own, or all in one."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        waiting = self._embed_documents(self._describe_documents(waiting))
        try:
            with self._batch():
                refused = self._write_documents(waiting)
        except InvalidRequest:
            # One that met what another writer wrote meanwhile: the others go in without it.
            refused = self._write_documents(waiting)
        self._record_written(waiting, refused)

    def _batch(self) -> AbstractContextManager[None]:
        """A shared transaction, if it is wanted and the store has one."""
        batch = getattr(self._store, "batch", None) if self._at_once > 1 else None
        return nullcontext() if batch is None else batch()

    def _write_documents(self, waiting: list[FileDocument]) -> dict[str, str]:
        """Write them; by document id, why the store refused one."""
        refused: dict[str, str] = {}
        for _, part in waiting:
            try:
                self._write_document(part)
            except InvalidRequest as error:
                refused[part.document.id] = str(error)
        return refused

    def _record_written(self, waiting: list[FileDocument], refused: Mapping[str, str]) -> None:
        for file, part in waiting:
            if part.document.id in refused:
                del self._file_by_id[part.document.id]
                self._record_failure(file, refused[part.document.id])
                continue
            if part.encoding:
                self._encodings[file.name] = part.encoding
            if part.left_out:
                self._left_out.setdefault(file.name, Counter()).update(part.left_out)
            if not part.chunks:
                self._without_text[file.name] = None
            known = part.document.id in self._stored_hashes
            self._counts["updated" if known else "added"] += 1
            self._counts["chunks"] += len(part.chunks)
            own = part.has_own_summary or not part.document.summary
            self._counts["summarised"] += not own
            asked = (chunk.metadata.get(QUESTIONS, ()) for chunk in part.chunks)
            self._counts["questions"] += sum(map(len, asked))

    def _describe_documents(self, waiting: list[FileDocument]) -> list[FileDocument]:
        """Add what the model writes about them."""
        if self._describe is None:
            return waiting
        found = self._describe.describe([part for _, part in waiting])
        described: list[FileDocument] = []
        for (file, part), (written, why) in zip(waiting, found, strict=True):
            described.append((file, written))
            if why:
                reason = f"{part.document.id!r}: {why}"
                self._without_model.append(Failure(path=file.name, reason=reason))
        return described

    def _embed_documents(self, waiting: list[FileDocument]) -> list[FileDocument]:
        bare = [part for _, part in waiting if part.vectors is None]
        texts = [chunk.text for part in bare for chunk in part.chunks]
        vectors = embed_texts(self._embedder, texts)
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

    def _check_id_free(self, identity: str) -> None:
        """An id belongs to one file, and one from elsewhere in the store stays."""
        if identity in self._file_by_id:
            raise BadInput(f"{identity!r} is taken by {self._file_by_id[identity]}", field="id")
        if identity not in self._stored_hashes:
            return
        origin = origin_from_hash(self._stored_hashes[identity])
        if not self._is_in_scope(origin):
            raise BadInput(
                f"{identity!r} is in the store from {origin or 'another writer'}; "
                f"delete it there first, or use another id",
                field="id",
            )

    def _write_document(self, part: PreparedDocument) -> None:
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
            if error.errno in _DISK_FULL:
                raise ExternalError(
                    f"the disk is full; {identity!r} was not written, what earlier transactions "
                    f"wrote was: make room and run again"
                ) from error
            raise ExternalError(f"the store failed at {identity!r}: {error}") from error

    def delete_missing(self) -> None:
        """Delete what came from these paths and was not seen, unless it could not be read."""
        gone = [
            (identity, origin)
            for identity, origin in (
                (name, origin_from_hash(s)) for name, s in self._stored_hashes.items()
            )
            if identity not in self._file_by_id
            and self._is_in_scope(origin)
            and not self._is_unread(origin)
        ]
        for start in range(0, len(gone), self._at_once):
            with self._batch():
                self._delete_documents(gone[start : start + self._at_once])

    def _delete_documents(self, gone: Sequence[tuple[str, str]]) -> None:
        for identity, origin in gone:
            try:
                self._counts["deleted"] += self._store.delete(identity)
            except InvalidRequest as error:
                self._failed.append(Failure(path=origin, reason=f"{identity!r}: {error}"))

    def report(self) -> Report:
        """The result of the run."""
        skipped = tuple(failure for each in self._walks for failure in each.skipped)
        return Report(
            failed=tuple(self._failed),
            skipped=skipped,
            without_model=tuple(self._without_model),
            encodings=tuple(
                Failure(path=name, reason=f"read as {encoding}")
                for name, encoding in self._encodings.items()
            ),
            without_text=tuple(Failure(path=name, reason=NO_TEXT) for name in self._without_text),
            in_part=tuple(
                Failure(path=name, reason=f"{describe_left_out(kinds)} not read")
                for name, kinds in self._left_out.items()
            ),
            **self._counts,
        )

    def _is_in_scope(self, origin: str) -> bool:
        return any(is_under(origin, each.scope) for each in self._walks)

    def _is_unread(self, origin: str) -> bool:
        parents = (origin[: i + 1] for i, char in enumerate(origin) if char == "/")
        return origin in self._unread_paths or any(
            parent in self._unread_paths for parent in parents
        )

    def _record_failure(self, file: File, reason: str) -> None:
        self._failed.append(Failure(path=file.name, reason=reason))
        self._unread_paths.add(file.name)


def is_full(
    waiting: Sequence[PreparedDocument],
    *,
    at_once: int,
    describes: bool = False,
    embeds: bool = False,
) -> bool:
    """Whether enough waits to be written: `at_once` documents, or what a model or memory takes."""
    bare = sum(len(part.chunks) for part in waiting if embeds and part.vectors is None)
    chunks = sum(len(part.chunks) for part in waiting)
    text = sum(len(part.document.text) for part in waiting)
    if bare >= EMBED_BATCH or chunks >= MAX_CHUNKS or text >= MAX_CHARACTERS:
        return True
    return len(waiting) >= (MODEL_BATCH if describes else at_once) and (describes or not bare)


def _check_roots(walks: Sequence[Walk], known: Mapping[str, str]) -> None:
    """Refuse a folder of the same name elsewhere: `a/docs` would overwrite `b/docs`."""
    for each in walks:
        for stored in known.values():
            if (
                is_under(origin_from_hash(stored), each.scope)
                and root_from_hash(stored) != each.root
            ):
                raise BadOption(
                    f"the store has documents of another place called {each.scope!r}, and they "
                    f"would be lost; index this one into another store, or the folder that holds "
                    f"both into a new one (if it was moved: delete the store and index again)"
                )


def is_under(origin: str, scope: str) -> bool:
    """Whether a file of this name belongs to the scope of a walk."""
    return origin.startswith(scope) if scope.endswith("/") else origin == scope

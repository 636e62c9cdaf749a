"""Bring a store up to date with files and folders: write what changed, delete what is gone.

Each document is one transaction of the store, and its content hash says that it is done: a run
that was stopped goes on where it was. One bad file, or one bad line of a JSON Lines file, is
reported and the rest go on; nothing is deleted of what could not be read. Only documents that
came from the paths given are ever deleted, and none of other origin is overwritten: a store that
has documents of another folder of the same name is refused before anything is written.

Ids: a file is `<folder's name>/<path in it>`, or its own name where it was given itself; what a
file says its id is stays as it is; other parts of a file are `<file>#<line>`. Vectors are of the
chunk's text alone, as measured. Nothing is printed here.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foveate.adapters.loaders import suffixes
from foveate.adapters.loaders.limits import Limits
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BadOption, BadRequest, OutsideFailure
from foveate.core.types import Chunk
from foveate.ingest.apart import Apart
from foveate.ingest.chunk import refuse_sizes
from foveate.ingest.load import load, read
from foveate.ingest.prepare import Settings, chunked, document_of, file_hash, origin_of, root_of
from foveate.ingest.walk import Failure, File, Walk, walk
from foveate.ports import Document, Embedder, Loaded, Store

__all__ = ["Failure", "Progress", "Report", "ingest", "walked"]

Progress = Callable[[int, int, str], None]
"""Called after each file: files done, files in all, the file's name."""

_BATCH = 256
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run did, in documents; `chunks` counts those written. `skipped`: nothing wrong."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    failed: tuple[Failure, ...] = ()
    skipped: tuple[Failure, ...] = ()
    chunks: int = 0


def ingest(
    paths: Path | str | Iterable[Path | str],
    store: Store,
    embedder: Embedder | None,
    tokenizer: Tokenizer,
    *,
    size: int = 350,
    overlap: int = 70,
    language: str = "en",
    principals: Sequence[str] = (),
    limits: Limits | None = None,
    on_progress: Progress | None = None,
) -> Report:
    """Index files and folders; afterwards the store holds of them what is there now.

    `principals`: who may read documents that do not say so themselves; empty is everybody.
    `limits`: how much of one file is read; what is over them is reported, and not read in part.
    Without an `embedder` the store gets no vectors. Raises `BadInput` for a path that is not
    there, `BadOption`, also where the store has documents of another path of the same name, and
    `OutsideFailure` where the store or the embedder fails or the disk is full: what was written
    until then stays, and the next run goes on from there.
    """
    refuse_sizes(size, overlap)
    settings = Settings(
        size=size,
        overlap=overlap,
        language=language,
        fingerprint=tokenizer.fingerprint,
        embedder=embedder.name if embedder is not None else "",
        principals=tuple(sorted(set(principals))),
    )
    walks = walked(paths)
    with Apart(limits or Limits()) as apart:
        run = _Run(store, embedder, tokenizer, settings, walks, apart=apart)
        files = [file for each in walks for file in each.files]
        for done, file in enumerate(files, 1):
            run.take(file)
            if on_progress is not None:
                on_progress(done, len(files), file.name)
        run.delete_gone()
        return run.report()


def walked(paths: Path | str | Iterable[Path | str]) -> tuple[Walk, ...]:
    """What is under each of the paths; raises `BadInput`, and `BadOption` for two of one name."""
    roots = [paths] if isinstance(paths, Path | str) else list(paths)
    walks = tuple(walk(Path(root), frozenset(suffixes())) for root in roots)
    _refuse_same_names(walks)
    return walks


def _refuse_same_names(walks: Sequence[Walk]) -> None:
    taken: set[str] = set()
    for each in walks:
        scope = each.scope.removesuffix("/")
        if scope in taken:
            raise BadOption(
                f"two of the paths are called {scope!r}, and so would their documents be; "
                f"rename one, or index the folder that holds both"
            )
        taken.add(scope)


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


class _Run:
    """One run's books: what was there, what was seen, what became of it."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        tokenizer: Tokenizer,
        settings: Settings,
        walks: Sequence[Walk],
        *,
        apart: Apart,
    ) -> None:
        self._store, self._embedder, self._tokenizer = store, embedder, tokenizer
        self._apart, self._limits = apart, apart.limits
        self._settings, self._walks = settings, walks
        self._known = dict(store.documents())
        _refuse_other_roots(walks, self._known)
        self._seen: dict[str, str] = {}
        self._failed = [failure for each in walks for failure in each.failed]
        self._unread = {failure.path for failure in self._failed}
        self._counts = {"added": 0, "updated": 0, "unchanged": 0, "deleted": 0, "chunks": 0}

    def take(self, file: File) -> None:
        """Read one file and write what is new in it."""
        try:
            data = read(file.path, self._limits)
            whole = file_hash(data, file, self._settings)
            if self._known.get(file.name) == whole and file.name not in self._seen:
                self._seen[file.name] = file.name
                self._counts["unchanged"] += 1
                return
            parts = load(data, file.path, self._limits, self._apart)
        except (BadRequest, OSError) as error:
            self._fail(file, error)
            return
        for part in parts:
            if isinstance(part, BadInput):
                self._fail(file, part)
            else:
                self._take_part(file, part, whole)

    def _take_part(self, file: File, loaded: Loaded, whole: str) -> None:
        try:
            document = document_of(loaded, file, whole, self._settings)
            self._refuse_taken(document.id, file)
            if self._known.get(document.id) == document.content_hash:
                self._seen[document.id] = file.name
                self._counts["unchanged"] += 1
                return
            chunks, counts = chunked(loaded, document, self._settings, self._tokenizer)
            self._write(document, chunks, counts)
        except BadRequest as error:
            self._fail(file, error)
            return
        self._seen[document.id] = file.name
        self._counts["updated" if document.id in self._known else "added"] += 1
        self._counts["chunks"] += len(chunks)

    def _refuse_taken(self, identity: str, file: File) -> None:
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

    def _write(self, document: Document, chunks: Sequence[Chunk], counts: Sequence[int]) -> None:
        vectors = _vectors(self._embedder, [chunk.text for chunk in chunks])
        try:
            self._store.put(
                document, chunks, vectors, counts, fingerprint=self._settings.fingerprint
            )
        except OSError as error:
            if error.errno in _FULL:
                raise OutsideFailure(
                    f"the disk is full; {document.id!r} was not written, what came before it was: "
                    f"make room and run again"
                ) from error
            raise OutsideFailure(f"the store failed at {document.id!r}: {error}") from error

    def delete_gone(self) -> None:
        """Delete what came from these paths and was not seen, unless it could not be read."""
        for identity, stored in self._known.items():
            origin = origin_of(stored)
            if identity in self._seen or not self._ours(origin) or self._is_unread(origin):
                continue
            try:
                self._counts["deleted"] += self._store.delete(identity)
            except BadRequest as error:
                self._failed.append(Failure(path=origin, reason=f"{identity!r}: {error}"))

    def report(self) -> Report:
        """The books, closed."""
        skipped = tuple(failure for each in self._walks for failure in each.skipped)
        return Report(failed=tuple(self._failed), skipped=skipped, **self._counts)

    def _ours(self, origin: str) -> bool:
        return any(_is_under(origin, each.scope) for each in self._walks)

    def _is_unread(self, origin: str) -> bool:
        parents = (origin[: i + 1] for i, char in enumerate(origin) if char == "/")
        return origin in self._unread or any(parent in self._unread for parent in parents)

    def _fail(self, file: File, error: Exception) -> None:
        reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
        self._failed.append(Failure(path=file.name, reason=reason))
        self._unread.add(file.name)


def _vectors(embedder: Embedder | None, texts: Sequence[str]) -> Any:
    """The texts' vectors, shape (texts, dimensions), asked for in batches; None without one."""
    if embedder is None or not texts:
        return None
    import numpy as np

    batches = [embedder.embed(texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH)]
    return np.concatenate([np.asarray(batch, dtype=np.float32) for batch in batches])

"""One file to what a store takes of it: the step that several processes, or machines, can share.

`Preparer` and everything that goes in and comes out can be pickled. What comes out depends on the
file, the task and the preparer alone, so whoever does the step, the store becomes the same. Parts
come one at a time, for a file may hold a million documents. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from foveate import readings
from foveate.adapters.loaders.limits import Limits
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BadRequest
from foveate.core.types import Chunk
from foveate.ingest.apart import Apart
from foveate.ingest.enrich import enriched
from foveate.ingest.load import load, read
from foveate.ingest.prepare import Settings, chunked, digest_of, document_of, file_hash
from foveate.ingest.walk import File
from foveate.ports import QUESTIONS, Document, Embedder, Loaded

__all__ = ["BATCH", "Part", "Prepared", "Preparer", "Refused", "Task", "Unchanged", "vectors_of"]

BATCH = 256
"""Texts that an embedder gets at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A file to read. `known`: document id → content hash of what the store has from it."""

    file: File
    known: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A document to write; `counts`: tokens of each chunk; `readings`: what its texts come out as.

    `brought`: which of `summary` and `questions` it has of itself. `vectors`: float32, shape
    (chunks, dimensions); None where they are still to be made.
    """

    document: Document
    chunks: tuple[Chunk, ...]
    counts: tuple[int, ...]
    brought: frozenset[str] = frozenset()
    vectors: Any = field(default=None, compare=False)
    readings: Mapping[str, bytes] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """A document that the store has as it is."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The file, or one part of it, is not usable, and why."""

    reason: str


Part: TypeAlias = Prepared | Unchanged | Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparer:
    """How files are prepared. `embedder`: None where vectors are made elsewhere, or not at all.

    `moved`: digests of documents whose vectors are known already.
    """

    settings: Settings
    tokenizer: Tokenizer
    embedder: Embedder | None = None
    limits: Limits = field(default_factory=Limits)
    moved: frozenset[str] = frozenset()

    def parts(self, task: Task, apart: Apart) -> Iterator[Part]:
        """What is in the file, in its order; `apart` reads what is better read by another process.

        Raises what the tokenizer and the embedder raise (`OutsideFailure`).
        """
        file = task.file
        try:
            data = read(file.path, self.limits)
            whole = file_hash(data, file, self.settings)
            if task.known.get(file.name) == whole:
                yield Unchanged(id=file.name)
                return
            found = load(data, file.path, self.limits, apart)
        except (BadRequest, OSError) as error:
            yield Refused(reason=_reason(error))
            return
        del data
        for loaded in found:
            yield self._part(task, loaded, whole)

    def _part(self, task: Task, loaded: Loaded | BadInput, whole: str) -> Part:
        if isinstance(loaded, BadInput):
            return Refused(reason=_reason(loaded))
        try:
            document = document_of(loaded, task.file, whole, self.settings)
            if task.known.get(document.id) == document.content_hash:
                return Unchanged(id=document.id)
            pieces, counts = chunked(loaded, document, self.settings, self.tokenizer)
        except BadRequest as error:
            return Refused(reason=_reason(error))
        is_moved = digest_of(document.content_hash) in self.moved
        embedder = None if is_moved else self.embedder
        texts = [chunk.text for chunk in pieces]
        names = (("summary", document.summary), ("questions", QUESTIONS in document.metadata))
        described, chunks = enriched(
            document, pieces, self.settings.enrich, self.tokenizer, self.settings.language
        )
        return Prepared(
            document=described,
            chunks=chunks,
            brought=frozenset(name for name, has in names if has),
            counts=tuple(counts),
            vectors=vectors_of(embedder, texts),
            readings=readings.made(chunks),
        )


def vectors_of(embedder: Embedder | None, texts: Sequence[str]) -> Any:
    """The texts' vectors, shape (texts, dimensions), asked for in batches; None without one."""
    if embedder is None or not texts:
        return None
    import numpy as np

    batches = [embedder.embed(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]
    return np.concatenate([np.asarray(batch, dtype=np.float32) for batch in batches])


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)

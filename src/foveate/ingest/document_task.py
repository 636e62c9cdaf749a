"""Turns one file into documents for a store: the step that processes or machines share.

`Preparer`, its tasks and its results can be pickled. The result depends on the file, the task and
the preparer alone. Parts come one at a time, because a file may hold a million documents.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from foveate.batch.engines.engine import FailedTask
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, InvalidRequest
from foveate.core.types import Chunk
from foveate.ingest.enrich import enrich_document
from foveate.ingest.load import load_file, read_file
from foveate.ingest.loaders.limits import Limits, ReadOptions
from foveate.ingest.prepare import Settings, build_chunks, build_document, file_hash
from foveate.ingest.sandbox import Sandbox
from foveate.ingest.walk import File, error_reason
from foveate.ports import Document, Embedder, LoadedDocument

EMBED_BATCH = 256
"""Texts that an embedder gets at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A file to read. `known`: document id → content hash of what the store has from it."""

    file: File
    known: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedDocument:
    """A document to write. `counts`: tokens of each chunk.

    `encoding`: of its file, if it is not UTF-8. `has_own_summary`: whether it brought one.
    `vectors`: float32, shape (chunks, dimensions); None if they are not computed yet.
    `left_out`: what its file shows and its text has not, how much of each kind.
    """

    document: Document
    chunks: tuple[Chunk, ...]
    counts: tuple[int, ...]
    has_own_summary: bool = False
    encoding: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    vectors: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnchangedDocument:
    """A document that the store has as it is."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The file, or one part of it, is not usable, and why."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedImage:
    """The bytes of an image to keep; those of a document come before it."""

    data: bytes


PreparedPart: TypeAlias = PreparedDocument | PreparedImage | UnchangedDocument | Refusal
PartsByTask: TypeAlias = Generator[Iterator[PreparedPart], None, None]
"""The parts of each task, in the order of the tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparer:
    """How files are prepared. `embedder`: None if vectors are computed elsewhere, or not at all.

    `passwords`: of PDF files.
    """

    settings: Settings
    tokenizer: Tokenizer
    embedder: Embedder | None = None
    limits: Limits = field(default_factory=Limits)
    passwords: tuple[str, ...] = field(default=(), repr=False)

    def parts(self, task: Task, sandbox: Sandbox) -> Iterator[PreparedPart]:
        """Yield the parts of the file in order; `sandbox` reads formats that need a sandbox.

        Raises what the tokenizer and the embedder raise (`ExternalError`).
        """
        file = task.file
        try:
            data = read_file(file, self.limits)
            whole = file_hash(data, file, self.settings)
            if task.known.get(file.name) == whole:
                yield UnchangedDocument(id=file.name)
                return
        except (InvalidRequest, OSError) as error:
            yield Refusal(reason=error_reason(error))
            return
        options = ReadOptions(
            encoding=self.settings.encoding,
            passwords=self.passwords,
            images=self.settings.images,
        )
        found = load_file(data, file.path, self.limits, sandbox, options)
        del data
        while True:
            try:
                loaded = next(found, None)
            except InvalidRequest as error:
                yield Refusal(reason=error_reason(error))
                return
            if loaded is None:
                return
            part = self._prepare_part(task, loaded, whole)
            if isinstance(loaded, LoadedDocument) and isinstance(part, PreparedDocument):
                yield from (PreparedImage(data=image.data) for image in loaded.images)
            yield part

    def _prepare_part(
        self, task: Task, loaded: LoadedDocument | BadInput, whole: str
    ) -> PreparedPart:
        if isinstance(loaded, BadInput):
            return Refusal(reason=error_reason(loaded))
        try:
            document = build_document(loaded, task.file, whole, self.settings)
            if task.known.get(document.id) == document.content_hash:
                return UnchangedDocument(id=document.id)
            pieces, counts = build_chunks(
                loaded, document, self.settings, self.tokenizer, self.limits
            )
        except InvalidRequest as error:
            return Refusal(reason=error_reason(error))
        texts = [chunk.text for chunk in pieces]
        described, chunks = enrich_document(
            document, pieces, self.settings.enrich, self.tokenizer, self.settings.language
        )
        return PreparedDocument(
            document=described,
            chunks=chunks,
            encoding=loaded.encoding,
            left_out=loaded.left_out,
            has_own_summary=bool(document.summary),
            counts=tuple(counts),
            vectors=embed_texts(self.embedder, texts),
        )


class PrepareTask:
    """Prepares tasks in a worker process; its sandbox ends with the process."""

    def __init__(self, preparer: Preparer) -> None:
        self._preparer = preparer
        self._sandbox = Sandbox(preparer.limits)

    def __call__(self, task: Task) -> Iterator[PreparedPart]:
        """The parts of the file."""
        return self._preparer.parts(task, self._sandbox)


def refuse_failed(part: PreparedPart | FailedTask) -> PreparedPart:
    """The part; a refusal, if no worker could finish the file."""
    if isinstance(part, FailedTask):
        return Refusal(reason=f"could not be prepared: {part.reason}")
    return part


def embed_texts(
    embedder: Embedder | None, texts: Sequence[str], before_batch: Callable[[], None] | None = None
) -> Any:
    """The texts' vectors, shape (texts, dimensions), asked for in batches; None without one."""
    if embedder is None or not texts:
        return None
    import numpy as np

    batches = []
    for i in range(0, len(texts), EMBED_BATCH):
        if before_batch is not None:
            before_batch()
        batches.append(np.asarray(embedder.embed(texts[i : i + EMBED_BATCH]), dtype=np.float32))
    return np.concatenate(batches)

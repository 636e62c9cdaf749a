"""Prepared documents that wait to be written, bounded in memory and in repeated work."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from foveate.ingest.document_task import EMBED_BATCH, PreparedDocument
from foveate.ingest.walk import File

MAX_CHUNKS, MAX_CHARACTERS = 4_096, 8 << 20
"""Chunks, and characters of documents, that wait at the most."""
MODEL_BATCH = 32
"""Documents that wait for a model at the most, and are written at once: its words are dear."""

FileDocument: TypeAlias = tuple[File, PreparedDocument]
"""A document and the file that it is from."""


@dataclass(slots=True, kw_only=True)
class WriteQueue:
    """Documents in their order. `at_once`: how many share a transaction.

    `describes`: a model writes about them; `embeds`: those without vectors get some.
    """

    at_once: int
    describes: bool = False
    embeds: bool = False
    parts: list[FileDocument] = field(default_factory=list)
    chunks: int = 0
    chunks_without_vectors: int = 0
    text: int = 0

    def add(self, file: File, part: PreparedDocument) -> None:
        """Take one more."""
        self.parts.append((file, part))
        self.chunks += len(part.chunks)
        self.chunks_without_vectors += len(part.chunks) if part.vectors is None else 0
        self.text += len(part.document.text)

    def is_full(self) -> bool:
        """Whether enough waits to be described, embedded and written."""
        if (
            (self.embeds and self.chunks_without_vectors >= EMBED_BATCH)
            or self.chunks >= MAX_CHUNKS
            or self.text >= MAX_CHARACTERS
        ):
            return True
        if len(self.parts) < (MODEL_BATCH if self.describes else self.at_once):
            return False
        return self.describes or not self.embeds or not self.chunks_without_vectors

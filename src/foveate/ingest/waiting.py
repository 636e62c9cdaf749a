"""What is prepared and not written yet, and whether it is enough. Writes nothing.

Rules: memory has a bound, and so has the work that a killed run does again; how much waits is
known without looking at all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from foveate.ingest.one import BATCH, Prepared
from foveate.ingest.walk import File

CHUNKS, TEXT = 4_096, 8 << 20
"""Chunks, and characters of documents, that wait at the most."""
DESCRIBED = 32
"""Documents that wait for a model at the most, and are written at once: its words are dear."""


@dataclass(slots=True, kw_only=True)
class Waiting:
    """Documents in their order. `at_once`: how many are one transaction at the most.

    `describes`: whether a model is to say something of them; `embeds`: whether those without
    vectors get some. `bare`: chunks without vectors.
    """

    at_once: int
    describes: bool = False
    embeds: bool = False
    parts: list[tuple[File, Prepared]] = field(default_factory=list)
    chunks: int = 0
    bare: int = 0
    text: int = 0

    def add(self, file: File, part: Prepared) -> None:
        """Take one more."""
        self.parts.append((file, part))
        self.chunks += len(part.chunks)
        self.bare += len(part.chunks) if part.vectors is None else 0
        self.text += len(part.document.text)

    def is_time(self) -> bool:
        """Whether enough waits to be described, embedded and written."""
        if (self.embeds and self.bare >= BATCH) or self.chunks >= CHUNKS or self.text >= TEXT:
            return True
        if len(self.parts) < (DESCRIBED if self.describes else self.at_once):
            return False
        return self.describes or not self.embeds or not self.bare

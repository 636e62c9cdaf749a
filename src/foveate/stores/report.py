"""A store's figures, and the findings of a check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """A store in figures. `bytes`: part → bytes on disk, empty for a caller with principals."""

    documents: int
    chunks: int
    vectors: int
    embedder: str
    dimensions: int
    schema: int
    state_root: str
    bytes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding and its part: file, rows, words, vectors, state or checksums."""

    part: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a check covered, and its findings. `state_root`: computed from the rows."""

    documents: int = 0
    chunks: int = 0
    state_root: str = ""
    findings: tuple[Finding, ...] = ()

"""Golden cases: a question, its candidates, and the evidence that its context should hold.

One JSON object a line, in a file that may be gzip:

    {"id", "dataset", "question", "answers": [...],
     "chunks": [{"id", "doc_id", "source", "title", "sequence", "start", "text", "score",
                 "is_gold"}],
     "evidence": [{"doc_id", "text", "chunk_ids": [...]}]}

`start` counts characters in the document and is 0 if a chunk is a passage of its own. Keys that are
not listed are passed over. Strict about those that are: what is missing, of another type or
contradicts itself is refused with file, line and field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from foveate.core.typed import NonBlank
from foveate.core.types import Candidate, Chunk

Progress = Callable[[int, int, str], None]
"""Called after each piece of work: done, in all, what is at work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One candidate of a case, as the retriever gave it."""

    id: NonBlank
    doc_id: NonBlank
    text: str
    score: float
    source: str = ""
    title: str = ""
    sequence: int = 0
    start: int | None = None
    is_gold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A text that answers the question, or a part of it."""

    text: NonBlank
    doc_id: str = ""
    chunk_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question of a golden set. `hash` is that of the record as it stands in its file."""

    id: NonBlank
    dataset: NonBlank
    question: NonBlank
    chunks: tuple[Passage, ...]
    evidence: tuple[Evidence, ...]
    answers: tuple[str, ...] = ()
    hash: str = ""

    def candidates(self) -> tuple[Candidate, ...]:
        """The candidates as `assemble` takes them; offsets only where they can be true."""
        wrong = _contradictory_documents(self.chunks)
        return tuple(
            Candidate(
                chunk=chunk_from_passage(passage, placed=passage.doc_id not in wrong),
                score=passage.score,
            )
            for passage in self.chunks
        )


def chunk_from_passage(passage: Passage, *, placed: bool = True) -> Chunk:
    """The passage as a chunk; without offsets unless it is `placed`."""
    start = passage.start if placed else None
    return Chunk(
        id=passage.id,
        document_id=passage.doc_id,
        source=passage.source,
        title=passage.title,
        sequence=passage.sequence,
        text=passage.text,
        start=start,
        end=None if start is None else start + len(passage.text),
    )


def _contradictory_documents(passages: Sequence[Passage]) -> frozenset[str]:
    """Documents of which several passages start at 0 with different texts."""
    beginnings: dict[str, list[str]] = {}
    for passage in passages:
        if passage.start == 0:
            beginnings.setdefault(passage.doc_id, []).append(passage.text)
    return frozenset(
        document
        for document, texts in beginnings.items()
        if not all(map(max(texts, key=len).startswith, texts))
    )

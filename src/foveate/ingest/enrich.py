"""Summaries of documents and questions of chunks, taken from their own words.

A summary or question that the document brings stays. A summary uses only chunks that every reader
of the document may read. A question is made of its own chunk and stored with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption
from foveate.core.text.summary import extract_questions, summarise
from foveate.core.types import Chunk, Span
from foveate.ports import INDEXED_SUMMARY, QUESTIONS, Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrich:
    """What is added. `tokens`: limit of a summary. `most`: limit of questions of a chunk.

    `index_summaries`: a document's chunks are found by the words of its summary too.
    """

    summaries: bool = False
    questions: bool = False
    tokens: int = 80
    most: int = 5
    index_summaries: bool = False

    def __post_init__(self) -> None:
        """Refuse bounds that leave nothing."""
        for name in ("tokens", "most"):
            if getattr(self, name) < 1:
                raise BadOption(f"enrich: {name} is {getattr(self, name)}; it must be 1 or more")


def enrich_document(
    document: Document,
    chunks: Sequence[Chunk],
    how: Enrich,
    tokenizer: Tokenizer,
    language: str = "en",
) -> tuple[Document, tuple[Chunk, ...]]:
    """The document and its chunks with the wanted summary and questions that they lack."""
    if how.summaries and not document.summary:
        summary = summarise(
            document.text,
            tokenizer.count,
            tokens=how.tokens,
            language=language,
            readable=_readable_spans(document, chunks),
        )
        document, chunks = with_summary(document, chunks, summary)
    if how.index_summaries and document.summary:
        chunks = [_with_indexed_summary(chunk, document.summary) for chunk in chunks]
    if how.questions and QUESTIONS not in document.metadata:
        asked = (
            extract_questions(
                chunk.text,
                title=document.title,
                section=chunk.section,
                language=language,
                most=how.most,
            )
            for chunk in chunks
        )
        chunks = tuple(with_questions(*pair) for pair in zip(chunks, asked, strict=True))
    return document, tuple(chunks)


def with_summary(
    document: Document, chunks: Sequence[Chunk], summary: str
) -> tuple[Document, tuple[Chunk, ...]]:
    """The document and its chunks with this summary, indexed where the one before was."""
    if not summary:
        return document, tuple(chunks)
    whole = replace(document, summary=summary)
    fresh = (replace(chunk, summary=summary) for chunk in chunks)
    return whole, tuple(
        _with_indexed_summary(chunk, summary) if INDEXED_SUMMARY in chunk.metadata else chunk
        for chunk in fresh
    )


def _with_indexed_summary(chunk: Chunk, summary: str) -> Chunk:
    return replace(chunk, metadata={**chunk.metadata, INDEXED_SUMMARY: summary})


def with_questions(chunk: Chunk, questions: Sequence[str]) -> Chunk:
    """The chunk with its questions, unless it has its own."""
    if not questions or QUESTIONS in chunk.metadata:
        return chunk
    return replace(chunk, metadata={**chunk.metadata, QUESTIONS: list(questions)})


def unrestricted_chunks(document: Document, chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks that every reader of the document may read."""
    readers = set(document.principals)
    return [
        chunk
        for chunk in chunks
        if not chunk.principals or (readers and readers <= set(chunk.principals))
    ]


def _readable_spans(document: Document, chunks: Sequence[Chunk]) -> list[Span] | None:
    """The ranges outside of chunks with fewer readers; None if all may be used."""
    known = {id(chunk) for chunk in unrestricted_chunks(document, chunks)}
    if len(known) == len(chunks):
        return None
    closed = [chunk for chunk in chunks if id(chunk) not in known]
    if any(chunk.start is None or chunk.end is None for chunk in closed):
        return []  # nobody knows which part of the text they are
    spans: list[Span] = []
    at = 0
    for start, end in sorted((chunk.start or 0, chunk.end or 0) for chunk in closed):
        spans.append((at, max(at, start)))
        at = max(at, end)
    return [*spans, (at, len(document.text))]

"""Which sources say what a block shows, of the chunks that were merged into its candidate.

A duplicate says a sentence if it has one with the same words of weight, the same turning words and
the same facts, in order. A document is named if its duplicates together say all that is shown: the
kept text may be fuller than a copy, and an extract may show what the copy does not have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foveate.core.renditions import full_rendition, rendition_chunks
from foveate.core.stages.dedup.exact import normalise
from foveate.core.stages.dedup.merge_sources import image_references
from foveate.core.text.sameness import statement
from foveate.core.text.sentences import sentence_spans
from foveate.core.types import Candidate, Chunk, Duplicate, Source, Span


def corroborating_sources(candidate: Candidate, language: str) -> tuple[Source, ...]:
    """The sources of the candidate's duplicates that say something shown, where all is said."""
    if not candidate.duplicates:
        return ()
    shown = candidate.shown or full_rendition(candidate)
    text = candidate.chunk.text
    every = sentence_spans(text, language)
    sentences = [span for span in every if _overlap([span], shown.spans)]
    images = image_references(rendition_chunks(candidate, shown))
    documents: dict[str, list[Duplicate]] = {}
    for duplicate in candidate.duplicates:
        documents.setdefault(duplicate.chunk.document_id, []).append(duplicate)
    named: list[Source] = []
    for duplicates in documents.values():
        said = [_said_spans(text, sentences, duplicate, language) for duplicate in duplicates]
        together = sorted(span for spans in said for span in spans)
        if any(text[a:b].strip() for a, b in _unsaid(shown.spans, together)):
            continue
        if images <= image_references(duplicate.chunk for duplicate in duplicates):
            pairs = zip(duplicates, said, strict=True)
            named += [_source(one.chunk) for one, own in pairs if _overlap(own, shown.spans)]
    return tuple(named)


def _said_spans(
    text: str, sentences: Sequence[Span], duplicate: Duplicate, language: str
) -> list[Span]:
    """The ranges of the text that the duplicate says: its whole span, or some of the sentences."""
    start, end = duplicate.span
    mine, theirs = text[start:end], duplicate.chunk.text
    if mine == theirs or normalise(mine) == normalise(theirs):
        return [duplicate.span]
    said = {theirs[a:b] for a, b in sentence_spans(theirs, language)}
    own = [(a, b) for a, b in sentences if start <= a and b <= end]
    found = [(a, b) for a, b in own if text[a:b] in said]
    if len(found) < len(own):
        others = {statement(sentence) for sentence in said.difference(text[a:b] for a, b in own)}
        found += [(a, b) for a, b in own if statement(text[a:b]) in others]
    return found


def _unsaid(shown: Sequence[Span], said: Sequence[Span]) -> Iterator[Span]:
    """What is left of the ranges shown without those said, which are sorted."""
    for at, end in shown:
        for first, last in said:
            if at < first:
                yield at, min(first, end)
            at = max(at, last)  # noqa: PLW2901
        if at < end:
            yield at, end


def _overlap(some: Sequence[Span], others: Sequence[Span]) -> bool:
    return any(a < end and start < b for a, b in some for start, end in others)


def _source(chunk: Chunk) -> Source:
    return Source(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        source=chunk.source,
        title=chunk.title,
        page=chunk.page,
    )

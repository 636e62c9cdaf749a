"""Candidates, chosen and ordered → blocks: numbered, made harmless, with their places kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foveate.core.pack.scale import whole
from foveate.core.text.sanitise import sanitise
from foveate.core.types import Block, Candidate, Decision, Recipe, Rendition, Span


def blocks_of(candidates: Sequence[Candidate], recipe: Recipe) -> tuple[Block, ...]:
    """One block a candidate; markers count blocks, or documents where the recipe cites those."""
    blocks = []
    documents: dict[str, int] = {}
    for candidate in candidates:
        by_document = recipe.cite == "document"
        key = candidate.document_id if by_document else candidate.id
        marker = documents.setdefault(key, len(documents) + 1)
        blocks.append(block_of(candidate, marker, recipe))
    return tuple(blocks)


def block_of(candidate: Candidate, marker: int, recipe: Recipe) -> Block:
    """The candidate as it is about to be rendered."""
    chunk = candidate.chunk
    shown = candidate.shown or whole(candidate)
    return Block(
        marker=marker,
        text=sanitise(shown.text)[0],
        source=sanitise(chunk.source)[0],
        document_id=chunk.document_id,
        title=sanitise(chunk.title)[0],
        section=sanitise(chunk.section)[0],
        page=chunk.page,
        row=chunk.row,
        line=chunk.line,
        score=candidate.score,
        rendition=shown.kind,
        kind="supplement" if candidate.origin == "supplement" else "chunk",
        metadata=chosen_metadata(chunk.metadata, recipe.include_metadata),
        chunk_ids=shown_ids(candidate, shown),
        document_spans=document_spans(candidate, shown),
        corroborating=candidate.corroborating,
    )


def chosen_metadata(
    metadata: Mapping[str, Any], names: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """The metadata that the header shows, in the order that the recipe names it."""
    return tuple((name, sanitise(str(metadata[name]))[0]) for name in names if name in metadata)


def shown_ids(candidate: Candidate, shown: Rendition) -> tuple[str, ...]:
    """The chunks of which something is shown."""
    if not candidate.parts:
        return (candidate.id,)
    return tuple(
        dict.fromkeys(
            part.chunk.id
            for part in candidate.parts
            if any(a < part.span[1] and part.span[0] < b for a, b in shown.spans)
        )
    )


def document_spans(candidate: Candidate, shown: Rendition) -> tuple[Span, ...]:
    """Ranges of the document that are shown; none where the chunk's offsets cannot be true."""
    chunk = candidate.chunk
    if chunk.start is None or (
        chunk.end is not None and chunk.end - chunk.start != len(chunk.text)
    ):
        return ()
    return tuple((chunk.start + a, chunk.start + b) for a, b in shown.spans)


def sanitising_decisions(candidates: Sequence[Candidate]) -> tuple[Decision, ...]:
    """On the record: which texts had invisible or control characters, and how many of each."""
    found = []
    for candidate in candidates:
        shown = candidate.shown or whole(candidate)
        record = sanitise(shown.text)[1]
        if record:
            found.append(
                Decision(
                    chunk_id=candidate.id,
                    action="changed",
                    reason="sanitised",
                    numbers=dict(sorted(record.items())),
                )
            )
    return tuple(found)

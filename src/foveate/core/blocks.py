"""Candidates, chosen and ordered → blocks: numbered, made harmless, with their places kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from foveate.core.pack.scale import whole
from foveate.core.text.sanitise import sanitise
from foveate.core.types import Block, Candidate, Chunk, Decision, Recipe, Rendition, Span


def blocks_of(candidates: Sequence[Candidate], recipe: Recipe) -> tuple[Block, ...]:
    """One block a candidate; markers count blocks, or documents where the recipe cites those.

    Side knowledge is not citable and has no marker (0).
    """
    blocks = []
    documents: dict[str, int] = {}
    for candidate in candidates:
        key = candidate.document_id if recipe.cite == "document" else candidate.id
        if candidate.origin == "supplement":
            marker = 0
        else:
            marker = documents.setdefault(key, len(documents) + 1)
        blocks.append(block_of(candidate, marker, recipe))
    return tuple(blocks)


def block_of(candidate: Candidate, marker: int, recipe: Recipe) -> Block:
    """The candidate as it is about to be rendered."""
    shown = candidate.shown or whole(candidate)
    chunks = shown_chunks(candidate, shown)
    chunk = chunks[0]
    return Block(
        marker=marker,
        text=sanitise(shown.text)[0],
        source=sanitise(chunk.source)[0],
        document_id=chunk.document_id,
        title=sanitise(chunk.title)[0],
        section=sanitise(chunk.section)[0],
        page=chunk.page,
        pages=tuple(sorted({c.page for c in chunks if c.page is not None})),
        row=chunk.row,
        line=chunk.line,
        score=candidate.score,
        rendition=shown.kind,
        kind="supplement" if candidate.origin == "supplement" else "chunk",
        metadata=chosen_metadata(chunk.metadata, recipe.include_metadata),
        chunk_ids=tuple(c.id for c in chunks),
        document_spans=document_spans(candidate, shown),
        corroborating=candidate.corroborating,
    )


def chosen_metadata(
    metadata: Mapping[str, Any], names: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """The metadata that the header shows, in the order that the recipe names it."""
    return tuple((name, sanitise(_said(metadata[name]))[0]) for name in names if name in metadata)


def _said(value: Any) -> str:
    """A metadata value in one spelling, whatever order its keys came in."""
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return str(value)


def shown_chunks(candidate: Candidate, shown: Rendition) -> tuple[Chunk, ...]:
    """The chunks of which something is shown, as they are read; at least one."""
    found = (
        part.chunk
        for part in candidate.parts
        if any(a < part.span[1] and part.span[0] < b for a, b in shown.spans)
    )
    return tuple({chunk.id: chunk for chunk in found}.values()) or (candidate.chunk,)


def document_spans(candidate: Candidate, shown: Rendition) -> tuple[Span, ...]:
    """Ranges of the document that are shown; none where the chunk's offsets cannot be true."""
    start = _start(candidate.chunk)
    if start is not None:
        return tuple((start + a, start + b) for a, b in shown.spans)
    found: list[Span] = []
    for part in candidate.parts:
        offset = _start(part.chunk)
        if offset is None:
            continue
        first, last = part.span
        cuts = ((max(a, first), min(b, last)) for a, b in shown.spans)
        found += ((offset + a - first, offset + b - first) for a, b in cuts if a < b)
    return tuple(found)


def _start(chunk: Chunk) -> int | None:
    """Where the chunk starts in its document, unless its offsets cannot be true."""
    if chunk.start is None or chunk.end is None or chunk.end - chunk.start == len(chunk.text):
        return chunk.start
    return None


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

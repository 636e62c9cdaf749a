"""Candidates, chosen and ordered → blocks: numbered, made harmless, with their places kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from foveate.core.checks import check_text
from foveate.core.corroborate import sources_of
from foveate.core.made import maker
from foveate.core.metadata import plain as plain_metadata
from foveate.core.pack.scale import whole
from foveate.core.text.profile import Written, profile
from foveate.core.text.sanitise import plain, sanitise
from foveate.core.types import (
    Block,
    Candidate,
    Chunk,
    Decision,
    Recipe,
    Rendition,
    Span,
    text_key,
)

made = maker(Block)
_NOTHING: tuple[Span, ...] = ((0, 0),)


def blocks_of(
    candidates: Sequence[Candidate],
    recipe: Recipe,
    texts: Sequence[Written] = (),
    summaries: Mapping[int, str] | None = None,
) -> tuple[Block, ...]:
    """One block a candidate; markers count blocks, or documents where the recipe cites those.

    Side knowledge is not citable and has no marker (0). `texts`: what is shown of each candidate,
    where it is known already; `summaries`: by place, where there is one.
    """
    texts = texts or [shown_text(candidate) for candidate in candidates]
    summaries = summaries or {}
    blocks = []
    documents: dict[str, int] = {}
    for place, (candidate, text) in enumerate(zip(candidates, texts, strict=True)):
        chunk = candidate.chunk
        key = chunk.document_id if recipe.cite == "document" else chunk.id
        if candidate.origin == "supplement":
            marker = 0
        else:
            marker = documents.setdefault(key, len(documents) + 1)
        blocks.append(block_of(candidate, text, marker, recipe, summaries.get(place, "")))
    return tuple(blocks)


def block_of(
    candidate: Candidate, text: Written, marker: int, recipe: Recipe, summary: str = ""
) -> Block:
    """The candidate as it is about to be rendered."""
    shown = candidate.shown or whole(candidate)
    chunks = shown_chunks(candidate, shown)
    chunk, names = chunks[0], recipe.include_metadata
    return made(
        marker=marker,
        text=clean(text)[0],
        source=plain(chunk.source),
        document_id=chunk.document_id,
        title=plain(chunk.title),
        section=plain(chunk.section),
        page=chunk.page,
        pages=_pages(chunks) if len(chunks) > 1 else () if chunk.page is None else (chunk.page,),
        row=chunk.row,
        line=chunk.line,
        score=candidate.score,
        rendition=shown.kind,
        kind="supplement" if candidate.origin == "supplement" else "chunk",
        summary=summary,
        metadata=chosen_metadata(chunk.metadata, names) if names else (),
        chunk_ids=tuple([c.id for c in chunks]),
        document_spans=document_spans(candidate, shown),
        corroborating=sources_of(candidate, [c.id for c in chunks]),
    )


def _pages(chunks: Sequence[Chunk]) -> tuple[int, ...]:
    pages = {c.page for c in chunks if c.page is not None}
    return tuple(sorted(pages)) if len(pages) > 1 else tuple(pages)


def shown_text(candidate: Candidate) -> Written:
    """What is shown of the candidate, as it came, and its hash."""
    chunk, shown = candidate.chunk, candidate.shown
    if shown is None or shown.text is chunk.text or shown.text == chunk.text:
        return Written(chunk.text, chunk.content_hash)
    return Written(shown.text, text_key(shown))


def clean(shown: Written) -> tuple[str, Mapping[str, int]]:
    """The text without hidden characters, and how many of them there were; looked for once."""
    own = profile(shown.key)
    found = own.sanitised
    if found is None:
        text, record = sanitise(shown.text)
        found = own.sanitised = (text if record else None, record)
    return (shown.text if found[0] is None else found[0]), found[1]


def chosen_metadata(
    metadata: Mapping[str, Any], names: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """The metadata that the header shows, in the order that the recipe names it."""
    if not names:
        return ()
    return tuple((name, plain(_said(metadata[name]))) for name in names if name in metadata)


def _said(value: Any) -> str:
    """A metadata value in one spelling, whatever order its keys came in."""
    if isinstance(value, dict | list | tuple):
        value = plain_metadata({"": value})[""]
        text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    else:
        text = str(value)
    check_text("metadata", text)
    return text


def shown_chunks(candidate: Candidate, shown: Rendition) -> tuple[Chunk, ...]:
    """The chunks of which something is shown, as they are read; at least one."""
    if not candidate.parts:
        return (candidate.chunk,)
    chunks: dict[str, Chunk] = {}
    first, last = (shown.spans or _NOTHING)[0]
    for part in candidate.parts:
        start, end = part.span
        seen = first < end and start < last
        if seen or any(a < end and start < b for a, b in shown.spans):
            chunks[part.chunk.id] = part.chunk
    return tuple(chunks.values()) or (candidate.chunk,)


def document_spans(candidate: Candidate, shown: Rendition) -> tuple[Span, ...]:
    """Ranges of the document that are shown; none where the chunk's offsets cannot be true."""
    start = _start(candidate.chunk)
    if start is not None:
        return tuple([(start + a, start + b) for a, b in shown.spans])
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


def sanitising_decisions(
    candidates: Sequence[Candidate], texts: Sequence[Written]
) -> tuple[Decision, ...]:
    """On the record: which texts had invisible or control characters, and how many of each."""
    found = []
    for candidate, text in zip(candidates, texts, strict=True):
        record = clean(text)[1]
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

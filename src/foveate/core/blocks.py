"""Candidates, chosen and ordered → blocks: numbered, made harmless, with their places kept."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, chain
from types import NoneType
from typing import Any, TypeGuard, TypeVar

from foveate.core.checks import MAX_INTEGER, check_string, is_encodable, plain_metadata
from foveate.core.grouping import document_offset
from foveate.core.renditions import full_rendition, rendition_chunks
from foveate.core.request import Recipe
from foveate.core.seal import content_hash
from foveate.core.text.profile import HashedText
from foveate.core.text.sanitise import sanitise
from foveate.core.types import (
    SECTION_PLACES,
    Block,
    Candidate,
    Chunk,
    Citation,
    Decision,
    Rendition,
    Source,
    Span,
)

_PLACE_TYPES = ([int, int, str], [int, NoneType, str])


def blocks_from_candidates(
    candidates: Sequence[Candidate],
    recipe: Recipe,
    texts: Sequence[HashedText] = (),
    summaries: Mapping[int, str] | None = None,
) -> tuple[Block, ...]:
    """One block a candidate; markers count blocks, or documents if the recipe cites those.

    Supplements have marker 0. `texts` and `summaries` (by place): what is already known.
    """
    texts = texts or [rendition_text(candidate) for candidate in candidates]
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
        blocks.append(
            block_from_candidate(candidate, text, marker, recipe, summaries.get(place, ""))
        )
    return tuple(blocks)


def block_from_candidate(
    candidate: Candidate, text: HashedText, marker: int, recipe: Recipe, summary: str = ""
) -> Block:
    """The candidate as it is about to be rendered."""
    shown = candidate.shown or full_rendition(candidate)
    chunks = rendition_chunks(candidate, shown)
    chunk, names = chunks[0], recipe.include_metadata
    spans = document_spans(candidate, shown)
    places = _shown_places(chunks, _finder_of_shown(spans))
    sections = _unique_in_order([tuple([sanitise(path)[0] for _, path in places if path])])
    return Block(
        marker=marker,
        text=sanitise(text.text)[0],
        source=sanitise(chunk.source)[0],
        document_id=chunk.document_id,
        title=sanitise(chunk.title)[0],
        section=sanitise(places[0][1])[0],
        page=chunk.page,
        pages=tuple(sorted({c.page for c in chunks if c.page is not None})),
        row=places[0][0],
        line=_first_line(candidate, shown, chunk),
        score=candidate.score,
        scored=candidate.given_score is not None,
        rendition=shown.kind,
        kind="supplement" if candidate.origin == "supplement" else "chunk",
        summary=summary,
        metadata=select_metadata(chunk.metadata, names) if names else (),
        chunk_ids=tuple([c.id for c in chunks]),
        document_spans=spans,
        sections=sections,
    )


def _first_line(candidate: Candidate, shown: Rendition, chunk: Chunk) -> int | None:
    """The line of the document where what is shown of its first chunk begins."""
    if chunk.line is None or not shown.spans:
        return chunk.line
    first = next((part.span[0] for part in candidate.parts if part.chunk is chunk), 0)
    at = max(shown.spans[0][0] - first, 0)
    while chunk.text[at : at + 1].isspace():
        at += 1
    return chunk.line + chunk.text.count("\n", 0, at)


def _finder_of_shown(spans: Sequence[Span]) -> Callable[[int, int], bool]:
    """Tells of a range whether some of it is in these; fast, for both may be many."""
    ordered = sorted(spans)
    starts = [start for start, _ in ordered]
    reached = [*accumulate((end for _, end in ordered), max)]

    def is_shown(start: int, end: int) -> bool:
        before = bisect_left(starts, end)
        return before > 0 and reached[before - 1] > start

    return is_shown


def _shown_places(
    chunks: Sequence[Chunk], is_shown: Callable[[int, int], bool]
) -> list[tuple[int | None, str]]:
    """Row and section of each of the chunks, or of those of its sections of which some is shown."""
    found: list[tuple[int | None, str]] = []
    for chunk in chunks:
        known, offset = chunk.metadata.get(SECTION_PLACES), document_offset(chunk)
        if offset is None or not _are_places(known):
            found.append((chunk.row, chunk.section))
            continue
        ends = [*(offset + start for start, _, _ in known[1:]), offset + len(chunk.text)]
        for (start, row, path), end in zip(known, ends, strict=True):
            if is_shown(offset + start, end):
                found.append((row, path))
    return found or [(chunks[0].row, chunks[0].section)]


def _are_places(known: object) -> TypeGuard[Sequence[tuple[int, int | None, str]]]:
    """Whether the metadata are ours; anybody may use the key."""
    return isinstance(known, list | tuple) and bool(known) and all(map(_is_place, known))


def _is_place(place: object) -> bool:
    """Whether row and section are such as a chunk may have."""
    if not isinstance(place, list | tuple) or [*map(type, place)] not in _PLACE_TYPES:
        return False
    _, row, path = place
    return (row is None or 0 <= row <= MAX_INTEGER) and is_encodable(path)


def rendition_text(candidate: Candidate) -> HashedText:
    """What is shown of the candidate, as it came, and its hash."""
    chunk, shown = candidate.chunk, candidate.shown
    if shown is None or shown.text is chunk.text or shown.text == chunk.text:
        return HashedText(chunk.text, chunk.content_hash)
    return HashedText(shown.text, content_hash(shown.text))


def select_metadata(
    metadata: Mapping[str, Any], names: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """The metadata that the header shows, in the order that the recipe names it."""
    if not names:
        return ()
    return tuple(
        (name, sanitise(_format_metadata_value(metadata[name]))[0])
        for name in names
        if name in metadata
    )


def _format_metadata_value(value: Any) -> str:
    if not isinstance(value, str | int | float | None):
        value = plain_metadata({"": value})[""]
    if isinstance(value, dict | list):
        text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    else:
        text = str(value)
    check_string("metadata", text)
    return text


def document_spans(candidate: Candidate, shown: Rendition) -> tuple[Span, ...]:
    """Ranges of the document that are shown; none where the chunk's offsets cannot be true."""
    start = document_offset(candidate.chunk)
    if start is not None:
        return tuple([(start + a, start + b) for a, b in shown.spans])
    found: list[Span] = []
    for part in candidate.parts:
        offset = document_offset(part.chunk)
        if offset is None:
            continue
        first, last = part.span
        cuts = ((max(a, first), min(b, last)) for a, b in shown.spans)
        found += ((offset + a - first, offset + b - first) for a, b in cuts if a < b)
    return tuple(found)


def sanitising_decisions(
    candidates: Sequence[Candidate], texts: Sequence[HashedText]
) -> tuple[Decision, ...]:
    """On the record: which texts had invisible or control characters, and how many of each."""
    found = []
    for candidate, text in zip(candidates, texts, strict=True):
        record = sanitise(text.text)[1]
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


SNIPPET_LENGTH = 200  # characters

T = TypeVar("T")


def citations_from_blocks(
    blocks: Sequence[Block], label: Callable[[Block], str]
) -> tuple[Citation, ...]:
    """One entry a marker, in marker order; supplements are not citable."""
    by_marker: dict[int, list[Block]] = {}
    for block in blocks:
        if block.kind == "chunk":
            by_marker.setdefault(block.marker, []).append(block)
    return tuple(
        _citation_from_blocks(by_marker[n], label(by_marker[n][0])) for n in sorted(by_marker)
    )


def _citation_from_blocks(blocks: Sequence[Block], label: str) -> Citation:
    first = blocks[0]
    return Citation(
        marker=first.marker,
        label=label,
        source=first.source,
        title=first.title,
        document_id=first.document_id,
        chunk_ids=_unique_in_order([b.chunk_ids for b in blocks]),
        page=first.page,
        pages=tuple(sorted(_unique_in_order([b.pages for b in blocks]))),
        section=first.section,
        row=first.row,
        line=first.line,
        document_spans=tuple(chain.from_iterable([b.document_spans for b in blocks])),
        context_spans=tuple([b.span for b in blocks]),
        snippet=first.text[:SNIPPET_LENGTH],
        corroborating=_shared_sources(blocks),
        sections=_unique_in_order([b.sections for b in blocks]),
    )


def _shared_sources(blocks: Sequence[Block]) -> tuple[Source, ...]:
    """The corroborating sources of documents that say what each of the blocks shows."""
    documents = [{source.document_id for source in b.corroborating} for b in blocks]
    shared = set.intersection(*documents)
    sources = _unique_in_order([b.corroborating for b in blocks])
    return tuple([source for source in sources if source.document_id in shared])


def _unique_in_order(lists: list[tuple[T, ...]]) -> tuple[T, ...]:
    if len(lists) == 1:
        (only,) = lists
        return only if len(only) <= 1 else tuple(dict.fromkeys(only))
    return tuple(dict.fromkeys(chain.from_iterable(lists)))

"""What of a candidate is shown: its full text, the chunks seen in it, their other sources."""

from __future__ import annotations

from collections.abc import Collection

from foveate.core.types import Candidate, Chunk, Rendition, RenditionKind, Source, Span

_EMPTY_SPANS: tuple[Span, ...] = ((0, 0),)


def full_rendition(candidate: Candidate) -> Rendition:
    """The candidate in full; `stripped` where stitching took a repeat out of it."""
    text = candidate.chunk.text
    kind: RenditionKind = "verbatim"
    if candidate.parts and sum([p.span[1] - p.span[0] for p in candidate.parts]) > len(text):
        kind = "stripped"
    return Rendition(kind=kind, text=text, spans=((0, len(text)),))


def rendition_chunks(candidate: Candidate, shown: Rendition) -> tuple[Chunk, ...]:
    """The chunks of which something is shown, as they are read; at least one."""
    if not candidate.parts:
        return (candidate.chunk,)
    chunks: dict[str, Chunk] = {}
    first, last = (shown.spans or _EMPTY_SPANS)[0]
    for part in candidate.parts:
        start, end = part.span
        seen = first < end and start < last
        if seen or any(a < end and start < b for a, b in shown.spans):
            chunks[part.chunk.id] = part.chunk
    return tuple(chunks.values()) or (candidate.chunk,)


def corroborating_sources(candidate: Candidate, shown: Collection[str]) -> tuple[Source, ...]:
    """The candidate's corroborating sources, but for those of chunks that are not among `shown`."""
    if not candidate.corroborating or not candidate.parts:
        return candidate.corroborating
    own: set[Source] = set()
    others: set[Source] = set()
    for part in candidate.parts:
        (own if part.chunk.id in shown else others).update(part.corroborating)
    return tuple([source for source in candidate.corroborating if source not in others - own])

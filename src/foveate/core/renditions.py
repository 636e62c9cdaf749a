"""What of a candidate is shown: its full text, the chunks seen in it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from foveate.core.text.profile import text_profile
from foveate.core.text.shapes.gaps import join_spans, spans_within
from foveate.core.text.shapes.shape import Counted, Shape
from foveate.core.types import (
    TABLE_NAMES,
    Candidate,
    Chunk,
    Part,
    Rendition,
    RenditionKind,
    Span,
)


def full_rendition(candidate: Candidate) -> Rendition:
    """The candidate in full; `stripped` where stitching took a repeat out of it."""
    text = candidate.chunk.text
    kind: RenditionKind = "verbatim"
    if candidate.parts and sum([p.span[1] - p.span[0] for p in candidate.parts]) > len(text):
        kind = "stripped"
    return Rendition(kind=kind, text=text, spans=((0, len(text)),))


def shapes_of(chunk: Chunk, parts: Sequence[Part] = ()) -> tuple[Shape, ...]:
    """The shapes of the chunk's text, looked for once.

    A table that the chunk begins with has no names where the metadata say that those are in an
    earlier chunk; likewise with each of the `parts`, if it is a passage.
    """
    kept = text_profile(chunk.content_hash)
    if kept.shapes is None:
        from foveate.core.text.shapes.strings import read_shapes

        kept.shapes = read_shapes(chunk.text)
    texts = [(p.chunk, p.span) for p in parts] or [(chunk, (0, len(chunk.text)))]
    bounds = [span for part, span in texts if TABLE_NAMES in part.metadata]
    if not bounds:
        return kept.shapes
    found = list(kept.shapes)
    for start, end in bounds:
        n = bisect_left(found, start, key=lambda shape: shape.start)
        is_within = n < len(found) and found[n].start < end
        if is_within and not chunk.text[start : found[n].start].strip():
            found[n] = found[n].without_names()
    return tuple(found)


def join_chunk_spans(
    chunk: Chunk, spans: Sequence[Span], parts: Sequence[Part] = ()
) -> tuple[str, tuple[Span, ...]]:
    """Spans of the chunk as one text; in gaps, records, rows, lines and turns are counted.

    Rows before prose that comes first are not counted: the prose would be taken for the beginning
    of their table or list. `parts`: the chunks inside of it, if it is a passage or a piece of
    one: what is in none of them is not counted, and an end is cut unless the first, or the last, of
    those that are shown ends there.
    """
    shapes = shapes_of(chunk, parts)
    first = spans[0][0] if spans else 0
    if not any(shape.start <= first < shape.end for shape in shapes):
        shapes = tuple([shape for shape in shapes if shape.start > first])
    counted = [counted for shape in shapes for counted in shape.counted]
    if parts:
        held = parts[0].span[0], max(part.span[1] for part in parts)
        counted = [Counted(noun, spans_within(spans, *held)) for noun, spans in counted]
    shown = [part.span for part in _shown_parts(parts, spans)]
    whole = (min(a for a, _ in shown), max(b for _, b in shown)) if shown else None
    return join_spans(chunk.text, spans, counted, whole)


def rendition_chunks(candidate: Candidate, shown: Rendition) -> tuple[Chunk, ...]:
    """The chunks of which something is shown, as they are read; at least one."""
    if not candidate.parts:
        return (candidate.chunk,)
    chunks = {p.chunk.id: p.chunk for p in _shown_parts(candidate.parts, shown.spans)}
    return tuple(chunks.values()) or (candidate.chunk,)


def _shown_parts(parts: Sequence[Part], spans: Sequence[Span]) -> list[Part]:
    """The parts of which the spans show something."""
    return [p for p in parts if any(a < p.span[1] and p.span[0] < b for a, b in spans)]

"""A passage in part: its best chunks, when all of it does not fit.

Stitching must never cost evidence: a passage that is too large would take its best chunk with it.
So a passage can also be shown as fewer of its chunks, whole ones, the best-scored first.
"""

from __future__ import annotations

from functools import lru_cache

from foveate.core.renditions import join_chunk_spans
from foveate.core.text.profile import TextPiece, text_profile
from foveate.core.types import Candidate, Part, Rendition, Span, content_hash, set_rendition_hash

SHARES = (0.75, 0.5, 0.25)


def pieces(candidate: Candidate) -> tuple[Rendition, ...]:
    """The passage without its least chunks, fullest first, down to its best one; or nothing."""
    parts = candidate.parts
    if len(parts) < 2:
        return ()
    order = sorted(range(len(parts)), key=lambda i: (-parts[i].score, i))
    masses = [_mass(part) for part in parts]
    total, length = sum(masses), len(candidate.chunk.text)
    ways = []
    for n in _numbers(len(parts)):
        chosen = sorted(order[:n])
        text, ranges, key = _shown(candidate, tuple(sorted([parts[i].span for i in chosen])))
        if len(text) < length:
            value = min(sum([masses[i] for i in chosen]) / total, 1.0)
            ways.append(
                set_rendition_hash(
                    Rendition(kind="extract", text=text, spans=ranges, value=value), key
                )
            )
    return tuple(ways)


@lru_cache(maxsize=256)
def _numbers(n: int) -> tuple[int, ...]:
    """How many parts to show: all but one, then fewer, each number once."""
    numbers = (n - 1, *(int(n * share) for share in SHARES), 1)
    return tuple(sorted({number for number in numbers if number > 0}, reverse=True))


def _shown(candidate: Candidate, spans: tuple[Span, ...]) -> TextPiece:
    """These spans as one text (nested ones are merged); kept with the passage's content hash."""
    known = text_profile(candidate.chunk.content_hash)
    piece = known.pieces.get(spans)
    if piece is None:
        text, ranges = join_chunk_spans(candidate.chunk, spans, candidate.parts)
        piece = TextPiece(text, ranges, content_hash(text))
        known.pieces[spans] = piece
    return piece


def _mass(part: Part) -> float:
    """What a part counts for: its score, and something where that is nothing."""
    return max(part.score, 0.0) + 1e-6 * max(part.span[1] - part.span[0], 1)

"""A passage in part: its best chunks, when all of it does not fit.

Stitching must never cost evidence: a passage that is too large would take its best chunk with it.
So a passage can also be shown as fewer of its chunks, whole ones, the best-scored first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foveate.core.made import maker
from foveate.core.text.salience import joined
from foveate.core.types import Candidate, Part, Rendition

SHARES = (0.75, 0.5, 0.25)

shorter = maker(Rendition)


def pieces(candidate: Candidate) -> tuple[Rendition, ...]:
    """The passage without its least chunks, fullest first, down to its best one; or nothing."""
    parts = candidate.parts
    if len(parts) < 2:
        return ()
    order = sorted(range(len(parts)), key=lambda i: (-parts[i].score, i))
    masses = [_mass(part) for part in parts]
    ways = (_shown(candidate, sorted(order[:n]), masses) for n in _numbers(len(parts)))
    return tuple(way for way in ways if len(way.text) < len(candidate.chunk.text))


def _numbers(n: int) -> Iterator[int]:
    """How many parts to show: all but one, then fewer, each number once."""
    numbers = (n - 1, *(int(n * share) for share in SHARES), 1)
    yield from sorted({number for number in numbers if number > 0}, reverse=True)


def _shown(candidate: Candidate, chosen: Sequence[int], masses: Sequence[float]) -> Rendition:
    spans = sorted([candidate.parts[i].span for i in chosen])  # nested ones are merged later
    text, ranges = joined(candidate.chunk.text, spans)
    value = sum([masses[i] for i in chosen]) / sum(masses)
    return shorter(kind="extract", text=text, spans=ranges, value=min(value, 1.0))


def _mass(part: Part) -> float:
    """What a part counts for: its score, and something where that is nothing."""
    return max(part.score, 0.0) + 1e-6 * max(part.span[1] - part.span[0], 1)

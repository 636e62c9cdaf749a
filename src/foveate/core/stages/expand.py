"""Expand: the chunks directly before and after a hit come in with it.

1. Only retrieved chunks bring neighbours, out of `request.neighbours`.
2. A neighbour's score is its hit's, less the share 1 - decay ** distance of its size.
   So are those of the chunks with the names of their columns and the signatures around their code.
3. A retrieved chunk keeps its own score; one that two hits reach takes the better.
4. A missing neighbour is no error. A forbidden one leaves no trace and no count.
5. The present order stays; neighbours follow, by rank.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from foveate.core.candidates import is_readable
from foveate.core.errors import BadOption
from foveate.core.grouping import head_places
from foveate.core.request import Request
from foveate.core.types import Candidate, Chunk, Decision, Step, rank

_MAX_WINDOW = 3
_ChunkPosition = tuple[str, int]
_Reach = tuple[Candidate, int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expand:
    """Bring in the chunks within `window` of each hit, at a score that falls with the distance.

    `window`: how many chunks before and after, 0 to 3. `decay`: the share of the hit's score
    that is left at each step away from it, 0 to 1.
    """

    window: int = 1
    decay: float = 0.5

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.window not in range(_MAX_WINDOW + 1):
            raise BadOption(f"expand: window is {self.window!r}; it must be 0 to {_MAX_WINDOW}")
        if not 0 <= self.decay <= 1:
            raise BadOption(f"expand: decay is {self.decay!r}; it must be 0 to 1")

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Add the neighbours; one decision `neighbour` for each, `by` the hit it came with."""
        if not self.window or not request.neighbours:
            return Step(candidates=candidates)
        reached = _best_reaches(candidates, self.window, self.decay)
        reached = _reaches_of_heads(request.neighbours, reached) | reached
        entered: dict[str, tuple[Candidate, Decision]] = {}
        for chunk in _absent_neighbours(candidates, request):
            reach = reached.get((chunk.document_id, chunk.sequence))
            if reach is not None and chunk.id not in entered:
                entered[chunk.id] = _build_neighbour(chunk, reach)
        new = sorted(entered.values(), key=lambda pair: rank(pair[0]))
        return Step(
            candidates=(*candidates, *(candidate for candidate, _ in new)),
            decisions=tuple(decision for _, decision in new),
        )


def decay_score(score: float, decay: float, distance: int) -> float:
    """The score of a neighbour `distance` chunks away from a hit with this score.

    >>> decay_score(0.8, 0.5, 1), decay_score(0.8, 0.5, 2), decay_score(-3.0, 0.5, 1)
    (0.4, 0.2, -4.5)
    """
    left = prod((decay,) * distance)
    if score >= 0:
        return score * left
    return max(score * (2.0 - left), -sys.float_info.max)


def _best_reaches(
    candidates: tuple[Candidate, ...], window: int, decay: float
) -> dict[_ChunkPosition, _Reach]:
    """For each place near a hit: the hit that reaches it best, how far off, and the score."""
    best: dict[_ChunkPosition, _Reach] = {}
    steps = [step for step in range(-window, window + 1) if step]
    for hit in sorted((c for c in candidates if c.origin == "retrieved"), key=rank):
        for sequence in _retrieved_sequences(hit):
            for step in steps:
                place = (hit.document_id, sequence + step)
                reach = (hit, abs(step), decay_score(hit.score, decay, abs(step)))
                if place not in best or _is_better(reach, best[place]):
                    best[place] = reach
        for head in head_places(hit.chunk):
            best.setdefault(head, (hit, 1, decay_score(hit.score, decay, 1)))
    return best


def _reaches_of_heads(
    neighbours: Iterable[Chunk], reached: Mapping[_ChunkPosition, _Reach]
) -> dict[_ChunkPosition, _Reach]:
    """For each place that a neighbour is never shown without: the reach of that neighbour."""
    found: dict[_ChunkPosition, _Reach] = {}
    for chunk in neighbours:
        reach = reached.get((chunk.document_id, chunk.sequence))
        for head in head_places(chunk):
            if reach is not None and (head not in found or _is_better(reach, found[head])):
                found[head] = reach
    return found


def _is_better(reach: _Reach, other: _Reach) -> bool:
    """Higher score, then nearer; on a tie the better-ranked hit, which came first, stays."""
    return (-reach[2], reach[1]) < (-other[2], other[1])


def _retrieved_sequences(hit: Candidate) -> list[int]:
    if not hit.parts:
        return [hit.chunk.sequence]
    return [part.chunk.sequence for part in hit.parts if part.origin == "retrieved"]


def _absent_neighbours(candidates: tuple[Candidate, ...], request: Request) -> Iterator[Chunk]:
    """Readable neighbours whose text is not there yet, in a merged copy either."""
    chunks = [candidate.chunk for candidate in candidates]
    chunks += [part.chunk for candidate in candidates for part in candidate.parts]
    ids = {chunk.id for chunk in chunks}
    ids.update(copy.chunk.id for candidate in candidates for copy in candidate.duplicates)
    same = {chunk.content_hash for chunk in chunks}
    allowed = frozenset(request.principals)
    for chunk in request.neighbours:
        known = chunk.content_hash in same
        if chunk.id not in ids and not known and is_readable(chunk.principals, allowed):
            yield chunk


def _build_neighbour(chunk: Chunk, reach: _Reach) -> tuple[Candidate, Decision]:
    hit, distance, score = reach
    decision = Decision(
        chunk_id=chunk.id,
        action="entered",
        reason="neighbour",
        by=hit.id,
        numbers={"distance": distance, "score": score},
    )
    return Candidate(chunk=chunk, score=score, origin="neighbour"), decision

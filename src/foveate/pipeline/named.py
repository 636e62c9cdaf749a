"""Candidates that hold an identifier of the question, which a search may rank low."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from foveate.core.fuse import RRF_K
from foveate.core.text.words import identifier_pattern
from foveate.core.types import Candidate, rank

FEW_HOLDERS = 20
COMMON_NAME = 0.2
"""An identifier in that share of the candidates, and in more than `FEW_HOLDERS`, names none."""
NAMED_DEPTH = 2_000
"""Chunks among which an identifier is looked for that no candidate holds: the index has its parts,
and those of an address are in many chunks."""


def holders(candidates: Sequence[Candidate], names: Sequence[str]) -> list[Candidate]:
    """Those that hold one of the names; best first, as they came."""
    pattern = identifier_pattern(names)
    return [c for c in candidates if pattern.search(c.chunk.text)]


def keep_named(
    candidates: Sequence[Candidate], found: Sequence[Candidate], limit: int
) -> tuple[Candidate, ...]:
    """The best `limit` candidates; those `found` by a name stay, instead of the last without one.

    They are one more ranking of the fusion, of the weight of both others: a chunk that one of these
    has first and the other does not know would be far down. Nothing comes first by a name that
    many hold.
    """
    if len(found) > max(FEW_HOLDERS, COMMON_NAME * len(candidates)):
        return tuple(candidates[:limit])
    named = [replace(c, score=c.score + 2 / (RRF_K + n)) for n, c in enumerate(found, start=1)]
    ids = {c.chunk.id for c in found}
    others = [c for c in candidates if c.chunk.id not in ids]
    kept = named[:limit] + others[: max(limit - len(named), 0)]
    return tuple(sorted(kept, key=rank))

"""Who else says what is shown: the sources of the copies of those chunks that are shown.

A passage knows the sources of all its chunks; a part of it may only claim those of its own.
"""

from __future__ import annotations

from collections.abc import Collection

from foveate.core.types import Candidate, Source


def corroborating_sources(candidate: Candidate, shown: Collection[str]) -> tuple[Source, ...]:
    """The candidate's corroborating sources, but for those of chunks that are not among `shown`."""
    if not candidate.corroborating or not candidate.parts:
        return candidate.corroborating
    own: set[Source] = set()
    others: set[Source] = set()
    for part in candidate.parts:
        (own if part.chunk.id in shown else others).update(part.corroborating)
    return tuple([source for source in candidate.corroborating if source not in others - own])

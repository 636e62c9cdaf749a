"""How likely each unit of a pool holds evidence: the traits, weighed, as one number.

A log-linear model: worth = exp(sum of weight x trait), as shares of the best unit's. A weight says
by how much a trait multiplies the odds. They were fitted to evidence found within budgets of 500 to
4,000 tokens over eight question sets, each set left out in turn, and rounded; DESIGN.md has what
each of them brings. Nothing in them knows a language or a set.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from foveate.core.evidence.pool import pool_of
from foveate.core.evidence.traits import traits
from foveate.core.types import Candidate, Sentences, rank

WEIGHTS = {
    "match": 6.4,
    "said": 5.3,
    "titled": 4.3,
    "around": 4.1,
    "beside": 1.8,
    "named": 5.5,
    "lead": 5.8,
    "chunk": 1.8,
    "peak": 3.0,
    "score": 1.0,
    "place": -0.64,
    "length": 0.27,
    "bulk": -0.83,
    "open": -1.6,
    "bridge": 3.05,
}


def sentences_of(
    candidates: Sequence[Candidate], query: str, language: str = "en"
) -> dict[str, Sentences]:
    """Each candidate's sentences with their worth, by candidate id; the best of all is worth 1."""
    pool = pool_of(sorted(candidates, key=rank), query, language)
    found = traits(pool)
    columns = [(weight, found[name]) for name, weight in WEIGHTS.items()]
    logs = [sum(w * values[u] for w, values in columns) for u in range(pool.units)]
    top = max(logs, default=0.0)
    worths = [exp(value - top) for value in logs]
    return {
        p.candidate.id: Sentences(
            spans=p.indexed.units.spans,
            leans=p.indexed.units.leans,
            worths=tuple(worths[p.first : p.first + len(p.indexed.lengths)]),
        )
        for p in pool.passages
    }

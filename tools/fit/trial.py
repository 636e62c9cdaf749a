"""The `default` recipe with other weights, through the pipeline that everyone calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from foveate import plugins
from foveate.core.evidence.worth import sentences_of
from foveate.core.stages.compress import Compress, over_budget
from foveate.core.types import Candidate, Decision, Recipe, Request, Step

Weights = tuple[tuple[str, float], ...]
"""Names and values: a part of a stage, which is hashed by how it is typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What `Compress(offer="sentences")` does where all candidates do not fit, by these weights."""

    weights: Weights

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Offer every candidate's sentences with their worth."""
        sizes = [request.gauge.chunk(c.chunk) for c in candidates]
        if not over_budget(candidates, sizes, request):
            return Step(candidates=candidates)
        found = sentences_of(candidates, request.query, request.language, dict(self.weights))
        with_some = [c for c in candidates if found[c.id].spans]
        return Step(
            candidates=tuple(
                replace(c, sentences=found[c.id]) if found[c.id].spans else c for c in candidates
            ),
            decisions=tuple(
                Decision(chunk_id=c.id, action="changed", reason="offered") for c in with_some
            ),
        )


def recipe_with(weights: Mapping[str, float], name: str) -> Recipe:
    """`default` but for the weights."""
    recipe = plugins.recipe("default")
    stages = tuple(
        Offer(weights=tuple(weights.items())) if isinstance(stage, Compress) else stage
        for stage in recipe.stages
    )
    return replace(recipe, name=name, stages=stages)

"""The `default` recipe with other weights, through the pipeline that everyone calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from foveate import plugins
from foveate.core.request import Recipe, Request
from foveate.core.stages.compress import Compress, characters_that_fit
from foveate.core.stages.compress.score import score_sentences
from foveate.core.types import Candidate, Step

Weights = tuple[tuple[str, float], ...]
"""Names and values: a part of a stage, which is hashed by how it is typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The recipe's own stage, which decides who gets sentences; they are then weighed anew."""

    stage: Compress
    weights: Weights

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Offer what it offers, by these weights."""
        step = self.stage(candidates, request)
        if step.candidates == candidates:
            return step
        sizes = [request.token_counter.count_passage(c) for c in candidates]
        room = characters_that_fit(candidates, sizes, request)
        found = score_sentences(
            candidates, request.query, request.language, dict(self.weights), room
        ).by_candidate
        offered = tuple(
            c if c.sentences is None else replace(c, sentences=found[c.id]) for c in step.candidates
        )
        return replace(step, candidates=offered)


def recipe_with(weights: Mapping[str, float], name: str) -> Recipe:
    """`default` but for the weights."""
    recipe = plugins.recipe("default")
    stages = tuple(
        Offer(stage=stage, weights=tuple(weights.items())) if isinstance(stage, Compress) else stage
        for stage in recipe.stages
    )
    return replace(recipe, name=name, stages=stages)

"""The closed lists that labels are taken from: what is on none of them is `other`.

A label's values are held in memory for good, and the text of a caller has no place in metrics.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from foveate.pipeline.observers import ASSEMBLY_STEPS, CALL_STEPS
from foveate.pipeline.reason_messages import REASON_SENTENCES

OTHER = "other"
INLINE = "inline"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
CORE_STEPS = ("input", "render", "cite", "seal", "smallest")
REASONS = frozenset({*REASON_SENTENCES, "stitched"})
BADGES = frozenset({"hybrid", "vector_only"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelNames:
    """What may stand in labels: recipes, stages and models by the names that operators know."""

    recipes: frozenset[str]
    steps: frozenset[str]
    models: frozenset[str]

    def recipe_label(self, name: str) -> str:
        """A recipe's name; `inline` for one that came with a request."""
        return name if name in self.recipes else INLINE

    def step_label(self, name: str) -> str:
        """A stage's or a call's name."""
        return name if name in self.steps else OTHER

    def model_label(self, name: str) -> str:
        """The name that requests give a model."""
        return name if name in self.models else OTHER


def build_label_names(
    recipes: Iterable[str], stages: Iterable[str], models: Iterable[str]
) -> LabelNames:
    """The lists of one service, made when it starts."""
    return LabelNames(
        recipes=frozenset(recipes),
        steps=frozenset((*stages, *CORE_STEPS, *CALL_STEPS, *ASSEMBLY_STEPS)),
        models=frozenset(models),
    )


def reason_label(name: str) -> str:
    """A decision's reason, as the trace and the page have it."""
    return name if name in REASONS else OTHER


def method_label(name: str) -> str:
    """An HTTP method."""
    return name if name in METHODS else OTHER


def badge_label(name: object) -> str:
    """How a search went."""
    return str(name) if name in BADGES else OTHER

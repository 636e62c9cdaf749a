"""The closed lists that labels are taken from: what is on none of them is `other`.

A label's values are held in memory for good, and the text of a caller has no place in metrics.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from foveate.around import CALLS, WHOLE
from foveate.words import SENTENCES

OTHER = "other"
INLINE = "inline"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OWN_STEPS = ("input", "render", "cite", "seal", "smallest")
REASONS = frozenset({*SENTENCES, "stitched"})
BADGES = frozenset({"hybrid", "vector_only"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What may stand in labels: recipes, stages and models by the names that operators know."""

    recipes: frozenset[str]
    steps: frozenset[str]
    models: frozenset[str]

    def recipe(self, name: str) -> str:
        """A recipe's name; `inline` for one that came with a request."""
        return name if name in self.recipes else INLINE

    def step(self, name: str) -> str:
        """A stage's or a call's name."""
        return name if name in self.steps else OTHER

    def model(self, name: str) -> str:
        """The name that requests give a model."""
        return name if name in self.models else OTHER


def names(recipes: Iterable[str], stages: Iterable[str], models: Iterable[str]) -> Names:
    """The lists of one service, made when it starts."""
    return Names(
        recipes=frozenset(recipes),
        steps=frozenset((*stages, *OWN_STEPS, *CALLS, *WHOLE)),
        models=frozenset(models),
    )


def reason(name: str) -> str:
    """A decision's reason, as the trace and the page have it."""
    return name if name in REASONS else OTHER


def method(name: str) -> str:
    """An HTTP method."""
    return name if name in METHODS else OTHER


def badge(name: object) -> str:
    """How a search went."""
    return str(name) if name in BADGES else OTHER

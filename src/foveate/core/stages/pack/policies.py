"""The policies of `pack`: which candidates are taken, in which order, and in which rendition.

A policy is given the candidates without supplements, and the means of taking them; it hands back
`Choices`, in which every candidate is chosen or left out with a reason. A policy of yours is a
function in the table `policies` of a subclass of `Pack`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from foveate.core.grouping import group_by_document
from foveate.core.stages.pack.budget_tracker import BudgetTracker
from foveate.core.stages.pack.choice import (
    Choices,
    Cut,
    RenditionOptions,
    by_score,
    documents,
    round_robin,
    take_groups,
    take_in_turn,
)
from foveate.core.stages.pack.evidence import Fill, pack_evidence
from foveate.core.stages.pack.value import pack_value
from foveate.core.types import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """How candidates are taken: what is left of the budget, and what of each may be shown.

    `cut` shortens what does not fit, where that is asked for; `cut_last`: only when all that fits
    whole is taken. `stop`: whether the first that does not fit ends it.
    """

    tracker: BudgetTracker
    renditions_of: RenditionOptions
    cut: Cut | None
    cut_last: bool
    stop: bool
    fill: Fill

    def take(self, order: Iterable[Candidate]) -> Choices:
        """Take each in turn, in the fullest rendition that fits."""

        def take(some: Sequence[Candidate], cut: Cut | None) -> Choices:
            return take_in_turn(some, self.tracker, self.renditions_of, cut, stop=self.stop)

        found = list(order)
        if not self.cut_last:
            return take(found, self.cut)
        whole = take(found, None)
        rest = take([c for c in found if c.chunk.id in whole.left_out], self.cut)
        return replace(rest, chosen=whole.chosen + rest.chosen)


Policy: TypeAlias = Callable[[list[Candidate], Taking], Choices]


def _value(pool: list[Candidate], taking: Taking) -> Choices:
    if any(candidate.sentences for candidate in pool):
        return pack_evidence(pool, taking.tracker, fill=taking.fill)
    return pack_value(pool, taking.tracker, taking.renditions_of)


def _documents(pool: list[Candidate], taking: Taking) -> Choices:
    return take_groups(
        documents(pool), taking.tracker, taking.renditions_of, taking.cut, stop=taking.stop
    )


def _groups(pool: list[Candidate], taking: Taking) -> Choices:
    return taking.take(candidate for group in group_by_document(pool) for candidate in group)


def _greedy(pool: list[Candidate], taking: Taking) -> Choices:
    return taking.take(by_score(pool))


def _interleaved(pool: list[Candidate], taking: Taking) -> Choices:
    return taking.take(round_robin(pool))


POLICIES: Mapping[str, Policy] = {
    "greedy": _greedy,
    "documents": _documents,
    "groups": _groups,
    "interleaved": _interleaved,
    "score_weighted": _greedy,
    "value": _value,
}
"""Name → policy."""
STOPPING = ("score_weighted", "documents")
"""The policies that stop at the first that does not fit, unless `overflow` says otherwise."""

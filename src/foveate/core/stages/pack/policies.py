"""The policies of `pack`: which candidates are taken, in which order, and in which rendition.

A policy is given the candidates without supplements, and the means of taking them; it hands back
`Choices`, in which every candidate is chosen or left out with a reason. A policy of yours is a
function in the table `policies` of a subclass of `Pack`. Each that goes through the candidates
differs only in the order and in what happens when one does not fit. Whatever the policy, one that
does not fit stops nothing while nothing is taken: the smallest budget that does is then that of
the smallest text, whichever is the best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeAlias

from foveate.core.grouping import group_by_document
from foveate.core.renditions import full_rendition
from foveate.core.stages.pack.budget_tracker import BudgetTracker
from foveate.core.stages.pack.choice import (
    Choice,
    Choices,
    RenditionOptions,
    documents,
    round_robin,
)
from foveate.core.stages.pack.evidence import Fill, pack_evidence
from foveate.core.stages.pack.value import pack_value
from foveate.core.types import Candidate, Rendition, rank

Cut: TypeAlias = Callable[[Candidate, BudgetTracker], Rendition | None]


@dataclass(slots=True, kw_only=True)
class Taking:
    """How candidates are taken: what is left of the budget, and what of each may be shown.

    `cut` shortens what does not fit, where that is asked for. `stop`: whether the first that does
    not fit beside others, or that is cut, ends it.
    """

    tracker: BudgetTracker
    renditions_of: RenditionOptions
    cut: Cut | None = None
    stop: bool = False
    fill: Fill = "budget"

    def take(self, order: Iterable[Candidate]) -> Choices:
        """Take each in turn, in the fullest rendition that fits."""
        choices = Choices()
        stopped = False
        for candidate in order:
            if stopped:
                choices.left_out[candidate.chunk.id] = "after_stop"
                continue
            if self._take_one(candidate, self.renditions_of(candidate), choices):
                continue
            short = self.cut(candidate, self.tracker) if self.cut else None
            is_cut = short is not None and self._take_one(candidate, (short,), choices)
            stopped = self.stop and bool(choices.chosen)
            if not is_cut:
                choices.left_out[candidate.chunk.id] = "over_budget"
        return choices

    def take_groups(self, groups: Sequence[Sequence[Candidate]]) -> Choices:
        """Take whole documents; the best one is cut down to what fits rather than lost."""
        choices = Choices()
        stopped = False
        for group in groups:
            if not stopped and self._take_whole(group, choices):
                continue
            if not stopped and not choices.chosen:
                part = replace(self, stop=False).take(group)
                choices.chosen += part.chosen
                choices.left_out |= part.left_out
            else:
                reason = "after_stop" if stopped else "document_over_budget"
                choices.left_out |= {candidate.chunk.id: reason for candidate in group}
            stopped = self.stop and bool(choices.chosen)
        return choices

    def _take_one(
        self, candidate: Candidate, renditions: Sequence[Rendition], choices: Choices
    ) -> bool:
        """Whether the budget holds one of the renditions: the first that it holds is taken."""
        for rendition in renditions:
            cost = self.tracker.afford(candidate, rendition)
            if cost is not None:
                self.tracker.take(candidate, cost)
                choices.chosen.append(Choice(candidate, rendition, cost))
                return True
        return False

    def _take_whole(self, group: Sequence[Candidate], choices: Choices) -> bool:
        """Whether every one of the group fits, in full or as compress offers it: all are taken."""
        before, spent = self.tracker, copy(self.tracker)
        spent.documents = {*before.documents}
        self.tracker, taken = spent, Choices()
        for candidate in group:
            most = candidate.shown
            offered = (most,) if most else (full_rendition(candidate), *candidate.renditions)
            if not self._take_one(candidate, offered, taken):
                self.tracker = before
                return False
        choices.chosen += taken.chosen
        return True


Policy: TypeAlias = Callable[[list[Candidate], Taking], Choices]


def _value(pool: list[Candidate], taking: Taking) -> Choices:
    if any(candidate.sentences for candidate in pool):
        return pack_evidence(pool, taking.tracker, fill=taking.fill)
    return pack_value(pool, taking.tracker, taking.renditions_of)


def _groups(pool: list[Candidate], taking: Taking) -> Choices:
    return taking.take(candidate for group in group_by_document(pool) for candidate in group)


def _greedy(pool: list[Candidate], taking: Taking) -> Choices:
    return taking.take(sorted(pool, key=rank))


POLICIES: Mapping[str, Policy] = {
    "greedy": _greedy,
    "documents": lambda pool, taking: taking.take_groups(documents(pool)),
    "groups": _groups,
    "interleaved": lambda pool, taking: taking.take(round_robin(pool)),
    "score_weighted": _greedy,
    "value": _value,
}
"""Name → policy."""
STOPPING = ("score_weighted", "documents")
"""The policies that stop at the first that does not fit, unless `overflow` says otherwise."""

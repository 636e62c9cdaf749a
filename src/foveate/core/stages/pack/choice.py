"""What packing policies hand back, and what is said of the candidates that they leave out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest

from foveate.core.stages.pack.budget_tracker import BudgetTracker
from foveate.core.token_counter import Cost
from foveate.core.types import Candidate, Decision, Number, Rendition, rank

RenditionOptions = Callable[[Candidate], Sequence[Rendition]]


@dataclass(frozen=True, slots=True)
class Choice:
    """One candidate, shown as one rendition, at a cost."""

    candidate: Candidate
    rendition: Rendition
    cost: Cost


@dataclass(slots=True)
class Choices:
    """All that a policy decided. `left_out` maps a candidate's id to the reason code.

    `waits`: by id, how many tokens would come in before it, and how many more room it would take
    if none would; None: candidates are taken one after another, each is the next.
    """

    chosen: list[Choice] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    waits: dict[str, tuple[int, int]] | None = None
    notes: dict[str, Number] = field(default_factory=dict)


def why_left_out(
    candidates: Sequence[Candidate], choices: Choices, tracker: BudgetTracker
) -> list[Decision]:
    """A decision for every candidate left out, with its counterfactual.

    `short_by`: the budget that many tokens larger, all else the same, would hold it. `likelier`:
    where sentences are chosen, about so many tokens of likelier ones come in before any of it.
    `lost_by`: the distance to the least score that was chosen ahead of it (`by`).
    """
    worst = max((choice.candidate for choice in choices.chosen), key=rank, default=None)
    decisions = []
    for candidate in candidates:
        own = candidate.chunk.id
        if own not in choices.left_out:
            continue
        cost = tracker.shortest(candidate)
        numbers: dict[str, Number] = {"tokens": cost.tokens}
        before, short = (choices.waits or {}).get(own, (0, 0))
        if choices.waits is None:
            short = tracker.short_by(cost)
        if before:
            numbers["likelier"] = before
        elif short > 0:
            numbers["short_by"] = short
        by = ""
        if worst is not None and rank(worst) < rank(candidate):
            by = worst.chunk.id
            numbers["lost_by"] = round(worst.score - candidate.score, 6)
        reason = choices.left_out[own]
        decisions.append(
            Decision(chunk_id=own, action="dropped", reason=reason, by=by, numbers=numbers)
        )
    return decisions


def documents(candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    """Best first inside each document, documents by their best."""
    groups: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=rank):
        groups.setdefault(candidate.chunk.document_id, []).append(candidate)
    return list(groups.values())


def round_robin(candidates: Iterable[Candidate]) -> list[Candidate]:
    """One of each document in turn, documents by their best score."""
    columns = zip_longest(*documents(candidates))
    return [candidate for candidate in chain.from_iterable(columns) if candidate is not None]

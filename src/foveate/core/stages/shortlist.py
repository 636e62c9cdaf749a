"""Shortlist: only the best candidates, within a reach of several budgets, are processed further.

A candidate stays while the ones before it, by `rank`, hold no more than the reach. Supplements are
not counted. The order stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from foveate.core.errors import BadOption
from foveate.core.request import Request
from foveate.core.types import Candidate, Step, rank
from foveate.core.unchecked import new_decision
from foveate.core.zones import Budget

CHARACTERS_PER_TOKEN = (
    4  # a token's, about: where characters alone are limited, `least` is worth that many
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortlist:
    """Keep the best-scored candidates that hold some budgets' worth of tokens; drop the rest.

    `times`: how many budgets' worth stays. `least`: tokens that stay in any case.
    """

    times: int = 8
    least: int = 20_000

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, value, least in (("times", self.times, 1), ("least", self.least, 0)):
            if type(value) is not int or value < least:
                raise BadOption(
                    f"shortlist: {name} is {value!r}; it must be a whole number of {least} or more"
                )

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Drop what is out of reach (`beyond_reach`), with its `rank` and what is `ahead` of it.

        `ahead` is in tokens, or in characters where those alone are limited.
        """
        reach = self._reach(request.budget)
        weigh = request.token_counter.count_chunk
        tokens = request.budget.documents is not None
        ranked = sorted([c for c in candidates if c.origin != "supplement"], key=rank)
        ahead = 0
        for position, candidate in enumerate(ranked):
            if ahead > reach:
                return _drop_beyond_reach(candidates, ranked[position:], position, ahead)
            ahead += weigh(candidate.chunk) if tokens else len(candidate.chunk.text)
        return Step(candidates=candidates)

    def _reach(self, budget: Budget) -> int:
        if budget.documents is not None:
            return max(self.times * budget.documents, self.least)
        return max(self.times * (budget.characters or 0), self.least * CHARACTERS_PER_TOKEN)


def _drop_beyond_reach(
    candidates: tuple[Candidate, ...], beyond: list[Candidate], position: int, ahead: int
) -> Step:
    decisions = [
        new_decision(
            chunk_id=c.chunk.id,
            action="dropped",
            reason="beyond_reach",
            numbers={"rank": place, "ahead": ahead},
        )
        for place, c in enumerate(beyond, position + 1)
    ]
    gone = {c.chunk.id for c in beyond}
    kept = [c for c in candidates if c.chunk.id not in gone]
    return Step(candidates=tuple(kept), decisions=tuple(decisions))

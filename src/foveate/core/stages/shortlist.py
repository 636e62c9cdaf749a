"""Shortlist: only the best candidates, within a reach of several budgets, are processed further.

A candidate stays while the ones before it, by `rank`, hold no more than the reach; and one that
holds an identifier of the query stays wherever it ranks. Supplements are not counted. The order
stays.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.errors import BadOption
from foveate.core.request import Request
from foveate.core.text.words import identifier_pattern, query_identifiers
from foveate.core.types import Candidate, Decision, Step, rank
from foveate.core.zones import Budget

CHARACTERS_PER_TOKEN = (
    4  # a token's, about: where characters alone are limited, `least` is worth that many
)
MOST_NAMED = 20
"""Candidates; an identifier that more of them hold keeps none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortlist:
    """Keep the best-scored candidates that hold some budgets' worth of tokens; drop the rest.

    `times`: how many budgets' worth stays. `least`: tokens that stay in any case. One candidate
    counts for no more than a budget, so that an oversized one does not push out all behind it.
    """

    times: int = 8
    least: int = 8_000

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
                beyond = ranked[position:]
                named = named_chunks(beyond, request.query)
                return _drop_beyond_reach(candidates, beyond, position, ahead, named)
            size = weigh(candidate.chunk) if tokens else len(candidate.chunk.text)
            ahead += min(size, reach // self.times + 1)
        return Step(candidates=candidates)

    def _reach(self, budget: Budget) -> int:
        if budget.documents is not None:
            return max(self.times * budget.documents, self.least)
        return max(self.times * (budget.characters or 0), self.least * CHARACTERS_PER_TOKEN)


def named_chunks(candidates: Sequence[Candidate], query: str) -> set[str]:
    """Ids of the candidates that hold an identifier of the query, and of those beside them.

    A record may go on in the next chunk. An identifier that many hold names none of them.
    """
    named: set[str] = set()
    for word in query_identifiers(query):
        pattern, folded = identifier_pattern([word]), word.casefold()
        holders = [
            c.chunk
            for c in candidates
            if folded in c.chunk.text.casefold() and pattern.search(c.chunk.text)
        ]
        if len(holders) > MOST_NAMED:
            continue
        places = {(c.document_id, c.sequence + by) for c in holders for by in (-1, 0, 1)}
        named |= {c.id for c in holders}
        named |= {c.chunk.id for c in candidates if (c.document_id, c.chunk.sequence) in places}
    return named


def _drop_beyond_reach(
    candidates: tuple[Candidate, ...],
    beyond: list[Candidate],
    position: int,
    ahead: int,
    named: Collection[str],
) -> Step:
    decisions = [
        Decision(
            chunk_id=c.chunk.id,
            action="dropped",
            reason="beyond_reach",
            numbers={"rank": place, "ahead": ahead},
        )
        for place, c in enumerate(beyond, position + 1)
        if c.chunk.id not in named
    ]
    gone = {decision.chunk_id for decision in decisions}
    kept = [c for c in candidates if c.chunk.id not in gone]
    return Step(candidates=tuple(kept), decisions=tuple(decisions))

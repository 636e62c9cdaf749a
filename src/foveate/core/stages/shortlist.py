"""Shortlist: only the best candidates, within a reach of several budgets, are processed further.

A candidate stays while the ones before it, by `rank`, hold no more than the reach; and one that
holds an identifier of the query, or the head of one that does, stays wherever it ranks. Supplements
are not counted. The order stays.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.errors import BadOption
from foveate.core.grouping import head_places
from foveate.core.request import Request
from foveate.core.text.words import identifier_pattern, query_identifiers
from foveate.core.types import Candidate, Chunk, Decision, Step, rank
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
                named = named_chunks(beyond, request.query, candidates)
                named |= named_chunks(ranked[:position], request.query, candidates)
                return _drop_beyond_reach(candidates, beyond, position, ahead, named)
            size = weigh(candidate.chunk) if tokens else len(candidate.chunk.text)
            ahead += min(size, reach // self.times + 1)
        return Step(candidates=candidates)

    def _reach(self, budget: Budget) -> int:
        if budget.documents is not None:
            return max(self.times * budget.documents, self.least)
        return max(self.times * (budget.characters or 0), self.least * CHARACTERS_PER_TOKEN)


def named_chunks(
    candidates: Sequence[Candidate], query: str, pool: Sequence[Candidate]
) -> set[str]:
    """Ids of those that hold an identifier of the query, and of those that they need.

    A record may go on in the chunk beside it, and the names of its columns or the signature of its
    code stand in one before: in one that its metadata name, or else in one of the `MOST_NAMED`
    nearest of the `pool`. An identifier that many of the candidates hold names none of them.
    """
    named: set[str] = set()
    for word in query_identifiers(query):
        pattern, folded = identifier_pattern([word]), word.casefold()
        holders = [
            c.chunk
            for c in candidates
            if folded in c.chunk.text.casefold() and pattern.search(c.chunk.text)
        ]
        for holder in holders if len(holders) <= MOST_NAMED else ():
            named |= _needed_by(holder, pool)
    return named


def _needed_by(holder: Chunk, pool: Sequence[Candidate]) -> set[str]:
    """Ids of the chunk, of those beside it, and of those that may have its head."""
    own = [c.chunk for c in pool if c.document_id == holder.document_id]
    heads = {sequence for _, sequence in head_places(holder)}
    places = {*heads, *range(holder.sequence - 1, holder.sequence + 2)}
    found = {chunk.id for chunk in own if chunk.sequence in places}
    if not heads:
        before = [chunk for chunk in own if chunk.sequence < holder.sequence]
        before.sort(key=lambda chunk: -chunk.sequence)
        found |= {chunk.id for chunk in before[:MOST_NAMED]}
    return found


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

"""What a candidate costs when it is shown one rendition or another, and what is left to spend.

Costs are estimates: token counts do not add up over concatenation. They are made so that their
sum is rarely below the count of the finished text; the last gate counts that text itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from foveate.core.renditions import full_rendition, join_chunk_spans
from foveate.core.token_counter import Cost, TokenCounter, new_cost
from foveate.core.types import BlockPosition, Candidate, Part, Rendition
from foveate.core.zones import Budget


def rendition_options(
    candidate: Candidate, cap: int | None, counter: TokenCounter
) -> tuple[Rendition, ...]:
    """The renditions to choose from, fullest first; a choice already made is the only one.

    A passage can be shown in part. With `cap`, what is over that many tokens is left out where
    something shorter is there.
    """
    if candidate.shown is not None:
        return (candidate.shown,)
    shorter = sorted(
        (*pieces(candidate), *candidate.renditions), key=lambda way: (-way.value, len(way.text))
    )
    ways = (full_rendition(candidate), *shorter)
    if cap is None or not shorter or counter.count_chunk(candidate.chunk) <= cap:
        return ways
    return tuple(way for way in shorter if counter.count_text(way.text) <= cap) or ways[-1:]


@dataclass(slots=True)
class BudgetTracker:
    """Weighs renditions and keeps the budget.

    `per_document` replaces the measured overhead by a fixed number of tokens, once a document.
    """

    counter: TokenCounter
    tokens: int | None
    characters: int | None
    per_document: int | None = None
    documents: set[str] = field(default_factory=set)
    blocks: int = 0
    _overheads: dict[str, Mapping[BlockPosition, Cost]] = field(default_factory=dict)
    _bodies: dict[str, Cost] = field(default_factory=dict)

    def overhead(self, candidate: Candidate) -> Mapping[BlockPosition, Cost]:
        """What stands around the candidate's text at each place, whatever is shown."""
        own = candidate.chunk.id
        known = self._overheads.get(own)
        if known is None:
            known = self.counter.header_costs(candidate)
            if self.per_document is not None:
                known = _flat(known, self.per_document)
            self._overheads[own] = known
        return known

    def cost(
        self, candidate: Candidate, rendition: Rendition, place: BlockPosition | None = None
    ) -> Cost:
        """What showing the candidate this rendition would take of the budget now, or at a place."""
        body = self.body(candidate, rendition)
        frame = self.overhead(candidate)[self._place(candidate) if place is None else place]
        return new_cost((body[0] + frame[0], body[1] + frame[1]))

    def room_for_text(self, candidate: Candidate) -> tuple[int | None, int | None]:
        """The tokens and characters that are left for the candidate's text alone."""
        frame = self.overhead(candidate)[self._place(candidate)]
        limits = (self.tokens, self.characters)
        tokens, characters = (
            most if most is None else most - cost for most, cost in zip(limits, frame, strict=True)
        )
        return tokens, characters

    def _place(self, candidate: Candidate) -> BlockPosition:
        if not self.blocks:
            return "first"
        return "same" if candidate.chunk.document_id in self.documents else "fresh"

    def shortest(self, candidate: Candidate) -> Cost:
        """What the shortest rendition to show the candidate would take now."""
        ways = (candidate.shown or full_rendition(candidate), *candidate.renditions)
        return self.cost(candidate, min(ways, key=lambda way: len(way.text)))

    def afford(self, candidate: Candidate, rendition: Rendition) -> Cost | None:
        """What showing the candidate this rendition would take now, if the budget holds it."""
        if self.tokens is not None and self.body(candidate, rendition)[0] > self.tokens:
            return None  # as of most candidates, whose headers then need not be counted
        cost = self.cost(candidate, rendition)
        return cost if self.fits(cost) else None

    def least(self, candidate: Candidate, rendition: Rendition) -> int:
        """The least that it can cost in what is limited, wherever it stands; at least 1."""
        unit, around = int(self.tokens is None), self.overhead(candidate)
        frame = min(around["first"][unit], around["same"][unit])
        return max(self.body(candidate, rendition)[unit] + frame, 1)

    def body(self, candidate: Candidate, rendition: Rendition) -> Cost:
        """What the text alone costs; its characters only where they are limited."""
        text = rendition.text
        known = self._bodies.get(text)
        if known is None:
            if text == candidate.chunk.text:
                tokens = self.counter.count_chunk(candidate.chunk)
            else:
                tokens = self.counter.count_text(text)
            length = len(self.counter.body(text)) if self.characters is not None else 0
            known = self._bodies[text] = new_cost((tokens, length))
        return known

    def fits(self, cost: Cost) -> bool:
        """Whether the budget holds that much."""
        tokens, characters = self.tokens, self.characters
        return (tokens is None or cost[0] <= tokens) and (
            characters is None or cost[1] <= characters
        )

    def short_by(self, cost: Cost) -> int:
        """How much the budget lacks, in tokens (in characters where only those are limited)."""
        tokens = cost.tokens - self.tokens if self.tokens is not None else 0
        characters = cost.characters - self.characters if self.characters is not None else 0
        return tokens if tokens > 0 else characters

    def take(self, candidate: Candidate, cost: Cost) -> None:
        """Spend it on a block of the candidate's document."""
        self.documents.add(candidate.chunk.document_id)
        self.blocks += 1
        self.spend(cost)

    def spend(self, cost: Cost) -> None:
        """Take it out of the budget; a negative cost is put in."""
        if self.tokens is not None:
            self.tokens -= cost.tokens
        if self.characters is not None:
            self.characters -= cost.characters


def tracker_for_budget(
    budget: Budget, counter: TokenCounter, per_document: int | None
) -> BudgetTracker:
    """A full budget."""
    return BudgetTracker(
        counter=counter,
        tokens=budget.documents,
        characters=budget.characters,
        per_document=per_document,
    )


def _flat(around: Mapping[BlockPosition, Cost], per_document: int) -> Mapping[BlockPosition, Cost]:
    """So many tokens for each document's first block, and none for the others."""
    tokens: dict[BlockPosition, int] = {"first": per_document, "fresh": per_document, "same": 0}
    return {place: new_cost((n, around[place].characters)) for place, n in tokens.items()}


def pieces(candidate: Candidate) -> tuple[Rendition, ...]:
    """The passage without its least chunks, fullest first, down to its best one; or nothing.

    Stitching must never cost evidence: a passage that is too large would take its best chunk with
    it. So a passage can also be shown as fewer of its chunks, whole ones, the best-scored first:
    all but one, then half as many each time.
    """
    parts = candidate.parts
    order = sorted(range(len(parts)), key=lambda i: (-parts[i].score, i))
    masses = [_mass(part) for part in parts]
    renditions = []
    n = len(parts) - 1
    while n > 0:
        chosen = sorted(order[:n])
        spans = sorted({parts[i].span for i in chosen})
        text, ranges = join_chunk_spans(candidate.chunk, spans, candidate.parts)
        if len(text) < len(candidate.chunk.text):
            value = min(sum([masses[i] for i in chosen]) / sum(masses), 1.0)
            renditions.append(Rendition(kind="extract", text=text, spans=ranges, value=value))
        n //= 2
    return tuple(renditions)


def _mass(part: Part) -> float:
    """What a part counts for: its score, and something where that is nothing."""
    return max(part.score, 0.0) + 1e-6 * max(part.span[1] - part.span[0], 1)

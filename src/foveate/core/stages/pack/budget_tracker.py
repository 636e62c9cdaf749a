"""What a candidate costs when it is shown one rendition or another, and what is left to spend.

Costs are estimates: token counts do not add up over concatenation. They are made so that their
sum is rarely below the count of the finished text; the last gate counts that text itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from foveate.core.renditions import (
    full_rendition,
    join_chunk_spans,
    rendition_hash,
    set_rendition_hash,
)
from foveate.core.seal import content_hash
from foveate.core.text.profile import TextPiece, text_profile
from foveate.core.token_counter import Cost, TokenCounter, new_cost
from foveate.core.types import BlockPosition, Candidate, Part, Rendition, Span
from foveate.core.zones import Budget

SHARES = (0.75, 0.5, 0.25)


def is_undivided(candidate: Candidate) -> bool:
    """Whether its whole text is the only rendition to show it."""
    return candidate.shown is None and not candidate.parts and not candidate.renditions


def rendition_options(
    candidate: Candidate, cap: int | None, counter: TokenCounter
) -> tuple[Rendition, ...]:
    """The renditions to choose from, fullest first; a choice already made is the only one.

    A passage can be shown in part. With `cap`, what is over that many tokens is left out where
    something shorter is there.
    """
    if candidate.shown is not None:
        return (candidate.shown,)
    if is_undivided(candidate):
        return (full_rendition(candidate),)
    shorter = (*pieces(candidate), *candidate.renditions)
    renditions = (
        full_rendition(candidate),
        *sorted(shorter, key=lambda rendition: (-rendition.value, len(rendition.text))),
    )
    if cap is None or not shorter or counter.count_chunk(candidate.chunk) <= cap:
        return renditions
    return (
        tuple(
            rendition for rendition in renditions[1:] if counter.count_text(rendition.text) <= cap
        )
        or renditions[-1:]
    )


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
    _wholes: dict[str, Cost] = field(default_factory=dict)

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

    def frame(self, candidate: Candidate, place: BlockPosition | None = None) -> Cost:
        """The same at one place, by default where the candidate would stand now."""
        around = self._overheads.get(candidate.chunk.id) or self.overhead(candidate)
        return around[self._place(candidate) if place is None else place]

    def _place(self, candidate: Candidate) -> BlockPosition:
        if not self.blocks:
            return "first"
        return "same" if candidate.chunk.document_id in self.documents else "fresh"

    def cost(
        self, candidate: Candidate, rendition: Rendition, place: BlockPosition | None = None
    ) -> Cost:
        """What showing the candidate this rendition would take of the budget now, or at a place."""
        body, frame = self.body(candidate, rendition), self.frame(candidate, place)
        return new_cost((body[0] + frame[0], body[1] + frame[1]))

    def shortest(self, candidate: Candidate) -> Cost:
        """What the shortest rendition to show the candidate would take now."""
        if candidate.shown is None and not candidate.renditions:
            body = self.entire(candidate)
        else:
            most = candidate.shown or full_rendition(candidate)
            rendition = min(
                (most, *candidate.renditions), key=lambda rendition: len(rendition.text)
            )
            body = self.body(candidate, rendition)
        frame = self.frame(candidate)
        return new_cost((body[0] + frame[0], body[1] + frame[1]))

    def afford(self, candidate: Candidate, rendition: Rendition) -> Cost | None:
        """What showing the candidate this rendition would take now, if the budget holds it."""
        return self.affords(candidate, self.body(candidate, rendition))

    def affords(self, candidate: Candidate, body: Cost) -> Cost | None:
        """The same, where it is known what the text alone costs."""
        most = self.tokens
        if most is not None and body[0] > most:
            return None
        frame = self.frame(candidate)
        cost = new_cost((body[0] + frame[0], body[1] + frame[1]))
        if self.characters is None:
            return None if most is not None and cost[0] > most else cost
        return cost if self.fits(cost) else None

    def least(self, candidate: Candidate, renditions: Sequence[Rendition]) -> list[int]:
        """The least that each can cost in what is limited, wherever it stands; at least 1."""
        unit = int(self.tokens is None)
        (frame,) = self.narrowest((candidate,))
        return [max(self.body(candidate, rendition)[unit] + frame, 1) for rendition in renditions]

    def narrowest(self, candidates: Sequence[Candidate]) -> list[int]:
        """The least that can stand around each one's text, in what is limited."""
        unit = int(self.tokens is None)
        frames = [self.overhead(candidate) for candidate in candidates]
        return [min(around["first"][unit], around["same"][unit]) for around in frames]

    def body(self, candidate: Candidate, rendition: Rendition) -> Cost:
        """What the text alone costs; its characters only where they are limited."""
        text, own = rendition.text, candidate.chunk.text
        if text is own or text == own:
            return self.entire(candidate)
        known = self._bodies.get(text)
        if known is None:
            tokens = self.counter.count_text(text, rendition_hash(rendition))
            known = self._bodies[text] = new_cost((tokens, self._characters(text)))
        return known

    def entire(self, candidate: Candidate) -> Cost:
        """The same of all of the candidate's text."""
        chunk = candidate.chunk
        known = self._wholes.get(chunk.id)
        if known is None:
            tokens = self.counter.count_chunk(chunk)
            known = self._wholes[chunk.id] = new_cost((tokens, self._characters(chunk.text)))
        return known

    def _characters(self, text: str) -> int:
        return len(self.counter.body(text)) if self.characters is not None else 0

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
    it. So a passage can also be shown as fewer of its chunks, whole ones, the best-scored first.
    """
    parts = candidate.parts
    if len(parts) < 2:
        return ()
    order = sorted(range(len(parts)), key=lambda i: (-parts[i].score, i))
    masses = [_mass(part) for part in parts]
    total, length = sum(masses), len(candidate.chunk.text)
    renditions = []
    for n in _numbers(len(parts)):
        chosen = sorted(order[:n])
        text, ranges, key = _joined_piece(candidate, tuple(sorted([parts[i].span for i in chosen])))
        if len(text) < length:
            value = min(sum([masses[i] for i in chosen]) / total, 1.0)
            renditions.append(
                set_rendition_hash(
                    Rendition(kind="extract", text=text, spans=ranges, value=value), key
                )
            )
    return tuple(renditions)


@lru_cache(maxsize=256)
def _numbers(n: int) -> tuple[int, ...]:
    """How many parts to show: all but one, then fewer, each number once."""
    numbers = (n - 1, *(int(n * share) for share in SHARES), 1)
    return tuple(sorted({number for number in numbers if number > 0}, reverse=True))


def _joined_piece(candidate: Candidate, spans: tuple[Span, ...]) -> TextPiece:
    """These spans as one text (nested ones are merged); kept with the passage's content hash."""
    known = text_profile(candidate.chunk.content_hash)
    piece = known.pieces.get(spans)
    if piece is None:
        text, ranges = join_chunk_spans(candidate.chunk, spans, candidate.parts)
        piece = TextPiece(text, ranges, content_hash(text))
        known.pieces[spans] = piece
    return piece


def _mass(part: Part) -> float:
    """What a part counts for: its score, and something where that is nothing."""
    return max(part.score, 0.0) + 1e-6 * max(part.span[1] - part.span[0], 1)

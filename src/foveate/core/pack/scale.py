"""What a candidate costs when it is shown one way or another, and what is left to spend.

Costs are estimates: token counts do not add up over concatenation. They are made so that their
sum is rarely below the count of the finished text; the last gate counts that text itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from foveate.core.gauge import Gauge
from foveate.core.made import maker
from foveate.core.pack.pieces import pieces
from foveate.core.types import Budget, Candidate, Place, Rendition, RenditionKind

rendered = maker(Rendition)


class Cost(NamedTuple):
    """Tokens and characters of a block, header and separator included."""

    tokens: int
    characters: int


def whole(candidate: Candidate) -> Rendition:
    """The candidate in full; `stripped` where stitching took a repeat out of it."""
    text = candidate.chunk.text
    kind: RenditionKind = "verbatim"
    if candidate.parts and sum([p.span[1] - p.span[0] for p in candidate.parts]) > len(text):
        kind = "stripped"
    return rendered(kind=kind, text=text, spans=((0, len(text)),))


def ways_to_show(candidate: Candidate, cap: int | None, gauge: Gauge) -> tuple[Rendition, ...]:
    """The renditions to choose from, fullest first; a choice already made is the only one.

    A passage can be shown in part. With `cap`, what is over that many tokens is left out where
    something shorter is there.
    """
    if candidate.shown is not None:
        return (candidate.shown,)
    shorter = (*pieces(candidate), *candidate.renditions)
    if not shorter:
        return (whole(candidate),)
    ways = (whole(candidate), *sorted(shorter, key=lambda way: (-way.value, len(way.text))))
    if cap is None or len(ways) == 1 or gauge.chunk(candidate.chunk) <= cap:
        return ways
    return tuple(way for way in ways[1:] if gauge.text(way.text) <= cap) or ways[-1:]


@dataclass(slots=True)
class Scale:
    """Weighs renditions and keeps the purse.

    `per_document` replaces the measured overhead by a fixed number of tokens, once a document.
    """

    gauge: Gauge
    tokens: int | None
    characters: int | None
    per_document: int | None = None
    documents: set[str] = field(default_factory=set)
    blocks: int = 0
    _frames: dict[tuple[str, Place], Cost] = field(default_factory=dict)
    _bodies: dict[str, Cost] = field(default_factory=dict)

    def frame(self, candidate: Candidate, place: Place | None = None) -> Cost:
        """What stands around the candidate's text there, whichever way it is shown."""
        place = place or self._place(candidate)
        known = self._frames.get((candidate.chunk.id, place))
        if known is None:
            text = self.gauge.frame(candidate, place)
            tokens = self.gauge.rendered(text)
            if self.per_document is not None:
                tokens = 0 if place == "same" else self.per_document
            known = self._frames[(candidate.chunk.id, place)] = Cost(tokens, len(text))
        return known

    def _place(self, candidate: Candidate) -> Place:
        if not self.blocks:
            return "first"
        return "same" if candidate.chunk.document_id in self.documents else "fresh"

    def cost(self, candidate: Candidate, rendition: Rendition, place: Place | None = None) -> Cost:
        """What showing the candidate this way would take from the purse now, or at a place."""
        body, frame = self.body(candidate, rendition), self.frame(candidate, place)
        limited = self.characters is not None
        characters = body.characters + frame.characters if limited else 0
        return Cost(body.tokens + frame.tokens, characters)

    def least(self, candidate: Candidate, rendition: Rendition) -> int:
        """The least that it can cost in what is limited, wherever it will stand; at least 1."""
        body = self.body(candidate, rendition)
        frames = self.frame(candidate, "first"), self.frame(candidate, "same")
        if self.tokens is not None:
            return max(body.tokens + min([frame.tokens for frame in frames]), 1)
        return max(body.characters + min([frame.characters for frame in frames]), 1)

    def body(self, candidate: Candidate, rendition: Rendition) -> Cost:
        """What the text alone costs; its characters only where they are limited."""
        text = rendition.text
        known = self._bodies.get(text)
        if known is None:
            gauge, chunk = self.gauge, candidate.chunk
            own = text is chunk.text or text == chunk.text
            tokens = gauge.chunk(chunk) if own else gauge.text(text)
            characters = len(gauge.body(text)) if self.characters is not None else 0
            known = self._bodies[text] = Cost(tokens, characters)
        return known

    def fits(self, cost: Cost) -> bool:
        """Whether the purse holds that much."""
        return self.short_by(cost) <= 0

    def short_by(self, cost: Cost) -> int:
        """How much the purse lacks, in tokens (in characters where only those are limited)."""
        tokens = cost.tokens - self.tokens if self.tokens is not None else 0
        characters = cost.characters - self.characters if self.characters is not None else 0
        return tokens if tokens > 0 else characters

    def take(self, candidate: Candidate, cost: Cost) -> None:
        """Spend it."""
        self.documents.add(candidate.chunk.document_id)
        self.blocks += 1
        if self.tokens is not None:
            self.tokens -= cost.tokens
        if self.characters is not None:
            self.characters -= cost.characters

    def give_back(self, cost: Cost) -> None:
        """Undo a `take`; the document stays known, which the next cost of it may use."""
        self.blocks -= 1
        if self.tokens is not None:
            self.tokens += cost.tokens
        if self.characters is not None:
            self.characters += cost.characters


def scale_for(budget: Budget, gauge: Gauge, per_document: int | None) -> Scale:
    """A full purse."""
    return Scale(
        gauge=gauge,
        tokens=budget.documents,
        characters=budget.characters,
        per_document=per_document,
    )

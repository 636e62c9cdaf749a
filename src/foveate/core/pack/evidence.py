"""Sentences chosen over the whole pool: the likeliest evidence per token, each thing said once.

Every sentence is a piece of its own; taking one takes what it leans on, and the first of a
candidate pays for the block around it. Pieces go into the purse by worth per token (the greedy of
the knapsack problem); their neighbours gain a little by it, and one that says little new is left
out. Costs are shares of the candidate's own count; what was chosen is then counted as it will
stand, and the choice grows or shrinks until it fits.

`notes` carry `value`, the worth of what is shown (what neighbours gained uncounted), `bound`, the
linear relaxation over all pieces at their own cost, and the `gap` between: no choice of the same
pieces in that room is worth more than the bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from foveate.core.evidence.index import index_of
from foveate.core.pack.choice import Choice, Choices
from foveate.core.pack.scale import Scale, whole
from foveate.core.pack.value import report, weight
from foveate.core.text.salience import joined
from foveate.core.types import Candidate, Rendition, Sentences, rank

FRESH = 0.6  # a sentence of which less than that share is new is left out: it was said
BESIDE = 0.05  # of a chosen sentence's worth goes to each neighbour: answers spill over
ELISION = 3  # tokens of the mark between two pieces
ROUNDS = 4  # of counting what was chosen and using what is left
SLACK = 12  # tokens or characters that are not worth another round


class Piece(NamedTuple):
    """A sentence: its candidate's place in the pool, its own there, what it costs and is worth."""

    owner: int
    place: int
    cost: int
    worth: float


@dataclass(slots=True)
class Basket:
    """What is chosen so far. `taken[i]`: the sentences of candidate i; `said`: runs of words."""

    pool: list[Candidate]
    pieces: list[list[Piece]]
    runs: list[list[Sequence[int]]]
    openings: list[int]
    taken: dict[int, set[int]] = field(default_factory=dict)
    order: list[tuple[int, int]] = field(default_factory=list)
    said: dict[int, int] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)
    extra: dict[tuple[int, int], float] = field(default_factory=dict)

    def with_leans(self, piece: Piece) -> list[Piece]:
        """The piece and what it leans on that is not taken yet."""
        sentences = self.pool[piece.owner].sentences
        found = [piece]
        if sentences is not None:
            lean = sentences.leans[piece.place]
            if lean != piece.place and lean not in self.taken.get(piece.owner, ()):
                found.append(self.pieces[piece.owner][lean])
        return found

    def density(self, piece: Piece) -> float:
        """Worth per token of taking the piece now."""
        worth = cost = 0.0
        for p in self.with_leans(piece):
            worth += p.worth + self.extra.get((p.owner, p.place), 0.0)
            cost += p.cost
        return worth / cost

    def fresh(self, piece: Piece) -> float:
        """The share of the piece that was not said before."""
        runs = self.runs[piece.owner][piece.place]
        if not runs or not self.said:
            return 1.0
        return 1 - sum(map(self.said.__contains__, runs)) / len(runs)

    def cost(self, pieces: Iterable[Piece]) -> int:
        """What taking these would add: themselves, marks where text is left out, a block."""
        pieces = list(pieces)
        owner = pieces[0].owner
        mine = self.taken.get(owner)
        total = sum(p.cost for p in pieces)
        if mine is None:
            return total + self.openings[owner]
        gaps = sum(p.place - 1 not in mine and p.place + 1 not in mine for p in pieces)
        return total + ELISION * gaps

    def take(self, pieces: Iterable[Piece]) -> None:
        """Choose them."""
        said = self.said
        for p in pieces:
            self.taken.setdefault(p.owner, set()).add(p.place)
            self.order.append((p.owner, p.place))
            self.changed.add(p.owner)
            for run in self.runs[p.owner][p.place]:
                said[run] = said.get(run, 0) + 1

    def beside(self, pieces: Iterable[Piece]) -> list[Piece]:
        """The neighbours of what was taken, each worth a little more for it."""
        found = []
        for p in pieces:
            row, taken = self.pieces[p.owner], self.taken[p.owner]
            for n in (p.place - 1, p.place + 1):
                if 0 <= n < len(row) and n not in taken:
                    key = (p.owner, n)
                    self.extra[key] = self.extra.get(key, 0.0) + BESIDE * p.worth
                    found.append(row[n])
        return found

    def drop_last(self) -> None:
        """Take the last choice back."""
        owner, place = self.order.pop()
        self.changed.add(owner)
        self.taken[owner].discard(place)
        if not self.taken[owner]:
            del self.taken[owner]
        for run in self.runs[owner][place]:
            self.said[run] -= 1
            if not self.said[run]:
                del self.said[run]


def pack_evidence(candidates: Sequence[Candidate], scale: Scale, language: str) -> Choices:
    """Fill the purse with sentences; each candidate is shown as those of it that were chosen."""
    basket = _basket(candidates, scale, language)
    heap = [(-basket.density(p), p.owner, p.place) for row in basket.pieces for p in row]
    heapify(heap)
    room = scale.tokens if scale.tokens is not None else scale.characters or 0
    counted: dict[int, Choice] = {}
    used = 0
    for _ in range(ROUNDS):
        heap = _fill(basket, heap, room - used)
        used = _count(basket, counted, scale)
        while used > room and basket.order:
            basket.drop_last()
            used = _count(basket, counted, scale)
        if room - used <= SLACK or not heap:
            break
    return _choices(basket, counted, scale, room)


def _basket(candidates: Sequence[Candidate], scale: Scale, language: str) -> Basket:
    """Every sentence as a piece with a cost; the pool best first."""
    pool = sorted(candidates, key=rank)
    pieces: list[list[Piece]] = []
    runs: list[list[Sequence[int]]] = []
    openings = []
    for i, candidate in enumerate(pool):
        shown = whole(candidate) if candidate.shown is None else candidate.shown
        cost = scale.cost(candidate, shown, "fresh")
        frame = weight(scale.frame(candidate, "fresh"), scale)
        openings.append(frame)
        sentences = candidate.sentences or Sentences(
            spans=((0, len(candidate.text)),), leans=(0,), worths=(1.0,)
        )
        body = max(weight(cost, scale) - frame, 1)
        size = len(shown.text) or 1
        pieces.append(
            [
                Piece(i, n, max(1, -(-body * (b - a) // size)), worth)
                for n, ((a, b), worth) in enumerate(
                    zip(sentences.spans, sentences.worths, strict=True)
                )
            ]
        )
        runs.append(_runs(candidate, language))
    return Basket(pool, pieces, runs, openings)


def _runs(candidate: Candidate, language: str) -> list[Sequence[int]]:
    """The runs of words of each sentence; none where the candidate is taken whole."""
    if candidate.sentences is None:
        return [()]
    index = index_of(candidate.text, candidate.chunk.content_hash, language)
    return [index.runs[a:b] for a, b in zip(index.starts, index.starts[1:], strict=False)]


def _fill(
    basket: Basket, heap: list[tuple[float, int, int]], room: int
) -> list[tuple[float, int, int]]:
    """Take pieces while they fit; what did not fit is handed back for another round."""
    left = []
    while heap and room > 0:
        key, owner, place = heappop(heap)
        if place in basket.taken.get(owner, ()):
            continue
        piece = basket.pieces[owner][place]
        fresh = basket.fresh(piece)
        if fresh < FRESH:
            continue
        now = (-basket.density(piece), owner, place)
        if heap and now > heap[0] and now[0] > key:
            heappush(heap, now)
            continue
        group = basket.with_leans(piece)
        cost = basket.cost(group)
        if cost > room:
            left.append(now)
            continue
        basket.take(group)
        room -= cost
        for near in basket.beside(group):
            heappush(heap, (-basket.density(near), near.owner, near.place))
    left += heap
    heapify(left)
    return left


def _count(basket: Basket, counted: dict[int, Choice], scale: Scale) -> int:
    """What the choice costs as it will stand; only what changed is counted anew."""
    for owner in sorted(basket.changed):
        if owner not in basket.taken:
            counted.pop(owner, None)
            continue
        candidate, rendition = basket.pool[owner], _rendition(basket, owner)
        counted[owner] = Choice(candidate, rendition, scale.cost(candidate, rendition, "fresh"))
    basket.changed.clear()
    return sum(weight(choice.cost, scale) for choice in counted.values())


def _rendition(basket: Basket, owner: int) -> Rendition:
    """The chosen sentences of a candidate; all of them are the text itself."""
    candidate, taken = basket.pool[owner], basket.taken[owner]
    if candidate.shown is not None:
        return candidate.shown
    if candidate.sentences is None or len(taken) == len(candidate.sentences.spans):
        return whole(candidate)
    worths = candidate.sentences.worths
    text, ranges = joined(candidate.text, [candidate.sentences.spans[n] for n in sorted(taken)])
    value = sum(worths[n] for n in sorted(taken)) / (sum(worths) or 1.0)
    return Rendition(kind="extract", text=text, spans=ranges, value=min(value, 1.0))


def _choices(basket: Basket, counted: dict[int, Choice], scale: Scale, room: int) -> Choices:
    """The chosen, best candidate first; the others with the reason."""
    choices = Choices()
    for owner, candidate in enumerate(basket.pool):
        if owner not in basket.taken:
            said = all(basket.fresh(p) < FRESH for p in basket.pieces[owner])
            choices.left_out[candidate.id] = "already_said" if said else "over_budget"
            continue
        choice = counted[owner]
        cost = scale.cost(candidate, choice.rendition)
        scale.take(candidate, cost)
        choices.chosen.append(Choice(candidate, choice.rendition, cost))
    value = sum(basket.pieces[i][n].worth for i, n in sorted(basket.order))
    choices.notes |= report(value, _relaxed(basket, room))
    return choices


def _relaxed(basket: Basket, room: int) -> float:
    """The best fractional filling of the room with pieces, their blocks for nothing."""
    pieces = sorted((p for row in basket.pieces for p in row), key=lambda p: -p.worth / p.cost)
    total = 0.0
    for p in pieces:
        part = min(p.cost, room)
        total += p.worth * part / p.cost
        room -= part
        if room <= 0:
            break
    return total

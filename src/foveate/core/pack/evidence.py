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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from foveate.core.evidence.index import Index, index_of
from foveate.core.made import maker
from foveate.core.pack.choice import Choice, Choices, taken
from foveate.core.pack.scale import Cost, Scale, whole
from foveate.core.pack.value import report
from foveate.core.text.salience import joined
from foveate.core.types import Candidate, Rendition, Sentences, rank

FRESH = 0.6  # a sentence of which less than that share is new is left out: it was said
BESIDE = 0.05  # of a chosen sentence's worth goes to each neighbour: answers spill over
ELISION = 3  # tokens of the mark between two pieces
ROUNDS = 4  # of counting what was chosen and using what is left
SLACK = 3  # tokens or characters that are not worth another round

rendered = maker(Rendition)


@dataclass(slots=True)
class Basket:
    """Pieces, numbered through: those of candidate i are `firsts[i]` up to `firsts[i + 1]`.

    By piece: its candidate, its cost in the `unit` that limits more (0: tokens, 1: characters), its
    worth, the piece it leans on (itself where it stands alone), what its worth gained, whether it
    is taken. By candidate: what a block costs, its runs of words, how many pieces are taken.
    """

    pool: list[Candidate]
    unit: int
    firsts: list[int] = field(default_factory=lambda: [0])
    owners: list[int] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)
    worths: list[float] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    extra: list[float] = field(default_factory=list)
    taken: list[bool] = field(default_factory=list)
    openings: list[int] = field(default_factory=list)
    indexes: list[Index | None] = field(default_factory=list)
    many: list[int] = field(default_factory=list)
    groups: list[tuple[int, ...]] = field(default_factory=list)  # of pieces, as they were taken
    said: set[int] = field(default_factory=set)  # runs of words
    changed: set[int] = field(default_factory=set)  # candidates to be counted anew

    def with_heads(self, piece: int) -> tuple[int, ...]:
        """The piece and what it leans on, as far as that is not taken yet."""
        head = self.heads[piece]
        if head == piece or self.taken[head]:
            return (piece,)
        found = [piece]
        while head not in found and not self.taken[head]:
            found.append(head)
            head = self.heads[head]
        return tuple(found)

    def density(self, piece: int) -> float:
        """Worth per token of taking the piece now."""
        head = self.heads[piece]
        if head == piece or self.taken[head]:
            return (self.worths[piece] + self.extra[piece]) / self.costs[piece]
        group = self.with_heads(piece)
        worth = sum([self.worths[p] + self.extra[p] for p in group])
        return worth / sum([self.costs[p] for p in group])

    def runs(self, piece: int) -> Sequence[int]:
        """The piece's runs of words; none where the candidate is taken whole."""
        owner = self.owners[piece]
        index = self.indexes[owner]
        if index is None:
            return ()
        u = piece - self.firsts[owner]
        return index.runs[index.starts[u] : index.starts[u + 1]]

    def fresh(self, piece: int) -> float:
        """The share of the piece that was not said before."""
        runs = self.runs(piece)
        if self.said.isdisjoint(runs):
            return 1.0
        return 1 - sum(map(self.said.__contains__, runs)) / len(runs)

    def cost(self, pieces: tuple[int, ...]) -> int:
        """What taking these would add: themselves, marks where text is left out, a block."""
        owner, total = self.owners[pieces[0]], 0
        opened = self.many[owner] > 0
        for p in pieces:
            total += self.costs[p]
            if opened and not any(map(self.taken.__getitem__, self.beside(p))):
                total += ELISION
        return total if opened else total + self.openings[owner]

    def beside(self, piece: int) -> tuple[int, ...]:
        """The neighbours of a piece in its candidate."""
        owner = self.owners[piece]
        if piece == self.firsts[owner]:
            return (piece + 1,) if piece + 1 < self.firsts[owner + 1] else ()
        if piece + 1 == self.firsts[owner + 1]:
            return (piece - 1,)
        return (piece - 1, piece + 1)

    def take(self, pieces: tuple[int, ...]) -> list[int]:
        """Choose them; their neighbours, which are worth a little more for it, are handed back."""
        gained = []
        for p in pieces:
            self.taken[p] = True
            self.said.update(self.runs(p))
        self.many[self.owners[pieces[0]]] += len(pieces)
        self.changed.add(self.owners[pieces[0]])
        self.groups.append(pieces)
        for p in pieces:
            for n in self.beside(p):
                if not self.taken[n]:
                    self.extra[n] += BESIDE * self.worths[p]
                    gained.append(n)
        return gained

    def drop_last(self) -> None:
        """Take the last choice back, with what it brought; nothing leans on that but itself."""
        pieces = self.groups.pop()
        owner = self.owners[pieces[0]]
        self.changed.add(owner)
        self.many[owner] -= len(pieces)
        for p in pieces:
            self.taken[p] = False

    def say_again(self) -> None:
        """Go by what is still chosen, after choices were taken back."""
        self.said = {run for group in self.groups for p in group for run in self.runs(p)}


def pack_evidence(candidates: Sequence[Candidate], scale: Scale, language: str) -> Choices:
    """Fill the purse with sentences; each candidate is shown as those of it that were chosen."""
    basket = _basket(candidates, scale, language)
    waiting = [(-basket.density(p), p) for p in range(len(basket.owners))]
    room = (scale.tokens, scale.characters)[basket.unit] or 0
    counted: dict[int, Choice] = {}
    used = 0
    for _ in range(ROUNDS):
        waiting = _fill(basket, waiting, room - used)
        used = _count(basket, counted, scale)
        full = len(basket.groups)
        while basket.groups and _over(counted, scale):
            basket.drop_last()
            used = _count(basket, counted, scale)
        if len(basket.groups) < full:
            basket.say_again()
        if room - used <= SLACK or not waiting:
            break
    return _choices(basket, counted, scale, room)


def _basket(candidates: Sequence[Candidate], scale: Scale, language: str) -> Basket:
    """Every sentence as a piece with a cost; the pool best first."""
    pool = sorted(candidates, key=rank)
    ways = [c.shown or whole(c) for c in pool]
    costs = [scale.cost(c, way, "fresh") for c, way in zip(pool, ways, strict=True)]
    basket = Basket(pool, _unit(costs, scale))
    unit = basket.unit
    for i, (candidate, way, cost) in enumerate(zip(pool, ways, costs, strict=True)):
        frame = max(scale.frame(candidate, "fresh")[unit], 1)
        body, size = max(max(cost[unit], 1) - frame, 1), len(way.text) or 1
        text, sentences = candidate.chunk.text, candidate.sentences
        first = basket.firsts[-1]
        if sentences is None:
            sentences = Sentences(spans=((0, len(text)),), leans=(0,), worths=(1.0,))
            basket.indexes.append(None)
        else:
            basket.indexes.append(index_of(text, candidate.chunk.content_hash, language))
        spans = sentences.spans
        basket.owners += [i] * len(spans)
        basket.costs += [max(1, -(-body * (b - a) // size)) for a, b in spans]
        basket.worths += sentences.worths
        basket.heads += [first + lean for lean in sentences.leans]
        basket.openings.append(frame)
        basket.firsts.append(first + len(spans))
    basket.extra, basket.taken = [0.0] * len(basket.owners), [False] * len(basket.owners)
    basket.many = [0] * len(pool)
    return basket


def _unit(costs: Sequence[Cost], scale: Scale) -> int:
    """Which limit holds the smaller share of all candidates: tokens (0) or characters (1)."""
    if scale.tokens is None or scale.characters is None:
        return int(scale.tokens is None)
    tokens, characters = map(sum, zip(*costs, strict=True)) if costs else (0, 0)
    return int(scale.characters * tokens < scale.tokens * characters)


def _fill(basket: Basket, waiting: list[tuple[float, int]], room: int) -> list[tuple[float, int]]:
    """Take pieces while they fit; what did not fit is handed back for another round."""
    costs, taken = basket.costs, basket.taken
    left = [entry for entry in waiting if costs[entry[1]] > room]
    heap = [entry for entry in waiting if costs[entry[1]] <= room]
    heapify(heap)
    while heap and room > 0:
        key, piece = heappop(heap)
        if taken[piece]:
            continue
        if costs[piece] > room:
            left.append((key, piece))
            continue
        now = (-basket.density(piece), piece)
        if heap and now > heap[0] and now[0] > key:
            heappush(heap, now)
            continue
        if basket.fresh(piece) < FRESH:
            continue
        group = basket.with_heads(piece)
        cost = basket.cost(group)
        if cost > room:
            left.append(now)
            continue
        room -= cost
        for near in basket.take(group):
            heappush(heap, (-basket.density(near), near))
    return left + heap


def _count(basket: Basket, counted: dict[int, Choice], scale: Scale) -> int:
    """What the choice costs as it will stand; only what changed is counted anew."""
    for owner in sorted(basket.changed):
        if not basket.many[owner]:
            counted.pop(owner, None)
            continue
        candidate, rendition = basket.pool[owner], _rendition(basket, owner)
        cost = scale.cost(candidate, rendition, "fresh")
        counted[owner] = taken(candidate=candidate, rendition=rendition, cost=cost)
    basket.changed.clear()
    return sum([max(choice.cost[basket.unit], 1) for choice in counted.values()])


def _over(counted: Mapping[int, Choice], scale: Scale) -> bool:
    """Whether what is chosen is more than one of the limits."""
    for unit, limit in enumerate((scale.tokens, scale.characters)):
        if limit is not None and sum([max(c.cost[unit], 1) for c in counted.values()]) > limit:
            return True
    return False


def _rendition(basket: Basket, owner: int) -> Rendition:
    """The chosen sentences of a candidate; all of them are the text itself."""
    candidate, first = basket.pool[owner], basket.firsts[owner]
    sentences, last = candidate.sentences, basket.firsts[owner + 1]
    if candidate.shown is not None:
        return candidate.shown
    if sentences is None or basket.many[owner] == last - first:
        return whole(candidate)
    places = [n - first for n in range(first, last) if basket.taken[n]]
    text, ranges = joined(candidate.chunk.text, [sentences.spans[n] for n in places])
    value = sum([sentences.worths[n] for n in places]) / (sum(sentences.worths) or 1.0)
    return rendered(kind="extract", text=text, spans=ranges, value=min(value, 1.0))


def _choices(basket: Basket, counted: dict[int, Choice], scale: Scale, room: int) -> Choices:
    """The chosen, best candidate first; the others with the reason."""
    choices = Choices()
    for owner, candidate in enumerate(basket.pool):
        if not basket.many[owner]:
            pieces = range(basket.firsts[owner], basket.firsts[owner + 1])
            said = all(basket.fresh(p) < FRESH for p in pieces)
            choices.left_out[candidate.chunk.id] = "already_said" if said else "over_budget"
            continue
        rendition = counted[owner].rendition
        cost = scale.cost(candidate, rendition)
        scale.take(candidate, cost)
        choices.chosen.append(taken(candidate=candidate, rendition=rendition, cost=cost))
    value = sum([basket.worths[p] for p in sorted(p for group in basket.groups for p in group)])
    choices.notes |= report(value, _relaxed(basket, room))
    return choices


def _relaxed(basket: Basket, room: int) -> float:
    """The best fractional filling of the room with pieces, their blocks for nothing."""
    costs, worths = basket.costs, basket.worths
    density = [-worth / cost for worth, cost in zip(worths, costs, strict=True)]
    total = 0.0
    for p in sorted(range(len(costs)), key=density.__getitem__):
        part = min(costs[p], room)
        total += worths[p] * part / costs[p]
        room -= part
        if room <= 0:
            break
    return total

"""The sentences of a pool as pieces to choose from, and what is chosen so far.

Knows costs and worths, and no policy: `evidence.py` has that. Costs are shares of a candidate's own
count, by length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf

from foveate.core.renditions import full_rendition
from foveate.core.stages.compress.unit_words import text_runs
from foveate.core.stages.pack.budget_tracker import BudgetTracker
from foveate.core.stages.pack.heads import link_heads
from foveate.core.text.sameness import Statement, is_repeated, statements
from foveate.core.token_counter import Cost
from foveate.core.types import BlockPosition, Candidate, PieceRuns, Sentences, rank

BESIDE = 0.02  # of a chosen sentence's worth goes to each neighbour: answers spill over
ELISION = 3  # tokens of the mark between two pieces
ENDS = 2  # tokens of the marks at both ends of what is shown of a text
NEW = 1e-6  # the share of a piece under which it counts as said


@dataclass(slots=True)
class Selection:
    """Pieces, numbered through: those of candidate i are `firsts[i]` up to `firsts[i + 1]`.

    By piece: its candidate, its cost in the `unit` that limits more (0: tokens, 1: characters), its
    worth, how many runs of words it has, and those that may be in another piece too, the piece it
    leans on (itself where it stands alone), what its worth gained, whether it is taken. By
    candidate: what stands around its block, as the first of its document and as a later one; how
    many pieces are taken. By document: how many blocks it has.
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
    openings: list[Mapping[BlockPosition, Cost]] = field(default_factory=list)
    runs: list[list[int]] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    many: list[int] = field(default_factory=list)
    rights: list[int] = field(default_factory=list)  # how many taken pieces earned the block
    blocks: dict[str, int] = field(default_factory=dict)
    groups: list[tuple[int, ...]] = field(default_factory=list)  # of pieces, as they were taken
    said: set[int] = field(default_factory=set)  # runs of words
    stated: set[Statement] | None = None  # by what is taken; None until it is asked for
    asked: list[int] = field(default_factory=list)  # pieces that hold an identifier of the query
    earned: list[bool] = field(default_factory=list)  # whether the piece may open a block
    held_back: frozenset[int] = frozenset()  # pieces that are not taken because one beside them is
    structural: set[int] = field(default_factory=set)  # pieces that say nothing by themselves
    by_traits: float = 0.0  # the worth of the likeliest by its traits alone; 0: not known
    likely: float = 0.0  # the worth under which a piece is unlikely beside the best
    changed: set[int] = field(default_factory=set)  # candidates to be counted again

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

    def fresh(self, piece: int) -> float:
        """The share of the piece that was not said before.

        Of one whose words were all said, one run is new if no sentence with its facts is taken.
        """
        runs = self.runs[piece]
        if self.said.isdisjoint(runs):
            return 1.0
        share = 1 - sum(map(self.said.__contains__, runs)) / self.lengths[piece]
        return share if share >= NEW or self._is_stated(piece) else 1 / self.lengths[piece]

    def _is_stated(self, piece: int) -> bool:
        """Whether what is taken states all sentences of the piece."""
        if self.stated is None:
            taken = (p for group in self.groups for p in group)
            self.stated = {one for p in taken for one in statements(self._text(p))}
        return is_repeated(statements(self._text(piece)), self.stated)

    def _text(self, piece: int) -> str:
        owner = self.owners[piece]
        candidate = self.pool[owner]
        if candidate.sentences is None:
            return ""
        start, end = candidate.sentences.spans[piece - self.firsts[owner]]
        return candidate.chunk.text[start:end]

    def cost(self, pieces: tuple[int, ...]) -> int:
        """What taking these would add: themselves, marks where text is left out, blocks."""
        first, lone = pieces[0], len(pieces) == 1
        if not lone and len(owners := {self.owners[p] for p in pieces}) > 1:
            groups = [tuple([p for p in pieces if self.owners[p] == o]) for o in sorted(owners)]
            return sum(map(self.cost, groups))
        owner, costs = self.owners[first], self.costs
        total = costs[first] if lone else sum(map(costs.__getitem__, pieces))
        if self.many[owner] > 0:
            if lone:
                return total if self._joins(first, owner) else total + ELISION
            apart = [p for p in pieces if not self._joins(p, owner)]
            return total + ELISION * len(apart)
        later = self.blocks.get(self.pool[owner].chunk.document_id, 0) > 0
        ends = ENDS if self.firsts[owner + 1] - self.firsts[owner] > len(pieces) else 0
        return total + ends + max(self.openings[owner]["same" if later else "fresh"][self.unit], 1)

    def _joins(self, piece: int, owner: int) -> bool:
        """Whether a neighbour of the piece is taken."""
        taken, first, after = self.taken, self.firsts[owner], self.firsts[owner + 1]
        return (piece > first and taken[piece - 1]) or (piece + 1 < after and taken[piece + 1])

    def may_stand(self, pieces: tuple[int, ...]) -> bool:
        """Whether these may be shown: in a block that a piece earned, or by one that earns it.

        A block that was opened for the head of another chunk's rows alone is not earned. What
        says nothing by itself opens none.
        """
        owner = self.owners[pieces[0]]
        if self.structural and not self.many[owner] and self.structural.issuperset(pieces):
            return False
        return self.rights[owner] > 0 or any(map(self.earned.__getitem__, pieces))

    def rest_of(self, owner: int) -> tuple[int, ...]:
        """The pieces of a candidate that are not taken and not all said, and what they lean on.

        A piece of few words, such as a heading, is not said by another with the same words. Empty
        where nothing of the candidate is shown, and what is left says nothing by itself.
        """
        places = range(self.firsts[owner], self.firsts[owner + 1])
        new = [p for p in places if self.lengths[p] <= 1 or self.fresh(p) >= NEW]
        rest = [p for p in new if not self.taken[p]]
        if not self.many[owner] and self.structural.issuperset(rest):
            return ()
        return tuple(sorted({head for p in rest for head in self.with_heads(p)}))

    def take(self, pieces: tuple[int, ...]) -> list[int]:
        """Choose them; their neighbours, which are worth a little more for it, are handed back.

        What a score or an identifier adds to a worth is for that piece alone, not for those beside.
        """
        gained, taken, extra = [], self.taken, self.extra
        most = self.by_traits or inf
        for p in pieces:
            taken[p] = True
            if self.runs[p]:
                self.said.update(self.runs[p])
            if self.stated is not None:
                self.stated.update(statements(self._text(p)))
            self._change_count(self.owners[p], 1)
            self.rights[self.owners[p]] += self.earned[p]
        self.groups.append(pieces)
        for p in pieces:
            owner = self.owners[p]
            first, after = self.firsts[owner], self.firsts[owner + 1]
            more = BESIDE * min(self.worths[p], most)
            for n in (p - 1, p + 1):
                if first <= n < after and not taken[n]:
                    extra[n] += more
                    gained.append(n)
        return gained

    def drop_last(self) -> tuple[int, ...]:
        """Take the last choice back, with what it brought; nothing leans on that but itself."""
        pieces = self.groups.pop()
        for p in pieces:
            self.taken[p] = False
            self._change_count(self.owners[p], -1)
            self.rights[self.owners[p]] -= self.earned[p]
        return pieces

    def _change_count(self, owner: int, more: int) -> None:
        """So many more pieces, or fewer, of a candidate are taken; its block opens or goes."""
        before = self.many[owner]
        now = self.many[owner] = before + more
        self.changed.add(owner)
        if (now > 0) != (before > 0):
            document = self.pool[owner].chunk.document_id
            self.blocks[document] = self.blocks.get(document, 0) + (1 if now else -1)

    def recompute(self) -> None:
        """Go by what is still chosen, after choices were taken back."""
        self.stated = None
        self.said = {run for group in self.groups for p in group for run in self.runs[p]}


def build_selection(candidates: Sequence[Candidate], tracker: BudgetTracker) -> Selection:
    """Every sentence as a piece with a cost; the pool best first."""
    pool = sorted(candidates, key=rank)
    renditions = [
        full_rendition(c) if open_to_choice(c) else c.shown or full_rendition(c) for c in pool
    ]
    bodies = [tracker.body(c, rendition) for c, rendition in zip(pool, renditions, strict=True)]
    frames = [*map(tracker.overhead, pool)]
    selection = Selection(pool, _unit(bodies, frames, tracker), openings=frames)
    runs: list[PieceRuns] = []
    for i, (candidate, rendition) in enumerate(zip(pool, renditions, strict=True)):
        body, size = bodies[i][selection.unit] or 1, len(rendition.text) or 1
        offered = candidate.sentences if open_to_choice(candidate) else None
        sentences = offered or _single_piece(len(rendition.text))
        spans, text, first = sentences.spans, rendition.text, selection.firsts[-1]
        runs.append(sentences.runs or text_runs([text[a:b] for a, b in spans]))
        selection.owners += [i] * len(spans)
        selection.costs += [-(-body * (b - a) // size) or 1 for a, b in spans]
        selection.worths += sentences.worths
        selection.earned += sentences.earned or [True] * len(spans)
        selection.by_traits = max(selection.by_traits, sentences.by_traits)
        selection.asked += [first + place for place in sentences.asked]
        selection.structural.update([first + place for place in sentences.structural])
        selection.heads += [first + lean for lean in sentences.leans]
        selection.firsts.append(first + len(spans))
    link_heads(pool, selection.firsts, selection.heads)
    if len(selection.structural) == len(selection.owners):
        selection.structural.clear()
    selection.extra, selection.taken = (
        [0.0] * len(selection.owners),
        [False] * len(selection.owners),
    )
    selection.many, selection.rights = [0] * len(pool), [0] * len(pool)
    selection.lengths = [b - a for own in runs for a, b in pairwise(own.bounds)]
    selection.runs = repeated_runs(runs, selection.lengths)
    return selection


def repeated_runs(runs: Sequence[PieceRuns], lengths: Sequence[int]) -> list[list[int]]:
    """Of each piece the runs that another may have too, or it itself again; a few others with them.

    `lengths`: of each piece, how many it has. A run that stands once in all of them is never said
    again, and need not be remembered. They are told apart by some of their bits, so that no run
    that is repeated is left out.
    """
    import numpy as np

    none = np.empty(0, dtype=np.uint64)
    whole = np.concatenate([none, *(own.numbers[own.bounds[0] : own.bounds[-1]] for own in runs)])
    bits = len(whole).bit_length() + 2  # where every run has some four bins, most stand alone
    bins = (whole & np.uint64((1 << bits) - 1)).astype(np.int64)
    many = np.bincount(bins)[bins] > 1 if len(bins) else bins > 0
    found: list[int] = whole[many].tolist()
    ends = np.cumsum([0, *lengths])
    upto = np.concatenate(([0], np.cumsum(many)))[ends].tolist()
    return [found[a:b] for a, b in pairwise(upto)]


def open_to_choice(candidate: Candidate) -> bool:
    """Whether less than all of it may be shown; a choice that was made stays."""
    shown = candidate.shown
    return candidate.sentences is not None and (shown is None or shown.kind == "piece")


def _single_piece(length: int) -> Sentences:
    """All of a text as one piece, which repeats nothing."""
    import numpy as np

    nothing = np.empty(0, dtype=np.uint64)
    runs = PieceRuns(nothing, (0, 0))
    return Sentences(spans=((0, length),), leans=(0,), worths=(1.0,), runs=runs)


def _unit(
    bodies: list[Cost], frames: list[Mapping[BlockPosition, Cost]], tracker: BudgetTracker
) -> int:
    """Which limit holds the smaller share of all candidates: tokens (0) or characters (1)."""
    if tracker.tokens is None or tracker.characters is None:
        return int(tracker.tokens is None)
    costs = [*bodies, *(around["fresh"] for around in frames)]
    tokens, characters = map(sum, zip(*costs, strict=True)) if costs else (0, 0)
    return int(tracker.characters * tokens < tracker.tokens * characters)

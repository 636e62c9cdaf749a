"""The sentences of a pool as pieces to choose from, and what is chosen so far.

Knows costs and worths, and no policy: `evidence.py` has that. What a piece costs is estimated as
the share of its candidate's count that it has by length; what is chosen is counted as it will
stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import inf

from foveate.core.renditions import full_rendition, join_chunk_spans
from foveate.core.stages.compress.unit_words import text_runs
from foveate.core.stages.pack.budget_tracker import BudgetTracker
from foveate.core.stages.pack.choice import Choice
from foveate.core.stages.pack.heads import link_heads
from foveate.core.text.sameness import Statement, is_repeated, statements
from foveate.core.token_counter import Cost, new_cost
from foveate.core.types import BlockPosition, Candidate, Rendition, Sentences, rank

BESIDE = 0.02  # of a chosen sentence's worth goes to each neighbour: answers spill over
ELISION = 3  # tokens of the mark between two pieces
ENDS = 2  # tokens of the marks at both ends of what is shown of a text
NEW = 1e-6  # the share of a piece under which it counts as said
FEW = 2  # blocks: a row, and the names of its columns


@dataclass(slots=True)
class Selection:
    """Pieces, numbered through: those of candidate i are `firsts[i]` up to `firsts[i + 1]`.

    By piece: its candidate, its cost in the `unit` that limits more (0: tokens, 1: characters), its
    worth, the piece it leans on (itself where it stands alone), whether it may open a block, its
    runs of words, what its worth gained, whether it is taken. By candidate: what stands around its
    block, as the first of its document and as a later one; how many pieces are taken, and how many
    of them may open a block. By document: how many blocks it has.
    """

    pool: list[Candidate]
    tracker: BudgetTracker
    unit: int
    openings: list[Mapping[BlockPosition, Cost]]
    firsts: list[int] = field(default_factory=lambda: [0])
    owners: list[int] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)
    worths: list[float] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    earned: list[bool] = field(default_factory=list)
    runs: list[list[int]] = field(default_factory=list)
    extra: list[float] = field(default_factory=list)
    taken: list[bool] = field(default_factory=list)
    many: list[int] = field(default_factory=list)
    rights: list[int] = field(default_factory=list)
    blocks: dict[str, int] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)  # pieces that hold an identifier of the query
    structural: set[int] = field(default_factory=set)  # pieces that say nothing by themselves
    held_back: frozenset[int] = frozenset()  # pieces that are not taken because one beside them is
    by_traits: float = 0.0  # the worth of the likeliest by its traits alone; 0: not known
    groups: list[tuple[int, ...]] = field(default_factory=list)  # of pieces, as they were taken
    said: dict[int, list[int]] = field(default_factory=dict)  # by run of words, who says it
    stated: dict[int, Sequence[Statement]] = field(default_factory=dict)  # by piece, once asked for
    counted: dict[int, Choice] = field(default_factory=dict)  # by candidate, as it will stand
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
        if self.said.keys().isdisjoint(runs):
            return 1.0
        share = 1 - sum(map(self.said.__contains__, runs)) / len(runs)
        return share if share >= NEW or self._is_stated(piece) else 1 / len(runs)

    def _is_stated(self, piece: int) -> bool:
        """Whether what is taken states all sentences of the piece; asked of what shares words."""
        said = {p for run in self.runs[piece] for p in self.said.get(run, ()) if self.taken[p]}
        return is_repeated(self._statements(piece), {s for p in said for s in self._statements(p)})

    def _statements(self, piece: int) -> Sequence[Statement]:
        known = self.stated.get(piece)
        if known is None:
            owner = self.owners[piece]
            sentences, text = self.pool[owner].sentences, ""
            if sentences is not None:
                start, end = sentences.spans[piece - self.firsts[owner]]
                text = self.pool[owner].chunk.text[start:end]
            known = self.stated[piece] = tuple(statements(text))
        return known

    def cost(self, pieces: tuple[int, ...]) -> int:
        """What taking these would add: themselves, marks where text is left out, blocks."""
        first, lone = pieces[0], len(pieces) == 1
        if not lone and len(owners := {self.owners[p] for p in pieces}) > 1:
            groups = [tuple([p for p in pieces if self.owners[p] == o]) for o in sorted(owners)]
            return sum(map(self.cost, groups))
        owner, costs = self.owners[first], self.costs
        total = costs[first] if lone else sum(map(costs.__getitem__, pieces))
        if self.many[owner] > 0:
            return total + ELISION * sum([not self._joins(p, owner) for p in pieces])
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
        rest = [
            p
            for p in places
            if not self.taken[p] and (len(self.runs[p]) <= 1 or self.fresh(p) >= NEW)
        ]
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
            self._remember(p)
            self._change_count(p, 1)
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
            self._change_count(p, -1)
        return pieces

    def _recompute(self) -> None:
        """Count again, and go by what is still chosen, after choices were taken back."""
        self.count()
        self.said = {}
        for piece in chain.from_iterable(self.groups):
            self._remember(piece)

    def _remember(self, piece: int) -> None:
        for run in self.runs[piece]:
            self.said.setdefault(run, []).append(piece)

    def _change_count(self, piece: int, more: int) -> None:
        """One more piece, or one less, of a candidate is taken; its block opens or goes."""
        owner = self.owners[piece]
        before = self.many[owner]
        now = self.many[owner] = before + more
        self.rights[owner] += more * self.earned[piece]
        self.changed.add(owner)
        if (now > 0) != (before > 0):
            document = self.pool[owner].chunk.document_id
            self.blocks[document] = self.blocks.get(document, 0) + (1 if now else -1)

    def count(self) -> None:
        """What the choice costs as it will stand; only what changed is counted again."""
        for owner in sorted(self.changed):
            if not self.many[owner]:
                self.counted.pop(owner, None)
                continue
            candidate, rendition = self.pool[owner], self._rendition(owner)
            cost = self.tracker.cost(candidate, rendition, "fresh")
            self.counted[owner] = Choice(candidate=candidate, rendition=rendition, cost=cost)
        self.changed.clear()

    def used(self) -> Cost:
        """What is spent, if the blocks of a document stand together: the first of it costs more."""
        tokens = characters = 0
        known: set[str] = set()
        for owner, choice in sorted(self.counted.items()):
            document = choice.candidate.chunk.document_id
            a, b = choice.cost
            if document in known:
                fresh, same = self.openings[owner]["fresh"], self.openings[owner]["same"]
                a, b = a - fresh[0] + same[0], b - fresh[1] + same[1]
            known.add(document)
            tokens += max(a, 1)
            characters += max(b, 1)
        return new_cost((tokens, characters))

    def left(self, room: int) -> int:
        """What is left of the room, in the unit that limits."""
        return room - self.used()[self.unit]

    def share_over(self) -> float:
        """By what share of what is spent the tighter limit is passed; 0 where neither is."""
        limits, found = (self.tracker.tokens, self.tracker.characters), 0.0
        for most, spent in zip(limits, self.used(), strict=True):
            if most is not None and spent > most:
                found = max(found, 1 - most / spent)
        return found

    def take_back(self) -> list[int]:
        """Take choices back until what is left fits; the pieces, the last taken first.

        As many at a time as the estimates say are too many, so that texts are counted a few times.
        """
        found: list[int] = []
        self.count()
        while self.groups and (over := self.share_over()) > 0:
            enough = over * sum(map(self.costs.__getitem__, chain.from_iterable(self.groups)))
            while self.groups and enough > 0:
                group = self.drop_last()
                enough -= sum(map(self.costs.__getitem__, group))
                found += group
            self._recompute()
        return found

    def take_first(self, ways: Iterable[tuple[int, ...]]) -> bool:
        """Take the first of these that fits by its count, and not by an estimate, if one does."""
        for pieces in ways:
            self.take(pieces)
            self.count()
            if not self.share_over() or self._fits_joined():
                return True
            self.drop_last()
            self._recompute()
        return False

    def _fits_joined(self) -> bool:
        """Whether two blocks of one document fit as one text, a few tokens less than their sum.

        Nothing else can come between them then. They may stand in either order.
        """
        chosen = [choice for _, choice in sorted(self.counted.items())]
        if len(chosen) != FEW or len({choice.candidate.document_id for choice in chosen}) > 1:
            return False
        counter = self.tracker.counter
        for order in (chosen, chosen[::-1]):
            text = "".join(
                counter.header(choice.candidate, "behind" if n else "first")
                + counter.body(choice.rendition.text)
                for n, choice in enumerate(order)
            )
            if not self.tracker.fits(Cost(counter.tokenizer.count(text), len(text))):
                return False
        return self.tracker.per_document is None

    def _rendition(self, owner: int) -> Rendition:
        """The chosen sentences of a candidate; all of them are the text itself."""
        candidate, first = self.pool[owner], self.firsts[owner]
        sentences, last = open_sentences(candidate), self.firsts[owner + 1]
        if sentences is None or self.many[owner] == last - first:
            return candidate.shown or full_rendition(candidate)
        places = [n - first for n in range(first, last) if self.taken[n]]
        text, ranges = join_chunk_spans(
            candidate.chunk, [sentences.spans[n] for n in places], candidate.parts
        )
        value = sum([sentences.worths[n] for n in places]) / (sum(sentences.worths) or 1.0)
        return Rendition(kind="extract", text=text, spans=ranges, value=min(value, 1.0))


def build_selection(candidates: Sequence[Candidate], tracker: BudgetTracker) -> Selection:
    """Every sentence as a piece with a cost, and other texts as one; the pool best first."""
    pool = sorted(candidates, key=rank)
    offered = [*map(open_sentences, pool)]
    shown = [
        (c.shown if s is None else None) or full_rendition(c)
        for c, s in zip(pool, offered, strict=True)
    ]
    bodies = [*map(tracker.body, pool, shown)]
    frames = [*map(tracker.overhead, pool)]
    selection = Selection(pool, tracker, _unit(bodies, frames, tracker), frames)
    for i, most in enumerate(shown):
        text = most.text
        body, size = bodies[i][selection.unit] or 1, len(text) or 1
        sentences = offered[i] or Sentences(spans=((0, len(text)),), leans=(0,), worths=(1.0,))
        spans, first = sentences.spans, selection.firsts[-1]
        own = sentences.runs or (text_runs([text[a:b] for a, b in spans]) if offered[i] else None)
        selection.runs += own.by_piece() if own else [[]]  # a text taken whole repeats nothing
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
    count = len(selection.owners)
    selection.extra, selection.taken = [0.0] * count, [False] * count
    selection.many, selection.rights = [0] * len(pool), [0] * len(pool)
    return selection


def open_sentences(candidate: Candidate) -> Sentences | None:
    """The sentences to choose from; None where a choice was made already, which stays."""
    shown = candidate.shown
    return candidate.sentences if shown is None or shown.kind == "piece" else None


def _unit(
    bodies: list[Cost], frames: list[Mapping[BlockPosition, Cost]], tracker: BudgetTracker
) -> int:
    """Which limit holds the smaller share of all candidates: tokens (0) or characters (1)."""
    if tracker.tokens is None or tracker.characters is None:
        return int(tracker.tokens is None)
    costs = [*bodies, *(around["fresh"] for around in frames)]
    tokens, characters = map(sum, zip(*costs, strict=True)) if costs else (0, 0)
    return int(tracker.characters * tokens < tracker.tokens * characters)

"""Sentences chosen over the whole pool: the likeliest evidence per token, each thing said once.

Every sentence is a piece of its own; taking one takes what it leans on, and the first of a
candidate pays for the block around it. Pieces go into the budget by worth per token (the greedy of
the knapsack problem); their neighbours gain a little by it. One that says little new waits for
room to spare, and one that says nothing new is left out. Costs are shares of the candidate's own
count; what was chosen is then counted as it will stand, and the choice grows or shrinks until it
fits.

`notes` carry `value`, the worth of what is shown (what neighbours gained uncounted), `bound`, the
linear relaxation over all pieces, and the `gap` between: at the costs as estimated, no choice of
the same pieces in that room is worth more than the bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from math import inf
from operator import neg, truediv
from typing import Literal, TypeAlias

from foveate.core.renditions import full_rendition, join_chunk_spans, shapes_of
from foveate.core.stages.pack.budget_tracker import BudgetTracker
from foveate.core.stages.pack.choice import Choice, Choices
from foveate.core.stages.pack.outcome import (
    FRESH,
    NEW,
    build_choices,
    places_in_order,
    record_stop,
    record_unmatched,
)
from foveate.core.stages.pack.selection import Selection, build_selection, open_to_choice
from foveate.core.token_counter import Cost, new_cost
from foveate.core.types import Candidate, Rendition

ROUNDS = 4  # of counting what was chosen and using what is left
LEAST = 20  # pieces that are tried one by one where nothing fits by the estimates
NOTHING = Cost(0, 0)
# Tokens, characters; with less than that, noise is no burden. On a quarter of 13 sets, 400 tokens
# brought no more evidence into any context, and doubled those in which little is likely.
MODEST = (150, 600)
UNLIKELY = 1_200_000.0  # times the worth of noise, 14 in log-odds; what is worth less is unlikely
SOME = (1_500, 6_000)  # tokens, characters; up to that size, unlikely pieces are shown
BESIDE_LIKELY = 1.15  # times what likely pieces took; unlikely pieces are shown up to that, too
SHARE_BEYOND = 0.6  # of the budget beyond `SOME`, too: in a large pool, words tell less apart
WORTHLESS = 1e-300  # what is worth less, such as imports, is shown where it is asked for
FEW = 2  # blocks: a row, and the names of its columns
LONE = (24, 96)  # tokens, characters; a row no longer than that is shown if it alone is left out
SLACK = 3  # tokens or characters that are not worth another round

Fill: TypeAlias = Literal["budget", "relevance"]
Entry: TypeAlias = tuple[float, int]
NOBODY: Entry = (inf, -1)  # stands behind all that wait


def pack_evidence(
    candidates: Sequence[Candidate], scale: BudgetTracker, *, fill: Fill = "budget"
) -> Choices:
    """Fill the budget with sentences; each candidate is shown as those of it that were chosen.

    `fill`: `relevance` stops before noise once `MODEST` tokens are used. Sentences that are
    unlikely beside the best come after all others, up to `_room_for_unlikely`. Where noise would
    be shown, a block that no sentence of it earned may open, and whole.
    """
    basket = build_selection(candidates, scale)
    counted: dict[int, Choice] = {}
    room = (scale.tokens, scale.characters)[basket.unit] or 0
    if fill == "relevance":
        basket.least = WORTHLESS
    _take_asked(basket, counted, scale)
    waiting, noise, unlikely = _all(basket), list[Entry](), list[Entry]()
    if fill == "relevance":
        noise, likely = _divide(waiting, basket, basket.noise)
        basket.likely = basket.noise * UNLIKELY
        unlikely, waiting = _divide(likely, basket, basket.likely)
    waiting = _spend(basket, waiting, room, counted, scale)
    if unlikely:
        some = _room_for_unlikely(basket, room, _used(basket, counted)[basket.unit])
        rest = _spend(basket, unlikely, some, counted, scale)
        (noise if some < room else waiting).extend(rest)
    unmatched = [e for e in waiting if not basket.may_stand(basket.with_heads(e[1]))]
    modest = min(room, MODEST[basket.unit])
    if noise or unmatched:
        basket.is_modest = True
        rest = _spend(basket, [*noise, *unmatched], modest, counted, scale)
        others = {piece for _, piece in unmatched}
        noise = [entry for entry in rest if entry[1] not in others]
        waiting = [entry for entry in waiting if entry[1] not in others]
    if any(map(basket.least.__gt__, basket.worths)):
        _complete(basket, counted, scale)
    if not basket.groups:
        _take_least(basket, counted, scale)
    _close_gaps(basket, counted, scale)
    noise = [entry for entry in noise if not basket.taken[entry[1]]]
    used = _used(basket, counted)[basket.unit]
    choices = build_choices(basket, counted, scale, room, used)
    if basket.groups:
        record_unmatched(choices, basket)
    if noise and modest < room and not waiting:
        record_stop(choices, basket, noise)
    return choices


def _room_for_unlikely(basket: Selection, room: int, used: int) -> int:
    """How far unlikely pieces may fill the budget; `used`: what the likely ones took.

    Further where the budget holds nearly the whole pool.
    """
    held = room * min(room / max(sum(basket.costs), 1), 1.0) ** 2
    some = SOME[basket.unit]
    most = max(some, SHARE_BEYOND * (room - some), BESIDE_LIKELY * used, held)
    return int(min(room, most))


def _spend(
    basket: Selection,
    waiting: list[Entry],
    room: int,
    counted: dict[int, Choice],
    scale: BudgetTracker,
) -> list[Entry]:
    """Take what waits while it fits the room, by the count of what is chosen; what did not fit."""
    repeats: list[int] = []
    fresh = FRESH
    for _ in range(ROUNDS):
        left = room - _used(basket, counted)[basket.unit]
        if left <= 0:
            break
        waiting = _fill(basket, waiting, left, repeats, fresh)
        _count(basket, counted, scale)
        back = _take_back(basket, counted, scale)
        if back:
            basket.recompute()
        elif fresh == NEW and not waiting:
            break  # all of what is left was said, and will not be less said another time
        if back or (repeats and not waiting):
            fresh = FRESH if waiting or back else NEW
            again = [*back[1:], *repeats]  # not what went over last: it would do so again
            waiting += [(-basket.density(p), p) for p in again]
            repeats.clear()
        if room - _used(basket, counted)[basket.unit] <= SLACK or not waiting:
            break
    return waiting


def _divide(
    entries: Sequence[Entry], basket: Selection, least: float
) -> tuple[list[Entry], list[Entry]]:
    """The entries that are worth less than that, with all that they are shown with; the others."""
    parts: tuple[list[Entry], list[Entry]] = ([], [])
    worths, heads = basket.worths, basket.heads
    for entry in entries:
        piece = entry[1]
        worth = worths[piece]
        if worth < least and heads[piece] != piece:
            worth = max(map(worths.__getitem__, basket.with_heads(piece)))
        parts[worth >= least].append(entry)
    return parts


def _all(basket: Selection) -> list[Entry]:
    """Every piece by its density; few lean on another, and most of those on one that stands."""
    worths, costs, heads = basket.worths, basket.costs, basket.heads
    found = [*map(neg, map(truediv, worths, costs))]
    for piece, head in enumerate(heads):
        if head == piece:
            continue
        if heads[head] == head:
            found[piece] = -(worths[piece] + worths[head]) / (costs[piece] + costs[head])
        else:
            found[piece] = -basket.density(piece)
    order = places_in_order(found)
    return [(found[piece], piece) for piece in order if worths[piece] >= basket.least]


def _take_asked(basket: Selection, counted: dict[int, Choice], scale: BudgetTracker) -> None:
    """Records that the query names come first if they fit by their count, and not by an estimate.

    The likeliest first, and no more than can be tried one by one.
    """
    order = sorted(
        [p for p in basket.asked if p not in basket.structural],
        key=lambda p: (-basket.worths[p], p),
    )
    for piece in order[:LEAST]:
        if basket.taken[piece]:
            continue
        group = basket.with_heads(piece)
        inner = tuple([p for p in group if basket.owners[p] == basket.owners[piece]])
        named = (piece, group[-1]) if len(group) > 1 else group  # without the title of its group
        for some in dict.fromkeys((group, named, inner)):  # what is in other chunks may be too much
            basket.take(some)
            _count(basket, counted, scale)
            if _over(_used(basket, counted), scale) <= 0 or _fit_joined(basket, counted, scale):
                break
            basket.drop_last()
            basket.recompute()
            _count(basket, counted, scale)


def _take_least(basket: Selection, counted: dict[int, Choice], scale: BudgetTracker) -> None:
    """Where estimates left nothing, the cheapest piece that does fit by its count."""
    worths = basket.worths
    pieces = [p for p in range(len(worths)) if p not in basket.structural]
    costs = {p: sum([basket.costs[own] for own in basket.with_heads(p)]) for p in pieces}
    order = sorted(pieces, key=lambda p: (worths[p] < basket.least, costs[p], p))
    for piece in order[:LEAST]:
        basket.take(basket.with_heads(piece))
        _count(basket, counted, scale)
        if not _over(_used(basket, counted), scale):
            return
        basket.drop_last()
        basket.recompute()
        _count(basket, counted, scale)


def _complete(basket: Selection, counted: dict[int, Choice], scale: BudgetTracker) -> None:
    """Take what is shown for others alone, if that is all that blocks lack, and all of it fits."""
    many, taken = basket.many, basket.taken
    left = [p for p, owner in enumerate(basket.owners) if many[owner] and not taken[p]]
    if not left or max(map(basket.worths.__getitem__, left)) >= basket.least:
        return
    basket.take(tuple(left))
    _count(basket, counted, scale)
    if _over(_used(basket, counted), scale) > 0:
        basket.drop_last()
        basket.recompute()
        _count(basket, counted, scale)


def _close_gaps(basket: Selection, counted: dict[int, Choice], scale: BudgetTracker) -> None:
    """Take short rows that alone are left out at their place: a mark costs half as much."""
    firsts, taken = basket.firsts, basket.taken
    found: list[int] = []
    for owner, (first, after) in enumerate(pairwise(firsts)):
        if not 0 < basket.many[owner] < after - first:
            continue
        for place in _counted_places(basket, owner):
            p = first + place
            beside = [taken[n] for n in (p - 1, p + 1) if first <= n < after]
            is_lone = not taken[p] and all(beside) and basket.costs[p] <= LONE[basket.unit]
            if is_lone and basket.fresh(p) >= NEW:
                found.append(p)
    if not found:
        return
    for p in sorted(found, key=lambda p: (-basket.worths[p], p)):
        basket.take(basket.with_heads(p))
    _count(basket, counted, scale)
    if _take_back(basket, counted, scale):
        basket.recompute()


def _counted_places(basket: Selection, owner: int) -> list[int]:
    """The places of the pieces of a candidate that are rows, records or the like."""
    candidate, sentences = basket.pool[owner], basket.pool[owner].sentences
    shapes = shapes_of(candidate.chunk, candidate.parts) if sentences else ()
    if sentences is None or not shapes:  # as of most texts
        return []
    starts = {a for shape in shapes for counted in shape.counted for a, _ in counted.spans}
    return [n for n, (a, _) in enumerate(sentences.spans) if a in starts]


def _take_back(basket: Selection, counted: dict[int, Choice], scale: BudgetTracker) -> list[int]:
    """Take choices back until what is left fits; the pieces, the last taken first.

    As many at a time as the estimates say are too many, so that texts are counted a few times.
    """
    found: list[int] = []
    while basket.groups and (over := _over(_used(basket, counted), scale)) > 0:
        costs = basket.costs
        enough = over * sum([costs[p] for group in basket.groups for p in group])
        while basket.groups and enough > 0:
            group = basket.drop_last()
            enough -= sum([costs[p] for p in group])
            found += group
        _count(basket, counted, scale)
    return found


def _fill(
    basket: Selection, waiting: list[Entry], room: int, repeats: list[int], new: float
) -> list[Entry]:
    """Take pieces while they fit; what did not fit is handed back for another round.

    What says less than the share `new` that was not said already is added to `repeats`. Those that
    wait stand in line, the best last; those whose worth changed since are in a heap beside it.
    """
    costs, taken, heads, runs = basket.costs, basket.taken, basket.heads, basket.runs
    worths, extra = basket.worths, basket.extra
    least = min(costs, default=0)
    left: list[Entry] = []
    line, heap = [NOBODY, *sorted(waiting, reverse=True)], [NOBODY]
    while room >= least:
        entry = heappop(heap) if heap[0] < line[-1] else line.pop()
        piece = entry[1]
        if entry is NOBODY:
            return left
        if taken[piece]:
            continue
        if costs[piece] > room:
            left.append(entry)
            continue
        lone = heads[piece] == piece or taken[heads[piece]]  # as most are: what `density` is then
        worth = -(worths[piece] + extra[piece]) / costs[piece] if lone else -basket.density(piece)
        now = (worth, piece)
        if now[0] > entry[0] and (now > heap[0] or now > line[-1]):
            heappush(heap, now)
            continue
        if runs[piece] and basket.fresh(piece) < new:
            repeats.append(piece)
            continue
        group = (piece,) if lone else basket.with_heads(piece)
        cost = basket.cost(group)
        if cost > room or not basket.may_stand(group):
            left.append(now)
            continue
        room -= cost
        for near in basket.take(group):
            if worths[near] >= basket.least:
                heappush(heap, (-basket.density(near), near))
    left += line[1:] if room <= 0 else [e for e in line[1:] if not taken[e[1]]]
    left += [e for e in heap if e is not NOBODY and (room <= 0 or not taken[e[1]])]
    return left


def _count(basket: Selection, counted: dict[int, Choice], scale: BudgetTracker) -> None:
    """What the choice costs as it will stand; only what changed is counted again."""
    for owner in sorted(basket.changed):
        if not basket.many[owner]:
            counted.pop(owner, None)
            continue
        candidate, rendition = basket.pool[owner], _rendition(basket, owner)
        cost = scale.cost(candidate, rendition, "fresh")
        counted[owner] = Choice(candidate=candidate, rendition=rendition, cost=cost)
    basket.changed.clear()


def _used(basket: Selection, counted: Mapping[int, Choice]) -> Cost:
    """What is spent, if the blocks of a document stand together: the first of it costs more."""
    tokens = characters = 0
    known: set[str] = set()
    for owner, choice in sorted(counted.items()):
        document = choice.candidate.chunk.document_id
        cost, around = choice.cost, basket.openings[owner]
        less = NOTHING
        if document in known:
            (a, b), (c, d) = around["fresh"], around["same"]
            less = new_cost((a - c, b - d))
        known.add(document)
        tokens += max(cost[0] - less[0], 1)
        characters += max(cost[1] - less[1], 1)
    return Cost(tokens, characters)


def _fit_joined(basket: Selection, counted: Mapping[int, Choice], scale: BudgetTracker) -> bool:
    """Whether the blocks of one document fit as one text, a few tokens less than their sum.

    Nothing else can come between them then. They may stand in either order.
    """
    chosen = [choice for _, choice in sorted(counted.items())]
    if len(chosen) != FEW or len({choice.candidate.document_id for choice in chosen}) > 1:
        return False
    header, body = scale.gauge.header, scale.gauge.body
    for order in (chosen, chosen[::-1]):
        parts = [
            header(choice.candidate, "behind" if n else "first") + body(choice.rendition.text)
            for n, choice in enumerate(order)
        ]
        text = "".join(parts)
        if not scale.fits(Cost(scale.gauge.tokenizer.count(text), len(text))):
            return False
    return scale.per_document is None


def _over(used: Cost, scale: BudgetTracker) -> float:
    """By what share of what is spent the tighter limit is passed; 0 where neither is."""
    limits = (scale.tokens, scale.characters)
    return max(
        (
            1 - most / spent
            for most, spent in zip(limits, used, strict=True)
            if most is not None and spent > most
        ),
        default=0.0,
    )


def _rendition(basket: Selection, owner: int) -> Rendition:
    """The chosen sentences of a candidate; all of them are the text itself."""
    candidate, first = basket.pool[owner], basket.firsts[owner]
    sentences, last = candidate.sentences, basket.firsts[owner + 1]
    if sentences is None or basket.many[owner] == last - first or not open_to_choice(candidate):
        return candidate.shown or full_rendition(candidate)
    places = [n - first for n in range(first, last) if basket.taken[n]]
    text, ranges = join_chunk_spans(
        candidate.chunk, [sentences.spans[n] for n in places], candidate.parts
    )
    value = sum([sentences.worths[n] for n in places]) / (sum(sentences.worths) or 1.0)
    return Rendition(kind="extract", text=text, spans=ranges, value=min(value, 1.0))

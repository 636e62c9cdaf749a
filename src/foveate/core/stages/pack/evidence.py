"""Sentences chosen over the whole pool: the likeliest evidence per token, each thing said once.

Every sentence is a piece of its own; taking one takes what it leans on, and the first of a
candidate pays for the block around it. Pieces go into the budget by worth per token (the greedy of
the knapsack problem); their neighbours gain a little by it. One that says little new waits for
room to spare, and one that says nothing new is left out. Costs are shares of the candidate's own
count; what was chosen is then counted as it will stand, and the choice grows or shrinks until it
fits.

`notes` carry `value`, the worth of what is shown (what neighbours gained uncounted).
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import chain
from math import exp, inf
from typing import Literal, TypeAlias

from foveate.core.renditions import shapes_of
from foveate.core.stages.pack.budget_tracker import BudgetTracker
from foveate.core.stages.pack.choice import Choices
from foveate.core.stages.pack.outcome import FRESH, build_choices, record_stop
from foveate.core.stages.pack.selection import NEW, Selection, build_selection
from foveate.core.types import Candidate

ROUNDS = 4  # of counting what was chosen and using what is left
LEAST = 20  # pieces that are tried one by one where nothing fits by the estimates
UNLIKELY = exp(-10)  # of the worth of the likeliest by its traits; what is worth less is unlikely
# Unlikely pieces are chosen one by one up to the larger of these; behind them come whole texts.
SOME = (1_500, 6_000)  # tokens, characters
SHARE = 0.6  # of the budget
LEAN = 0.5  # the share of the budget up to which `relevance` shows what is unlikely
BESIDE_ALIKE = 0.25  # of the room is for others, where rows that are all alike would fill it
SLACK = 3  # tokens or characters that are not worth another round

Fill: TypeAlias = Literal["budget", "relevance"]
Entry: TypeAlias = tuple[float, int]
NOBODY: Entry = (inf, -1)  # stands behind all that wait


def pack_evidence(
    candidates: Sequence[Candidate], tracker: BudgetTracker, *, fill: Fill = "budget"
) -> Choices:
    """Fill the budget with sentences; each candidate is shown as those of it that were chosen.

    First come those that are likely beside the best, by worth per token; where rows of them would
    fill the room and the question does not tell them apart, they leave a part of it to others. Then
    comes the rest of the pool: some sentences by density, then whole texts by score. With
    `fill="relevance"` the rest is shown up to the share `LEAN` of the budget and no further.
    """
    selection = build_selection(candidates, tracker)
    room = (tracker.tokens, tracker.characters)[selection.unit] or 0
    least = selection.by_traits * UNLIKELY
    _take_asked(selection)
    likely, unlikely = _entries(selection, least)
    if alike := _rows_alike(selection, likely, room):
        beside = [entry for entry in (*likely, *unlikely) if entry[1] not in alike]
        selection.held_back = alike
        _spend(selection, beside, int(BESIDE_ALIKE * room))
        selection.held_back = frozenset()
    _spend(selection, likely, room)
    reach = room if fill == "budget" else int(LEAN * room)
    some = max(SOME[selection.unit], int(SHARE * reach))
    left = _spend(selection, unlikely, min(reach, some))
    _take_whole(selection, reach)
    _spend(selection, left, reach)
    if not selection.groups:
        _take_least(selection)
    choices = build_choices(selection, room)
    if selection.groups and reach < room:
        record_stop(choices, selection, selection.left(room), least)
    return choices


def _entries(selection: Selection, least: float) -> tuple[list[Entry], list[Entry]]:
    """Every piece by its density: the likely ones, and those that are worth less than `least`.

    A piece is as likely as the likeliest that it is shown with.
    """
    import numpy as np

    worths, costs, heads = selection.worths, selection.costs, selection.heads
    density = np.array(worths) / np.array(costs or 1)
    likely = np.array(worths) >= least
    for piece in np.flatnonzero(np.array(heads) != np.arange(len(heads))).tolist():
        group = selection.with_heads(piece)
        density[piece] = selection.density(piece)
        likely[piece] = max(map(worths.__getitem__, group)) >= least
    order = np.argsort(-density, kind="stable")
    apart = (order[likely[order]], order[~likely[order]])
    first, rest = (list(zip((-density[o]).tolist(), o.tolist(), strict=True)) for o in apart)
    return first, rest


def _take_asked(selection: Selection) -> None:
    """Records that the query names come first if they fit by their count, and not by an estimate.

    The likeliest first, and no more than can be tried one by one; if need be without the title of
    a record's group, or without what is in other chunks.
    """
    order = sorted(
        [p for p in selection.asked if p not in selection.structural],
        key=lambda p: (-selection.worths[p], p),
    )
    for piece in order[:LEAST]:
        if selection.taken[piece]:
            continue
        group = selection.with_heads(piece)
        inner = [p for p in group if selection.owners[p] == selection.owners[piece]]
        heads = [p for p in group[1:] if p in selection.structural] or group[1:][-1:]
        selection.take_first(dict.fromkeys((group, (piece, *heads), tuple(inner))))


def _take_least(selection: Selection) -> None:
    """Where estimates left nothing, the cheapest piece that does fit by its count."""
    worths, costs = selection.worths, selection.costs
    groups = [selection.with_heads(p) for p in range(len(worths)) if p not in selection.structural]
    order = sorted(groups, key=lambda g: (not worths[g[0]], sum([costs[p] for p in g]), g[0]))
    selection.take_first(order[:LEAST])


def _take_whole(selection: Selection, room: int) -> None:
    """All that is not shown yet of each candidate that fits, the best first.

    What was said already is left out, and so is what says nothing by itself.
    """
    for _ in range(ROUNDS):
        left, before = selection.left(room), len(selection.groups)
        for owner in range(len(selection.pool)):
            pieces = selection.rest_of(owner)
            if pieces and (cost := selection.cost(pieces)) <= left:
                selection.take(pieces)
                left -= cost
        if len(selection.groups) == before:
            break
        selection.take_back()


def _rows_alike(selection: Selection, likely: Sequence[Entry], room: int) -> frozenset[int]:
    """Rows, records or the like that the question does not tell apart, if there is no room for all.

    Those of a document hold exactly the same words of it, and no identifier. Empty if none of them
    is likely.
    """
    groups: dict[tuple[str, int], list[int]] = {}
    for owner, candidate in enumerate(selection.pool):
        held = candidate.sentences.words if candidate.sentences else ()
        if not any(held):
            continue
        is_row = candidate.chunk.row is not None  # of a sheet, which may be a chunk of its own
        for place in range(len(held)) if is_row else _counted_places(candidate):
            if held[place]:
                group = groups.setdefault((candidate.document_id, held[place]), [])
                group.append(selection.firsts[owner] + place)
    costs = selection.costs
    many = [group for group in groups.values() if sum([costs[piece] for piece in group]) > room]
    found = frozenset(chain.from_iterable(many)).difference(selection.asked)
    return found if any(piece in found for _, piece in likely) else frozenset()


def _counted_places(candidate: Candidate) -> list[int]:
    """The places of the sentences of a candidate that are rows, records or the like."""
    sentences, shapes = candidate.sentences, shapes_of(candidate.chunk, candidate.parts)
    if sentences is None or not shapes:  # as of most texts
        return []
    starts = {a for shape in shapes for counted in shape.counted for a, _ in counted.spans}
    return [n for n, (a, _) in enumerate(sentences.spans) if a in starts]


def _spend(selection: Selection, waiting: list[Entry], room: int) -> list[Entry]:
    """Take what waits while it fits the room, by the count of what is chosen; what did not fit."""
    repeats: list[int] = []
    fresh = FRESH
    for _ in range(ROUNDS):
        if (left := selection.left(room)) <= 0:
            break
        waiting = _fill(selection, waiting, left, repeats, fresh)
        back = selection.take_back()
        if not back and fresh == NEW and not waiting:
            break  # all of what is left was said, and will not be less said another time
        if back or (repeats and not waiting):
            fresh = FRESH if waiting or back else NEW
            again = [*back[1:], *repeats]  # not what went over last: it would do so again
            waiting += [(-selection.density(p), p) for p in again]
            repeats.clear()
        if selection.left(room) <= SLACK or not waiting:
            break
    return waiting


def _fill(
    selection: Selection, waiting: list[Entry], room: int, repeats: list[int], new: float
) -> list[Entry]:
    """Take pieces while they fit; what did not fit is handed back for another round.

    What says less than the share `new` that was not said already is added to `repeats`. Those that
    wait stand in line, the best last; those whose worth changed since are in a heap beside it.
    """
    costs, taken, heads, runs = selection.costs, selection.taken, selection.heads, selection.runs
    worths, extra, held_back = selection.worths, selection.extra, selection.held_back
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
        worth = (
            -(worths[piece] + extra[piece]) / costs[piece] if lone else -selection.density(piece)
        )
        now = (worth, piece)
        if now[0] > entry[0] and (now > heap[0] or now > line[-1]):
            heappush(heap, now)
            continue
        if runs[piece] and selection.fresh(piece) < new:
            repeats.append(piece)
            continue
        group = (piece,) if lone else selection.with_heads(piece)
        cost = selection.cost(group)
        if cost > room or not selection.may_stand(group):
            left.append(now)
            continue
        room -= cost
        for near in selection.take(group):
            if near not in held_back:
                heappush(heap, (-selection.density(near), near))
    left += [entry for entry in (*line[1:], *heap) if entry is not NOBODY and not taken[entry[1]]]
    return left

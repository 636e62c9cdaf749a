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
from operator import neg, truediv
from typing import Literal, TypeAlias

from foveate.core.renditions import shapes_of
from foveate.core.stages.pack.budget_tracker import BudgetTracker
from foveate.core.stages.pack.choice import Choice, Choices
from foveate.core.stages.pack.outcome import (
    FRESH,
    build_choices,
    places_in_order,
    record_stop,
)
from foveate.core.stages.pack.selection import NEW, Selection, build_selection
from foveate.core.stages.pack.selection_cost import (
    count_changes,
    count_used,
    fit_joined,
    share_over,
    take_back,
)
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
    comes the rest of the pool (`_show_rest`). With `fill="relevance"` the rest is shown up to the
    share `LEAN` of the budget and no further.
    """
    selection = build_selection(candidates, tracker)
    counted: dict[int, Choice] = {}
    room = (tracker.tokens, tracker.characters)[selection.unit] or 0
    selection.likely = selection.by_traits * UNLIKELY
    _take_asked(selection, counted, tracker)
    unlikely, likely = _divide(_all(selection), selection)
    if alike := _rows_alike(selection, likely, room):
        beside = [entry for entry in (*likely, *unlikely) if entry[1] not in alike]
        selection.held_back = alike
        _spend(selection, beside, int(BESIDE_ALIKE * room), counted, tracker)
        selection.held_back = frozenset()
    _spend(selection, likely, room, counted, tracker)
    reach = room if fill == "budget" else int(LEAN * room)
    _show_rest(selection, unlikely, reach, counted, tracker)
    if not selection.groups:
        _take_least(selection, counted, tracker)
    used = count_used(selection, counted)[selection.unit]
    choices = build_choices(selection, counted, tracker, room, used)
    if selection.groups and reach < room:
        record_stop(choices, selection, room - used)
    return choices


def _show_rest(
    selection: Selection,
    unlikely: list[Entry],
    room: int,
    counted: dict[int, Choice],
    tracker: BudgetTracker,
) -> None:
    """What is unlikely to answer: some sentences by density, then whole texts by score."""
    some = max(SOME[selection.unit], int(SHARE * room))
    left = _spend(selection, unlikely, min(room, some), counted, tracker)
    _take_whole(selection, room, counted, tracker)
    _spend(selection, left, room, counted, tracker)


def _take_whole(
    selection: Selection, room: int, counted: dict[int, Choice], tracker: BudgetTracker
) -> None:
    """All that is not shown yet of each candidate that fits, the best first.

    What was said already is left out, and so is what says nothing by itself.
    """
    for _ in range(ROUNDS):
        left = room - count_used(selection, counted)[selection.unit]
        before = len(selection.groups)
        for owner in range(len(selection.pool)):
            pieces = selection.rest_of(owner)
            if pieces and (cost := selection.cost(pieces)) <= left:
                selection.take(pieces)
                left -= cost
        if len(selection.groups) == before:
            break
        count_changes(selection, counted, tracker)
        if take_back(selection, counted, tracker):
            selection.recompute()


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
        for place in range(len(held)) if is_row else _counted_places(selection, owner):
            if held[place]:
                group = groups.setdefault((candidate.document_id, held[place]), [])
                group.append(selection.firsts[owner] + place)
    costs = selection.costs
    many = [group for group in groups.values() if sum([costs[piece] for piece in group]) > room]
    found = frozenset(chain.from_iterable(many)).difference(selection.asked)
    return found if any(piece in found for _, piece in likely) else frozenset()


def _spend(
    selection: Selection,
    waiting: list[Entry],
    room: int,
    counted: dict[int, Choice],
    tracker: BudgetTracker,
) -> list[Entry]:
    """Take what waits while it fits the room, by the count of what is chosen; what did not fit."""
    repeats: list[int] = []
    fresh = FRESH
    for _ in range(ROUNDS):
        left = room - count_used(selection, counted)[selection.unit]
        if left <= 0:
            break
        waiting = _fill(selection, waiting, left, repeats, fresh)
        count_changes(selection, counted, tracker)
        back = take_back(selection, counted, tracker)
        if back:
            selection.recompute()
        elif fresh == NEW and not waiting:
            break  # all of what is left was said, and will not be less said another time
        if back or (repeats and not waiting):
            fresh = FRESH if waiting or back else NEW
            again = [*back[1:], *repeats]  # not what went over last: it would do so again
            waiting += [(-selection.density(p), p) for p in again]
            repeats.clear()
        if room - count_used(selection, counted)[selection.unit] <= SLACK or not waiting:
            break
    return waiting


def _divide(entries: Sequence[Entry], selection: Selection) -> tuple[list[Entry], list[Entry]]:
    """The entries that are unlikely, with all that they are shown with; the likely ones."""
    parts: tuple[list[Entry], list[Entry]] = ([], [])
    worths, heads, least = selection.worths, selection.heads, selection.likely
    for entry in entries:
        piece = entry[1]
        worth = worths[piece]
        if worth < least and heads[piece] != piece:
            worth = max(map(worths.__getitem__, selection.with_heads(piece)))
        parts[worth >= least].append(entry)
    return parts


def _all(selection: Selection) -> list[Entry]:
    """Every piece by its density; few lean on another, and most of those on one that stands."""
    worths, costs, heads = selection.worths, selection.costs, selection.heads
    found = [*map(neg, map(truediv, worths, costs))]
    for piece, head in enumerate(heads):
        if head == piece:
            continue
        if heads[head] == head:
            found[piece] = -(worths[piece] + worths[head]) / (costs[piece] + costs[head])
        else:
            found[piece] = -selection.density(piece)
    order = places_in_order(found)
    return [(found[piece], piece) for piece in order]


def _take_asked(selection: Selection, counted: dict[int, Choice], tracker: BudgetTracker) -> None:
    """Records that the query names come first if they fit by their count, and not by an estimate.

    The likeliest first, and no more than can be tried one by one.
    """
    order = sorted(
        [p for p in selection.asked if p not in selection.structural],
        key=lambda p: (-selection.worths[p], p),
    )
    for piece in order[:LEAST]:
        if selection.taken[piece]:
            continue
        group = selection.with_heads(piece)
        inner = tuple([p for p in group if selection.owners[p] == selection.owners[piece]])
        heads = [p for p in group[1:] if p in selection.structural] or group[1:][-1:]
        named = (piece, *heads)  # without the title of its group
        for some in dict.fromkeys((group, named, inner)):  # what is in other chunks may be too much
            selection.take(some)
            count_changes(selection, counted, tracker)
            if share_over(count_used(selection, counted), tracker) <= 0 or fit_joined(
                selection, counted, tracker
            ):
                break
            selection.drop_last()
            selection.recompute()
            count_changes(selection, counted, tracker)


def _take_least(selection: Selection, counted: dict[int, Choice], tracker: BudgetTracker) -> None:
    """Where estimates left nothing, the cheapest piece that does fit by its count."""
    worths = selection.worths
    pieces = [p for p in range(len(worths)) if p not in selection.structural]
    costs = {p: sum([selection.costs[own] for own in selection.with_heads(p)]) for p in pieces}
    order = sorted(pieces, key=lambda p: (not worths[p], costs[p], p))
    for piece in order[:LEAST]:
        selection.take(selection.with_heads(piece))
        count_changes(selection, counted, tracker)
        if not share_over(count_used(selection, counted), tracker):
            return
        selection.drop_last()
        selection.recompute()
        count_changes(selection, counted, tracker)


def _counted_places(selection: Selection, owner: int) -> list[int]:
    """The places of the pieces of a candidate that are rows, records or the like."""
    candidate, sentences = selection.pool[owner], selection.pool[owner].sentences
    shapes = shapes_of(candidate.chunk, candidate.parts) if sentences else ()
    if sentences is None or not shapes:  # as of most texts
        return []
    starts = {a for shape in shapes for counted in shape.counted for a, _ in counted.spans}
    return [n for n, (a, _) in enumerate(sentences.spans) if a in starts]


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
    left += line[1:] if room <= 0 else [e for e in line[1:] if not taken[e[1]]]
    left += [e for e in heap if e is not NOBODY and (room <= 0 or not taken[e[1]])]
    return left

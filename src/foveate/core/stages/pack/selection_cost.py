"""What a selection costs as it will stand, by the count of its texts and not by estimates.

`counted` has the choice of each candidate of which something is taken, by its place in the pool.
"""

from __future__ import annotations

from collections.abc import Mapping

from foveate.core.renditions import full_rendition, join_chunk_spans
from foveate.core.stages.pack.budget_tracker import BudgetTracker
from foveate.core.stages.pack.choice import Choice
from foveate.core.stages.pack.selection import Selection, open_to_choice
from foveate.core.token_counter import Cost, new_cost
from foveate.core.types import Rendition

NOTHING = Cost(0, 0)
FEW = 2  # blocks: a row, and the names of its columns


def count_changes(selection: Selection, counted: dict[int, Choice], tracker: BudgetTracker) -> None:
    """What the choice costs as it will stand; only what changed is counted again."""
    for owner in sorted(selection.changed):
        if not selection.many[owner]:
            counted.pop(owner, None)
            continue
        candidate, rendition = selection.pool[owner], _rendition(selection, owner)
        cost = tracker.cost(candidate, rendition, "fresh")
        counted[owner] = Choice(candidate=candidate, rendition=rendition, cost=cost)
    selection.changed.clear()


def count_used(selection: Selection, counted: Mapping[int, Choice]) -> Cost:
    """What is spent, if the blocks of a document stand together: the first of it costs more."""
    tokens = characters = 0
    known: set[str] = set()
    for owner, choice in sorted(counted.items()):
        document = choice.candidate.chunk.document_id
        cost, around = choice.cost, selection.openings[owner]
        less = NOTHING
        if document in known:
            (a, b), (c, d) = around["fresh"], around["same"]
            less = new_cost((a - c, b - d))
        known.add(document)
        tokens += max(cost[0] - less[0], 1)
        characters += max(cost[1] - less[1], 1)
    return Cost(tokens, characters)


def share_over(used: Cost, tracker: BudgetTracker) -> float:
    """By what share of what is spent the tighter limit is passed; 0 where neither is."""
    limits = (tracker.tokens, tracker.characters)
    return max(
        (
            1 - most / spent
            for most, spent in zip(limits, used, strict=True)
            if most is not None and spent > most
        ),
        default=0.0,
    )


def take_back(
    selection: Selection, counted: dict[int, Choice], tracker: BudgetTracker
) -> list[int]:
    """Take choices back until what is left fits; the pieces, the last taken first.

    As many at a time as the estimates say are too many, so that texts are counted a few times.
    """
    found: list[int] = []
    while selection.groups and (over := share_over(count_used(selection, counted), tracker)) > 0:
        costs = selection.costs
        enough = over * sum([costs[p] for group in selection.groups for p in group])
        while selection.groups and enough > 0:
            group = selection.drop_last()
            enough -= sum([costs[p] for p in group])
            found += group
        count_changes(selection, counted, tracker)
    return found


def fit_joined(selection: Selection, counted: Mapping[int, Choice], tracker: BudgetTracker) -> bool:
    """Whether the blocks of one document fit as one text, a few tokens less than their sum.

    Nothing else can come between them then. They may stand in either order.
    """
    chosen = [choice for _, choice in sorted(counted.items())]
    if len(chosen) != FEW or len({choice.candidate.document_id for choice in chosen}) > 1:
        return False
    header, body = tracker.counter.header, tracker.counter.body
    for order in (chosen, chosen[::-1]):
        parts = [
            header(choice.candidate, "behind" if n else "first") + body(choice.rendition.text)
            for n, choice in enumerate(order)
        ]
        text = "".join(parts)
        if not tracker.fits(Cost(tracker.counter.tokenizer.count(text), len(text))):
            return False
    return tracker.per_document is None


def _rendition(selection: Selection, owner: int) -> Rendition:
    """The chosen sentences of a candidate; all of them are the text itself."""
    candidate, first = selection.pool[owner], selection.firsts[owner]
    sentences, last = candidate.sentences, selection.firsts[owner + 1]
    if sentences is None or selection.many[owner] == last - first or not open_to_choice(candidate):
        return candidate.shown or full_rendition(candidate)
    places = [n - first for n in range(first, last) if selection.taken[n]]
    text, ranges = join_chunk_spans(
        candidate.chunk, [sentences.spans[n] for n in places], candidate.parts
    )
    value = sum([sentences.worths[n] for n in places]) / (sum(sentences.worths) or 1.0)
    return Rendition(kind="extract", text=text, spans=ranges, value=min(value, 1.0))

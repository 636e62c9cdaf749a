"""What packing policies hand back, and those that go through the candidates in an order.

`greedy` by score, `score_weighted` the same but stopping, `interleaved` round robin over
documents, `documents` whole groups. Each differs only in the order and in what happens when one
does not fit. Whatever the policy, one that does not fit stops nothing while nothing is taken: the
smallest budget that does is then that of the smallest text, whichever is the best.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest

from foveate.core.renditions import full_rendition, join_chunk_spans, shapes_of
from foveate.core.stages.pack.budget_tracker import BudgetTracker
from foveate.core.text.graphemes import last_word_boundary
from foveate.core.text.sentences import sentence_spans
from foveate.core.text.shapes.shape import Shape
from foveate.core.token_counter import Cost, TokenCounter
from foveate.core.types import Candidate, Decision, Number, Rendition, Span, rank

LONGEST_TOKEN = 64  # characters; more text than this per token is never looked at


@dataclass(frozen=True, slots=True)
class Choice:
    """One candidate, shown as one rendition, at a cost."""

    candidate: Candidate
    rendition: Rendition
    cost: Cost


@dataclass(slots=True)
class Choices:
    """All that a policy decided. `left_out` maps a candidate's id to the reason code.

    `waits`: by id, how many tokens would come in before it, and how many more room it would take
    if none would; None: candidates are taken one after another, each is the next.
    """

    chosen: list[Choice] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    waits: dict[str, tuple[int, int]] | None = None
    notes: dict[str, Number] = field(default_factory=dict)


def why_left_out(
    candidates: Sequence[Candidate], choices: Choices, tracker: BudgetTracker
) -> list[Decision]:
    """A decision for every candidate left out, with its counterfactual.

    `short_by`: the budget that many tokens larger, all else the same, would hold it. `likelier`:
    where sentences are chosen, about so many tokens of likelier ones come in before any of it.
    `lost_by`: the distance to the least score that was chosen ahead of it (`by`).
    """
    worst = max((choice.candidate for choice in choices.chosen), key=rank, default=None)
    last = None if worst is None else rank(worst)
    decisions = []
    for candidate in candidates:
        own = candidate.chunk.id
        if own not in choices.left_out:
            continue
        cost = tracker.shortest(candidate)
        numbers: dict[str, Number] = {"tokens": cost.tokens}
        before, short = (choices.waits or {}).get(own, (0, 0))
        if choices.waits is None:
            short = tracker.short_by(cost)
        if before:
            numbers["likelier"] = before
        elif short > 0:
            numbers["short_by"] = short
        by = ""
        if worst is not None and last is not None and last < rank(candidate):
            by = worst.chunk.id
            numbers["lost_by"] = round(worst.score - candidate.score, 6)
        reason = choices.left_out[own]
        decisions.append(
            Decision(chunk_id=own, action="dropped", reason=reason, by=by, numbers=numbers)
        )
    return decisions


RenditionOptions = Callable[[Candidate], Sequence[Rendition]]
Cut = Callable[[Candidate, BudgetTracker], Rendition | None]


def by_score(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Best first."""
    return sorted(candidates, key=rank)


def round_robin(candidates: Iterable[Candidate]) -> list[Candidate]:
    """One of each document in turn, documents by their best score."""
    columns = zip_longest(*documents(candidates))
    return [candidate for candidate in chain.from_iterable(columns) if candidate is not None]


def documents(candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    """Best first inside each document, documents by their best."""
    groups: dict[str, list[Candidate]] = {}
    for candidate in by_score(candidates):
        groups.setdefault(candidate.chunk.document_id, []).append(candidate)
    return list(groups.values())


def take_in_turn(
    order: Sequence[Candidate],
    tracker: BudgetTracker,
    renditions_of: RenditionOptions,
    cut: Cut | None,
    *,
    stop: bool,
) -> Choices:
    """Take each candidate in the fullest rendition that fits.

    `stop` at the first that does not fit beside others, or that is cut.
    """
    choices = Choices()
    stopped = False
    for candidate in order:
        if stopped:
            choices.left_out[candidate.chunk.id] = "after_stop"
            continue
        choice = fullest_that_fits(candidate, tracker, renditions_of(candidate))
        if choice is None:
            choice = _cut_to_fit(candidate, tracker, cut)
            stopped = stop and (choice is not None or bool(choices.chosen))
        if choice is None:
            choices.left_out[candidate.chunk.id] = "over_budget"
            continue
        tracker.take(candidate, choice.cost)
        choices.chosen.append(choice)
    return choices


def take_groups(
    groups: Sequence[Sequence[Candidate]],
    tracker: BudgetTracker,
    renditions_of: RenditionOptions,
    cut: Cut | None,
    *,
    stop: bool,
) -> Choices:
    """Take whole documents; the best one is cut down to what fits rather than lost."""
    choices = Choices()
    stopped = False
    for group in groups:
        taken = None if stopped else _whole_group(group, tracker)
        if taken is not None:
            choices.chosen.extend(taken)
            continue
        if not stopped and not choices.chosen:
            part = take_in_turn(group, tracker, renditions_of, cut, stop=False)
            choices.chosen.extend(part.chosen)
            choices.left_out |= part.left_out
        else:
            reason = "after_stop" if stopped else "document_over_budget"
            choices.left_out |= {candidate.chunk.id: reason for candidate in group}
        stopped = stop and bool(choices.chosen)
    return choices


def fullest_that_fits(
    candidate: Candidate, tracker: BudgetTracker, renditions: Sequence[Rendition]
) -> Choice | None:
    """The first rendition that the budget holds."""
    for rendition in renditions:
        cost = tracker.afford(candidate, rendition)
        if cost is not None:
            return Choice(candidate=candidate, rendition=rendition, cost=cost)
    return None


def _cut_to_fit(candidate: Candidate, tracker: BudgetTracker, cut: Cut | None) -> Choice | None:
    if cut is None:
        return None
    rendition = cut(candidate, tracker)
    return fullest_that_fits(candidate, tracker, (rendition,)) if rendition is not None else None


def _whole_group(group: Sequence[Candidate], tracker: BudgetTracker) -> list[Choice] | None:
    """Every candidate of the group in full, or as compress offers it; None if one does not fit."""
    before = (tracker.tokens, tracker.characters, set(tracker.documents), tracker.blocks)
    taken = []
    for candidate in group:
        offered = (
            (candidate.shown,)
            if candidate.shown
            else (full_rendition(candidate), *candidate.renditions)
        )
        choice = fullest_that_fits(candidate, tracker, offered)
        if choice is None:
            tracker.tokens, tracker.characters, tracker.documents, tracker.blocks = before
            return None
        tracker.take(candidate, choice.cost)
        taken.append(choice)
    return taken


def truncate_candidate(
    candidate: Candidate,
    room: int | None,
    characters: int | None,
    *,
    at: str,
    counter: TokenCounter,
    language: str = "en",
) -> Rendition | None:
    """The longest beginning of the candidate that fits `room` tokens and `characters`; or None.

    It ends behind a sentence or a record, or at a token boundary on request (`at`), never inside a
    word of a script that has spaces or inside a grapheme. What is kept is counted as it will be
    rendered, the mark included that tells the reader how many records are left out.
    """
    reach = len(candidate.text)
    if room is not None:
        reach = min(reach, max(room, 0) * LONGEST_TOKEN)
    if characters is not None:
        reach = min(reach, max(characters, 0))
    text = candidate.text[:reach]
    is_whole = at == "sentence"
    ends: Sequence[int] = range(1, len(text) + 1)
    if is_whole:
        whole = len(candidate.text.rstrip())  # which did not fit, or nothing would be cut
        ends = [end for end in _unit_ends(candidate, text, language) if end < whole]

    def cut_at(end: int) -> tuple[str, tuple[Span, ...]]:
        spans = [(0, len(text[:end].rstrip()))]
        return join_chunk_spans(candidate.chunk, spans, candidate.parts)

    def fits(end: int) -> bool:
        shown, _ = cut_at(end)
        if characters is not None and len(counter.body(shown)) > characters:
            return False
        return room is None or counter.count_uncached(shown) <= room

    end = _last_that_fits(ends, fits)
    if not is_whole:
        end = last_word_boundary(candidate.text, end)
        while end > 0 and not fits(end):
            end = last_word_boundary(candidate.text, end - 1)
    size = len(text[:end].rstrip())
    if not size or size == len(candidate.text):
        return None
    shown, spans = cut_at(end)
    return Rendition(kind="truncated", text=shown, spans=spans, value=size / len(candidate.text))


def _unit_ends(candidate: Candidate, text: str, language: str) -> list[int]:
    """Where sentences of the text end, or in its shapes the records, rows, lines and turns."""
    shapes = shapes_of(candidate.chunk)
    ends = [end for _, end in sentence_spans(text, language)]
    if not shapes:
        return ends
    starts = [shape.start for shape in shapes]
    prose = [e for e in ends if (n := bisect_left(starts, e)) == 0 or e > shapes[n - 1].end]
    inside = [b for shape in shapes for _, b in shape.spans if _first_row(shape) < b <= len(text)]
    return sorted({*prose, *inside})


def _first_row(shape: Shape) -> int:
    """Where what is counted begins: the names of columns alone say nothing (SPEC V4)."""
    return min((found.spans[0][0] for found in shape.counted if found.spans), default=shape.start)


def _last_that_fits(ends: Sequence[int], fits: Callable[[int], bool]) -> int:
    """Binary search for the last end that fits; 0 where none does."""
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(ends[middle - 1]):
            low = middle
        else:
            high = middle - 1
    return ends[low - 1] if low else 0

"""Order: the place of each block in the context.

Every order depends on the blocks alone. Supplements stay first. Best is the
best-scored; if the sentences of all were weighed, the one with the most likely evidence for its
length. With `groups`, a document's candidates move as one block, ranked by the best of them. Else
rows and code do with the names and signatures that their metadata say they belong to.

Worth falls steeply: behind the best block, it hardly matters which of a document's blocks has
which of their places, so `attention` lets them read as the document does, from the best on. On 13
sets, 20 of 100 pairs of a document's blocks are then in the wrong order instead of 44, and recall
weighted by place falls by 0.0007. If the best moved too, it would fall by 0.015.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias, get_args

from foveate.core.checks import check_choice
from foveate.core.grouping import (
    group_by_document,
    head_places,
    place_in_document,
    reading_order,
    split_supplements,
)
from foveate.core.request import Request
from foveate.core.types import Candidate, Number, Step, rank

OrderBy: TypeAlias = Literal[
    "relevance",
    "chronological",
    "bookend",
    "edges",
    "lost_in_middle",
    "document",
    "attention",
    "as_packed",
]
_BlockGroup: TypeAlias = tuple[Candidate, ...]
_Key: TypeAlias = Callable[[Candidate], tuple[object, ...]]

_BY_RANK = ("relevance", "bookend", "edges", "lost_in_middle", "attention")
_MAX_PLAIN_BOOKEND = 3
_ROUNDS = 3
_HEADER_CHARACTERS = 60  # characters; what stands around a block, about

LOST_IN_THE_MIDDLE = (75.8, 56.7, 54.0, 55.8, 63.2)
"""Answers right, in per cent, with the evidence at evenly spaced places from first to last.

Liu et al., "Lost in the middle", 2023, GPT-3.5-Turbo, 20 documents: 75.8, 57.2, 53.8, 55.4 and
63.2 with the evidence as document 1, 5, 10, 15 and 20; moved to even spacing along straight lines.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Put the blocks where the model reads them best.

    `relevance`: best first. `chronological`: by source and place in it. `bookend`: best
    first, second-best last, the rest between them. `edges`, or `lost_in_middle`: 1st, 3rd, 5th …
    6th, 4th, 2nd. `document`: as `Group` does. `as_packed`: as they came, which with
    `Pack(as_taken=True)` is the order in which they were taken. `attention`: the best block on the
    best-read place of `LOST_IN_THE_MIDDLE`; a place is where the middle of its text stands. Behind
    the best, a document's blocks stand on their places in the order in which it reads, what goes
    on with the best's passage first.
    """

    by: OrderBy = "relevance"
    groups: bool = False

    def __post_init__(self) -> None:
        check_choice("order", "by", self.by, get_args(OrderBy))

    @property
    def keeps_order(self) -> bool:
        """Whether the order that comes in shows in the one that goes out."""
        by_place = self.by in ("document", "chronological")
        return self.by == "as_packed" or (self.groups and not by_place)

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Reorder the candidates; no decisions.

        The notes say by what, and `ranks`: for each place, which of the blocks stands there, 1 the
        best.
        """
        aside, rest = split_supplements(candidates)
        notes: dict[str, Number] = {"by": self.by}
        if self.by == "document":
            blocks: Sequence[_BlockGroup] = group_by_document(rest)
        else:
            blocks = _group_blocks(rest, groups=self.groups)
            if self.by == "chronological":
                blocks = [tuple(sorted(block, key=reading_order)) for block in blocks]
                blocks = _sort_blocks(blocks, reading_order)
            elif self.by != "as_packed":
                blocks = _sort_blocks(blocks, _sort_key(rest))
            sizes = [_text_size(block) for block in blocks] if self.by == "attention" else blocks
            places = arrange(self.by, sizes)
            if self.by == "attention" and blocks:
                places = _restore_reading_order(blocks, places)
            blocks = [blocks[n] for n in places]
            if self.by in _BY_RANK and len(places) > 1:
                notes["ranks"] = " ".join(str(n + 1) for n in places)
        return Step(candidates=(*aside, *(c for block in blocks for c in block)), notes=notes)


def arrange(by: OrderBy, sizes: Sequence[object]) -> list[int]:
    """For each place from first to last, which block stands there; 0 is the best.

    `sizes`: one for each block, the best first; in characters for `attention`.

    >>> arrange("bookend", range(5)), arrange("edges", range(6))
    ([0, 2, 3, 4, 1], [0, 2, 4, 5, 3, 1])
    """
    n = len(sizes)
    if by == "bookend" and n > _MAX_PLAIN_BOOKEND:
        return [0, *range(2, n), 1]
    if by in ("edges", "lost_in_middle"):
        return [*range(0, n, 2), *reversed(range(1, n, 2))]
    if by == "attention":
        return arrange_by_attention([size for size in sizes if isinstance(size, int)])
    return list(range(n))


def arrange_by_attention(
    sizes: Sequence[int], curve: tuple[float, ...] = LOST_IN_THE_MIDDLE
) -> list[int]:
    """For each place the block there: the better the block, the better-read its place.

    Where a place is depends on the sizes of the blocks before it: blocks are placed as if all
    were of one size, then by where that put them, a few times.

    >>> arrange_by_attention([7, 7, 7, 7, 7], (9.0, 1.0, 5.0))
    [0, 1, 4, 3, 2]
    """
    n = len(sizes)
    found: list[int] = []
    placed = [1] * n
    for _ in range(_ROUNDS):
        heights = _curve_at_blocks(placed, curve)
        order = sorted(range(n), key=lambda place: (-heights[place], place))
        before, found = found, [0] * n
        for block, place in enumerate(order):
            found[place] = block
        if found == before:
            break
        placed = [sizes[block] for block in found]
    return found


def _curve_at_blocks(sizes: Sequence[int], curve: tuple[float, ...]) -> list[float]:
    if len(sizes) < 2:
        return [curve[0]] * len(sizes)
    ends = list(accumulate(sizes))
    middles = [2 * end - size for end, size in zip(ends, sizes, strict=True)]
    first, reach = middles[0], (middles[-1] - middles[0]) or 1
    return [_curve_at(middle - first, reach, curve) for middle in middles]


def _curve_at(at: int, reach: int, curve: tuple[float, ...]) -> float:
    # Whole numbers as long as possible, so that equal heights come out equal.
    point, beyond = divmod(at * (len(curve) - 1), reach)
    if not beyond:
        return curve[point]
    return curve[point] + (curve[point + 1] - curve[point]) * beyond / reach


def _restore_reading_order(blocks: Sequence[_BlockGroup], places: Sequence[int]) -> list[int]:
    """The places, with each document's blocks in its order; the best block, 0, stays.

    What goes on with the best's passage is next. `blocks`: the best first; what no sequence,
    offset or row tells apart is left as it is.
    """
    best = blocks[0][0]

    def reads(block: int) -> tuple[bool, tuple[int, ...]]:
        own, place = blocks[block][0], _document_place(blocks[block][0])
        is_of_passage = bool(own.parts) and own.text == best.text
        return not (is_of_passage and place > _document_place(best)), place

    of_document: dict[str, list[int]] = {}
    for place, block in enumerate(places):
        if block:
            of_document.setdefault(blocks[block][0].document_id, []).append(place)
    found = list(places)
    for own in of_document.values():
        in_order = sorted([places[place] for place in own], key=reads)
        for place, block in zip(own, in_order, strict=True):
            found[place] = block
    return found


def _document_place(candidate: Candidate) -> tuple[int, ...]:
    """Where what is shown begins in its document; 0 for what is not known."""
    chunk, shown = candidate.chunk, candidate.shown
    within = shown.spans[0][0] if shown and shown.spans else 0
    start = 0 if chunk.start is None else chunk.start + within
    page, sequence, _, *others = place_in_document(chunk)
    return (page, sequence, start, *others)


def _group_blocks(candidates: tuple[Candidate, ...], *, groups: bool) -> list[_BlockGroup]:
    """Each candidate by itself, or behind that which it is never shown without, as one block."""
    if not groups:
        return _behind_heads(candidates)
    found: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault(candidate.chunk.document_id, []).append(candidate)
    return [tuple(group) for group in found.values()]


def _behind_heads(candidates: tuple[Candidate, ...]) -> list[_BlockGroup]:
    """Rows and code follow the chunks with their names and signatures that their metadata name."""
    chunks = [[part.chunk for part in c.parts] or [c.chunk] for c in candidates]
    heads = [{place for chunk in own for place in head_places(chunk)} for own in chunks]
    if not any(heads):
        return [(candidate,) for candidate in candidates]
    places = {(c.document_id, c.sequence): n for n, own in enumerate(chunks) for c in own}
    lead = list(range(len(candidates)))  # by candidate, one that it moves with

    def first(n: int) -> int:
        while lead[n] != n:
            lead[n] = n = lead[lead[n]]
        return n

    for n, wanted in enumerate(heads):
        for head in wanted & places.keys():
            lead[first(n)] = first(places[head])
    found: dict[int, list[Candidate]] = {}
    for n, candidate in enumerate(candidates):
        found.setdefault(first(n), []).append(candidate)
    return [tuple(sorted(same, key=reading_order)) for same in found.values()]


def _text_size(block: _BlockGroup) -> int:
    return sum([_HEADER_CHARACTERS + len(_shown_text(c)) for c in block])


def _shown_text(candidate: Candidate) -> str:
    return candidate.shown.text if candidate.shown else candidate.text


def _sort_key(candidates: tuple[Candidate, ...]) -> _Key:
    if not candidates or any(c.sentences is None for c in candidates):
        return rank
    best = {c.id: _worth_density(c) for c in candidates}
    return lambda c: (-best[c.id], *rank(c))


def _worth_density(candidate: Candidate) -> float:
    """The worth of the sentences that the candidate shows, per character of its block."""
    sentences, shown = candidate.sentences, candidate.shown
    if sentences is None:
        return 0.0
    size = _HEADER_CHARACTERS + len(_shown_text(candidate))
    if shown is None or not shown.verbatim:
        return sum(sentences.worths) / size
    ends = [end for _, end in shown.spans]
    worth = 0.0
    for (a, b), value in zip(sentences.spans, sentences.worths, strict=True):
        if (n := bisect_left(ends, b)) < len(ends) and shown.spans[n][0] <= a:
            worth += value
    return worth / size


def _sort_blocks(blocks: list[_BlockGroup], key: _Key) -> list[_BlockGroup]:
    return sorted(blocks, key=lambda b: key(b[0]) if len(b) == 1 else min(map(key, b)))

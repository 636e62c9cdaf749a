"""Order: the place of each block in the context, when it is known which blocks there are.

Pure reordering: no decisions. Rules: every order is a function of the blocks alone, never of how
they came in, and none depends on whether their number is odd or even; side knowledge stays first.
Best is the best-scored; where the sentences of all were weighed, the one that shows the likeliest
sentence. With `groups`, a document's candidates move as one block, ranked by the best of them, and
keep their present order inside it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeAlias, get_args

from foveate.core.errors import BadOption
from foveate.core.grouping import by_document, set_aside
from foveate.core.types import Candidate, Request, Step, rank, reading_order

By: TypeAlias = Literal["relevance", "chronological", "bookend", "edges", "document", "attention"]
_Block: TypeAlias = tuple[Candidate, ...]
_Key: TypeAlias = Callable[[Candidate], tuple[object, ...]]

_PLAIN_BOOKEND = 3
_FEWEST_POINTS = 2

LOST_IN_THE_MIDDLE = (75.8, 56.7, 54.0, 55.8, 63.2)
"""Answers right, in per cent, with the evidence at evenly spaced places from first to last.

Liu et al., "Lost in the middle", 2023, GPT-3.5-Turbo, 20 documents: 75.8, 57.2, 53.8, 55.4 and
63.2 with the evidence as document 1, 5, 10, 15 and 20; moved to even spacing along straight lines.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Put the blocks where the model reads them best.

    `relevance`: best first. `chronological`: by source, page, sequence. `bookend`: best first,
    second-best last, the rest between them. `edges`: 1st, 3rd, 5th … 6th, 4th, 2nd. `document`:
    as `Group` does. `attention`: the best block on the best-read place of `curve`, a measure of
    reading (any unit) at evenly spaced places from first to last.
    """

    by: By = "relevance"
    groups: bool = False
    curve: tuple[float, ...] = LOST_IN_THE_MIDDLE

    def __post_init__(self) -> None:
        """Refuse an order that does not exist and a curve that is none."""
        if self.by not in get_args(By):
            raise BadOption(
                f"order: by is {self.by!r}; it must be one of {', '.join(get_args(By))}"
            )
        object.__setattr__(self, "curve", tuple(self.curve))
        if len(self.curve) < _FEWEST_POINTS or not all(map(isfinite, self.curve)):
            raise BadOption(f"order: curve is {self.curve!r}; give at least two finite numbers")

    @property
    def keeps_order(self) -> bool:
        """Whether the order that comes in shows in the one that goes out: inside groups only."""
        return self.groups and self.by != "document"

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Reorder the candidates; no decisions."""
        aside, rest = set_aside(candidates)
        if self.by == "document":
            blocks: Sequence[_Block] = by_document(rest)
        else:
            key = reading_order if self.by == "chronological" else _goodness(rest)
            blocks = _sorted(_blocks(rest, groups=self.groups), key)
            blocks = [blocks[place] for place in arrangement(self.by, len(blocks), self.curve)]
        return Step(candidates=(*aside, *(c for block in blocks for c in block)))


def arrangement(by: By, n: int, curve: tuple[float, ...] = LOST_IN_THE_MIDDLE) -> list[int]:
    """For each of `n` places from first to last, which block stands there; 0 is the best.

    >>> arrangement("bookend", 5), arrangement("edges", 6)
    ([0, 2, 3, 4, 1], [0, 2, 4, 5, 3, 1])
    """
    if by == "bookend" and n > _PLAIN_BOOKEND:
        return [0, *range(2, n), 1]
    if by == "edges":
        return [*range(0, n, 2), *reversed(range(1, n, 2))]
    if by == "attention":
        places = [0] * n
        for block, place in enumerate(best_read(n, curve)):
            places[place] = block
        return places
    return list(range(n))


def best_read(n: int, curve: tuple[float, ...]) -> list[int]:
    """The `n` places, the best-read first; of equally well read ones the earlier.

    >>> best_read(5, (9.0, 1.0, 5.0))
    [0, 1, 4, 3, 2]
    """
    return sorted(range(n), key=lambda place: (-_height(place, n, curve), place))


def _height(place: int, n: int, curve: tuple[float, ...]) -> float:
    """The curve at this place, along the straight line between the two points around it."""
    if n == 1:
        return curve[0]
    # Whole numbers as long as possible, so that equal heights come out equal.
    point, beyond = divmod(place * (len(curve) - 1), n - 1)
    if not beyond:
        return curve[point]
    return curve[point] + (curve[point + 1] - curve[point]) * beyond / (n - 1)


def _blocks(candidates: tuple[Candidate, ...], *, groups: bool) -> list[_Block]:
    if not groups:
        return [(candidate,) for candidate in candidates]
    found: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault(candidate.chunk.document_id, []).append(candidate)
    return [tuple(group) for group in found.values()]


def _goodness(candidates: tuple[Candidate, ...]) -> _Key:
    """By the likeliest sentence that is shown, where it is known of all; else by score."""
    if not candidates or any(c.sentences is None for c in candidates):
        return rank
    best = {c.id: _likeliest(c) for c in candidates}
    return lambda c: (-best[c.id], *rank(c))


def _likeliest(candidate: Candidate) -> float:
    """The highest worth of a sentence that the candidate shows."""
    sentences, shown = candidate.sentences, candidate.shown
    if sentences is None:
        return 0.0
    if shown is None or not shown.verbatim:
        return max(sentences.worths, default=0.0)
    ends = [end for _, end in shown.spans]
    best = 0.0
    for (a, b), worth in zip(sentences.spans, sentences.worths, strict=True):
        if worth > best and (n := bisect_left(ends, b)) < len(ends) and shown.spans[n][0] <= a:
            best = worth
    return best


def _sorted(blocks: list[_Block], key: _Key) -> list[_Block]:
    return sorted(blocks, key=lambda b: key(b[0]) if len(b) == 1 else min(map(key, b)))

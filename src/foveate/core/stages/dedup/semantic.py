"""Cosine of embeddings, in integers, and words that agree enough.

Vectors are scaled to a length of about 4,000 and rounded to whole numbers. A product then never
passes 2**24 (Cauchy-Schwarz), so float32 holds it exactly whatever the order of summation; beyond
some 30,000 dimensions float64 is used. The rounding moves a cosine by less than 0.001. The texts
must also share half of all their words (Jaccard 0.5), and their facts must agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from foveate.core.errors import BadInput
from foveate.core.stages.dedup.jaccard import Ints, Jaccard
from foveate.core.stages.dedup.resolve_duplicates import Match, Threshold
from foveate.core.types import Vector

LENGTH = 4000
BLOCK = 256


class Semantic:
    """A finder over vectors; `words`: a Jaccard finder at `WORDS_AGREE`, if guarded."""

    def __init__(
        self, vectors: Sequence[Vector | None], threshold: Threshold, words: Jaccard | None
    ) -> None:
        self.compared = 0
        self._threshold = threshold
        self._words = words
        self._rows, self._squares = quantise(vectors)
        self._roots = np.sqrt(self._squares)
        self._kept = np.zeros(len(vectors), dtype=bool)
        self._start, self._stop = 0, 0
        self._columns: Ints = np.empty(0, dtype=np.int64)

    def similar(self, i: int) -> list[Match]:
        """The kept texts that text i is similar to, unless neither may leave for the other."""
        if not self._squares[i]:
            return []
        if i >= self._stop:
            self._multiply(i)
        row = i - self._start
        hits = self._columns[self._likely[row]]
        others = hits[self._kept[hits]]
        if self._words is not None and len(others):
            matches = self._words.among(i, others)
            others = np.array([match.other for match in matches], dtype=np.int64)
        self.compared += len(others)
        return [match for other in others.tolist() if (match := self._match(i, other)) is not None]

    def keep(self, i: int) -> None:
        """Text i is kept."""
        if not self._squares[i]:
            return
        self._kept[i] = True
        if self._words is not None:
            self._words.keep(i)

    def _match(self, i: int, other: int) -> Match | None:
        column = int(self._columns.searchsorted(other))
        dot, square = int(self._dots[i - self._start, column]), int(self._squares[i])
        square *= int(self._squares[other])
        if not self._threshold.is_reached_by_root(dot, square):
            return None
        return Match(other, dot / sqrt(square))

    def _multiply(self, i: int) -> None:
        """The block that starts with text i, against all kept before it and against itself."""
        self._start, self._stop = i, min(i + BLOCK, len(self._kept))
        block = np.arange(self._start, self._stop)
        self._columns = np.concatenate((np.flatnonzero(self._kept), block))
        self._dots = self._rows[block] @ self._rows[self._columns].T
        share = self._threshold.value * (1 - 1e-6)
        least = np.outer(self._roots[block] * share, self._roots[self._columns])
        self._likely = (self._dots >= least) & (self._dots > 0)


def quantise(vectors: Sequence[Vector | None]) -> tuple[NDArray[np.floating], Ints]:
    """Whole numbers, a row a vector, and the rows' squared lengths; raises `BadInput`."""
    known = {i: vector for i, vector in enumerate(vectors) if vector is not None}
    lengths = {len(vector) for vector in known.values()}
    if len(lengths) > 1:
        raise BadInput(f"vectors of different lengths: {sorted(lengths)}", field="embedding")
    whole = np.zeros((len(vectors), max(lengths, default=0)), dtype=np.float32)
    for i, given in known.items():
        vector = np.asarray(given, dtype=np.float64)
        largest = np.abs(vector).max(initial=0.0)
        if not np.isfinite(largest):
            raise BadInput("the vector holds a value that is not finite", field="embedding")
        if largest > 0:
            vector = vector / largest
            coarse = np.rint(vector * 127)
            length = sqrt(int(np.square(coarse).sum()))  # whole numbers: the same in any order
            whole[i] = np.rint(vector * (LENGTH * 127 / length))
    squares = np.einsum("ij,ij->i", whole, whole, dtype=np.float64).astype(np.int64)
    if squares.max(initial=0) >= 2**24:
        return whole.astype(np.float64), squares
    return whole, squares

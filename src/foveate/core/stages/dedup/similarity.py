"""The three measures of similarity, each in whole numbers: a share that reaches a threshold or not.

jaccard      shared words over all words of the two
containment  shared word triples over those of the text that leaves
semantic     cosine of the embeddings; half of all words must be shared too
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from foveate.core.errors import BadInput
from foveate.core.text.words import shingles
from foveate.core.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

Method: TypeAlias = Literal["jaccard", "containment", "semantic"]
Elements: TypeAlias = Callable[[tuple[str, ...]], tuple[Any, ...]]
"""What of a text's words is counted, each once."""
LARGEST = 1 << 15
"""The largest number of a vector in whole numbers; a cosine moves by less than 0.001."""


class Threshold:
    """A share above 0, up to 1. `strict`: reaching it is not enough, it must be passed.

    >>> Threshold(0.9).is_reached(9, 10), Threshold(0.9, strict=True).is_reached(9, 10)
    (True, False)
    """

    def __init__(self, value: float, *, strict: bool = False) -> None:
        self.strict = strict
        self._part, self._whole = Fraction(str(value)).as_integer_ratio()

    def is_reached(self, part: int, whole: int) -> bool:
        """Whether `part` is this share of `whole`."""
        have, need = part * self._whole, whole * self._part
        return have > need if self.strict else have >= need

    def is_reached_by_root(self, part: int, square: int) -> bool:
        """Whether `part` is this share of the square root of `square`."""
        have, need = (part * self._whole) ** 2, square * self._part**2
        return part > 0 and (have > need if self.strict else have >= need)

    def least(self, whole: int) -> int:
        """The smallest count that is this share of `whole`."""
        need = whole * self._part
        return need // self._whole + 1 if self.strict else -(-need // self._whole)


class Features(NamedTuple):
    """What of a text is compared: the distinct elements, and the embedding."""

    elements: frozenset[Any]
    vector: Vector | None


class Similarity(NamedTuple):
    """What of a text is counted, and the similarity of two, or None if it is too small."""

    elements: Elements
    between: Callable[[Features, Features, Threshold], float | None]


def _jaccard(one: Features, other: Features, threshold: Threshold) -> float | None:
    shared = len(one.elements & other.elements)
    union = len(one.elements) + len(other.elements) - shared
    return shared / union if shared and threshold.is_reached(shared, union) else None


def _containment(one: Features, other: Features, threshold: Threshold) -> float | None:
    shared, whole = len(one.elements & other.elements), len(one.elements)
    return shared / whole if shared and threshold.is_reached(shared, whole) else None


def _cosine(one: Features, other: Features, threshold: Threshold) -> float | None:
    if _jaccard(one, other, WORDS_AGREE) is None or one.vector is None or other.vector is None:
        return None
    if len(one.vector) != len(other.vector):
        lengths = sorted((len(one.vector), len(other.vector)))
        raise BadInput(f"vectors of different lengths: {lengths}", field="embedding")
    mine, theirs = whole_numbers(one.vector), whole_numbers(other.vector)
    product, square = int(mine @ theirs), int(mine @ mine) * int(theirs @ theirs)
    return product / sqrt(square) if threshold.is_reached_by_root(product, square) else None


def whole_numbers(vector: Vector) -> NDArray[np.int64]:
    """The vector in whole numbers, whose products are exact in any order; raises `BadInput`."""
    given = np.asarray(vector, dtype=np.float64)
    largest = np.abs(given).max(initial=0.0)
    if not np.isfinite(largest):
        raise BadInput("the vector holds a value that is not finite", field="embedding")
    found: NDArray[np.int64] = np.rint(given / (largest or 1.0) * LARGEST).astype(np.int64)
    return found


WORDS_AGREE = Threshold(0.5)
"""The Jaccard similarity that the words of texts with like vectors must have."""
SIMILARITIES: Mapping[Method, Similarity] = {
    "jaccard": Similarity(tuple, _jaccard),
    "containment": Similarity(shingles, _containment),
    "semantic": Similarity(tuple, _cosine),
}

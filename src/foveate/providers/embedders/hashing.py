"""Feature hashing of words and their letter triples, without a model; it knows spelling alone.

Weinberger et al., "Feature hashing for large scale multitask learning", ICML 2009.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from blake3 import blake3

from foveate.core.errors import BadOption

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class HashingEmbedder:
    """Vectors of `dimensions` numbers; the counts are whole, so every machine gives the same."""

    dimensions: int = 256
    copies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse a length that no vector has."""
        if self.dimensions < 1:
            raise BadOption(f"hashing: dimensions is {self.dimensions}; it must be 1 or more")

    @property
    def name(self) -> str:
        """Method, size and version."""
        return f"hashing-{self.dimensions}@1"

    def embed(self, texts: Sequence[str]) -> Any:
        """Float32, shape (len(texts), dimensions), rows of length 1 (of 0 for a text of no word).

        >>> HashingEmbedder(dimensions=8).embed(["two words", ""]).shape
        (2, 8)
        """
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), dtype=np.float64)
        for row, text in zip(rows, texts, strict=True):
            for feature, count in Counter(_features(text)).items():
                bits = int.from_bytes(blake3(feature.encode()).digest(8), "little")
                sign = 1 if bits & 1 else -1
                row[(bits >> 1) % self.dimensions] += sign * count
        lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
        return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def _features(text: str) -> list[str]:
    features: list[str] = []
    for word in _WORD.findall(text.casefold()):
        marked = f"<{word}>"
        features.append(marked)
        features.extend(marked[i : i + 3] for i in range(len(marked) - 2))
    return features

"""BM25 over passages in memory, to rank pools where a public data set comes without scores.

Lucene's variant: idf = ln(1 + (N - df + 0.5) / (df + 0.5)), tf / (tf + k1 (1 - b + b dl / avgdl)),
k1 = 1.2, b = 0.75. Terms are the measures' words: lower-cased, CJK by character.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import log
from typing import Any

from foveate.evals.words import split_words

K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Bm25:
    """The postings of an indexed list of texts, and what each text's length does to its score."""

    postings: dict[str, tuple[array[int], array[int]]]
    damping: Any

    def scores(self, query: str) -> Any:
        """One score a text, in the order in which they were indexed."""
        import numpy as np

        total = len(self.damping)
        found = np.zeros(total)
        for term in sorted(set(split_words(query))):
            if term not in self.postings:
                continue
            places, counts = self.postings[term]
            idf = log(1 + (total - len(places) + 0.5) / (len(places) + 0.5))
            at, tf = np.asarray(places), np.asarray(counts, dtype=float)
            found[at] += idf * tf / (tf + self.damping[at])
        return found


def build_index(texts: Iterable[str]) -> Bm25:
    """Index the texts.

    >>> build_index(["a well", "the deep well", "an owl"]).scores("deep well").argmax()
    np.int64(1)
    """
    import numpy as np

    postings: dict[str, tuple[array[int], array[int]]] = {}
    lengths = []
    for i, text in enumerate(texts):
        counted = Counter(split_words(text))
        lengths.append(counted.total())
        for term, count in counted.items():
            places, counts = postings.setdefault(term, (array("l"), array("l")))
            places.append(i)
            counts.append(count)
    long = np.array(lengths, dtype=float)
    average = long.mean() if lengths and long.any() else 1.0
    return Bm25(postings=postings, damping=K1 * (1 - B + B * long / average))


def top_indices(scores: Any, count: int) -> list[int]:
    """The indices of the highest positive scores, best first, equal ones in order."""
    import numpy as np

    some = np.flatnonzero(scores > 0)
    order = np.lexsort((some, -scores[some]))[:count]
    return [int(i) for i in some[order]]

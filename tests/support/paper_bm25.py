"""BM25 as the paper writes it, term by term in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log

from foveate.stores.scoring import SMALL_STORE


def paper_bm25(texts: Sequence[Sequence[str]], terms: Iterable[str]) -> list[float]:
    """The score of each text; from `SMALL_STORE` on without the terms in most of them."""
    total, words = len(texts), sum(map(len, texts))
    frequency = {term: sum(term in text for text in texts) for term in terms}
    rare = total >= SMALL_STORE and any(0 < 2 * n <= total for n in frequency.values())
    scores = []
    for text in texts:
        score = 0.0
        for term, n in frequency.items():
            count = text.count(term)
            if not count or (rare and 2 * n > total):
                continue
            idf = log(1 + (total - n + 0.5) / (n + 0.5))
            score += idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(text) * total / words))
        scores.append(score)
    return scores

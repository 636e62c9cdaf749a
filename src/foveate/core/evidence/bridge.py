"""Titles that good sentences of other documents name: the second hop of a question of two.

"Which river flows past the birthplace of X?": the sentence that says where X was born names a
town, and the document with that title holds the rest, though it holds no word of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest

from foveate.core.evidence.index import keys
from foveate.core.evidence.pool import Passage, Pool
from foveate.core.text.terms import document_terms

BEST = 6  # sentences that are read for names
COMMON = 0.2  # a word in more than that share of the units names nothing,
RARE = 3  # unless it is in fewer than that many


def bridges(pool: Pool, promise: Sequence[float]) -> list[float]:
    """For each unit, how much of its document's title one of the best other sentences names."""
    named = [0.0] * len(pool.passages)
    telling = {title: _telling(pool, title) for title in {p.title for p in pool.passages}}
    for u in nsmallest(BEST, range(pool.units), key=lambda u: (-promise[u], u)):
        teller, terms = _read(pool, u)
        for i, p in enumerate(pool.passages):
            title = telling[p.title]
            if not title or p.title == teller.title:
                continue
            if p.candidate.document_id != teller.candidate.document_id:
                named[i] = max(named[i], sum(t in terms for t in title) / len(title))
    return [named[i] for i, p in enumerate(pool.passages) for _ in p.indexed.lengths]


def _telling(pool: Pool, title: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a title that are not asked for and not everywhere."""
    few = max(COMMON * pool.units, RARE)
    return tuple(t for t in title if t not in pool.terms and pool.holders(t) < few)


def _read(pool: Pool, u: int) -> tuple[Passage, frozenset[str]]:
    """The passage of unit u, and the terms of the unit."""
    passage = next(p for p in reversed(pool.passages) if p.first <= u)
    start, end = passage.indexed.units.spans[u - passage.first]
    return passage, frozenset(keys(document_terms(passage.candidate.text[start:end])))

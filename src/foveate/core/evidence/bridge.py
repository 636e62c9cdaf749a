"""Titles that good sentences of other documents name: the second hop of a question of two.

"Which river flows past the birthplace of X?": the sentence that says where X was born names a
town, and the document with that title holds the rest, though it holds no word of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest
from itertools import chain, count
from operator import neg

from foveate.core.evidence.index import keys
from foveate.core.evidence.pool import Passage, Pool
from foveate.core.text.terms import document_terms

BEST = 6  # sentences that are read for names
COMMON = 0.2  # a word in more than that share of the units names nothing,
RARE = 3  # unless it is in fewer than that many


def bridges(pool: Pool, promise: Sequence[float]) -> list[float]:
    """For each unit, how much of its document's title one of the best other sentences names."""
    named = [0.0] * len(pool.passages)
    under: dict[tuple[str, ...], list[int]] = {}
    for i, p in enumerate(pool.passages):
        under.setdefault(p.title, []).append(i)
    best = nsmallest(BEST, zip(map(neg, promise), count(), strict=False))
    tellers = [_read(pool, u) for _, u in best]
    said = frozenset().union(*[terms for _, terms in tellers])
    titles = [title for title in under if not said.isdisjoint(title)]
    pool.count(chain.from_iterable(titles))
    telling = [(title, _telling(pool, title)) for title in titles]
    for teller, terms in tellers:
        own = teller.candidate.chunk.document_id
        for title, words in telling:
            share = sum([t in terms for t in words]) / (len(words) or 1)
            if not share or title == teller.title:
                continue
            for i in under[title]:
                if pool.passages[i].candidate.chunk.document_id != own:
                    named[i] = max(named[i], share)
    return [named[i] for i, p in enumerate(pool.passages) for _ in p.indexed.lengths]


def _telling(pool: Pool, title: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a title that are not asked for and not everywhere."""
    few = max(COMMON * pool.units, RARE)
    return tuple(t for t in title if t not in pool.terms and pool.holders[t] < few)


def _read(pool: Pool, u: int) -> tuple[Passage, frozenset[str]]:
    """The passage of unit u, and the terms of the unit."""
    passage = next(p for p in reversed(pool.passages) if p.first <= u)
    start, end = passage.indexed.units.spans[u - passage.first]
    return passage, frozenset(keys(document_terms(passage.candidate.text[start:end])))

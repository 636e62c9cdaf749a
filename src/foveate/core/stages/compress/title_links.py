"""Titles that good sentences of other documents name: the second hop of a question of two.

"Which river flows past the birthplace of X?": the sentence that says where X was born names a
town, and the document with that title holds the rest, though it holds no word of the question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foveate.core.stages.compress.unit_index import COMMON, keys
from foveate.core.stages.compress.unit_pool import Passage, Pool
from foveate.core.text.terms import document_terms

if TYPE_CHECKING:
    from foveate.core.stages.compress.unit_pool import Numbers

BEST = 6  # sentences that are read for names
RARE = 3  # a common word names nothing, unless it is in fewer units than that


def score_title_links(pool: Pool, promise: Numbers) -> Numbers:
    """For each unit, how much of its document's title one of the best other sentences names."""
    import numpy as np

    named = [0.0] * len(pool.passages)
    under: dict[tuple[str, ...], list[int]] = {}
    for i, p in enumerate(pool.passages):
        under.setdefault(p.title, []).append(i)
    best = np.argsort(-promise, kind="stable")[:BEST]
    tellers = [_read(pool, u) for u in best.tolist()]
    said = frozenset().union(*[terms for _, terms in tellers])
    titles = [title for title in under if not said.isdisjoint(title)]
    usual = common(pool, frozenset().union(*titles))
    telling = [(title, [t for t in title if t not in usual]) for title in titles]
    for teller, terms in tellers:
        own = teller.candidate.chunk.document_id
        for title, words in telling:
            share = sum([t in terms for t in words]) / (len(words) or 1)
            if not share or title == teller.title:
                continue
            for i in under[title]:
                if pool.passages[i].candidate.chunk.document_id != own:
                    named[i] = max(named[i], share)
    return pool.each(named)


def common(pool: Pool, terms: frozenset[str]) -> frozenset[str]:
    """Those of the terms that are asked for, or common in the pool."""
    few = max(COMMON * pool.units, RARE)
    pool.count(terms)
    return frozenset([*pool.terms, *(term for term in terms if pool.holders[term] >= few)])


def _read(pool: Pool, u: int) -> tuple[Passage, frozenset[str]]:
    """The passage of unit u, and the terms of the unit."""
    passage = next(p for p in reversed(pool.passages) if p.first <= u)
    start, end = passage.units.spans[u - passage.first]
    return passage, frozenset(keys(document_terms(passage.candidate.text[start:end])))

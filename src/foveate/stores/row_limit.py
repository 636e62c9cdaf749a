"""A limit on the rows of one document that a search hands on and the question cannot tell apart.

The words of a question may be in most rows of a table, of a log or of a dump. Those rows would take
every place, and the page with the answer would not be among the candidates. So a row gives its
place to others if half of the places are taken by better chunks of its document that hold the same
words of the question. Up to twice as many rows as there are places stay together, for they may be
the answer: a list of what the question asks for, of which the neighbours bring the rest. A table of
25 rows that are all asked for showed 23 of them, and 15 where ten were found (2,000 tokens).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from foveate.core.fuse import rrf
from foveate.core.text.shapes.find import find_shapes
from foveate.core.text.terms import document_terms, query_terms
from foveate.core.text.words import identifier_pattern, query_identifiers
from foveate.core.types import Candidate, Chunk, rank
from foveate.ports import SearchResult

PLACES = 20
"""Of a longer list of results, this many count, for about as many are assembled."""
_RECORDS = ("log", "sql")
"""Shapes without columns that are made of rows."""
_Group: TypeAlias = tuple[str, frozenset[str]]
"""A document, and the words of the question that some of its chunks hold."""


def split_rows(
    candidates: Sequence[Candidate], query: str, limit: int
) -> tuple[list[Candidate], list[Candidate]]:
    """The candidates that stay in `limit` results, and the rows that give their places to others.

    Both best first, as the candidates are. A row that holds an identifier of the query stays.
    Candidates that are no more than `limit` do not show how many rows there are; then more than
    three quarters of the places are too many.
    """
    places = min(limit, PLACES)
    most = max(places // 2, 1)
    whole = 2 * places if len(candidates) > limit else places * 3 // 4
    sizes = Counter(candidate.chunk.document_id for candidate in candidates)
    terms, names = frozenset(query_terms(query)), query_identifiers(query)
    groups = list[_Group]()
    for candidate in candidates:
        name = candidate.chunk.document_id
        is_large = sizes[name] > whole
        held = terms.intersection(document_terms(candidate.text)) if is_large else frozenset()
        groups.append((name, held))
    everywhere, better = Counter(groups), Counter[_Group]()
    kept, over = list[Candidate](), list[Candidate]()
    for candidate, group in zip(candidates, groups, strict=True):
        if (
            group[1]
            and _count_holders(everywhere, group) > whole
            and _count_holders(better, group) >= most
            and is_rows(candidate.chunk)
            and not (names and identifier_pattern(names).search(candidate.text))
        ):
            over.append(candidate)
        else:
            kept.append(candidate)
            better[group] += 1
    return kept, over


def fuse_again(
    found: SearchResult, candidates: Sequence[Candidate], *, depth: int, limit: int
) -> SearchResult:
    """The answer as if these candidates of it, without their fused scores, were all there are."""
    by_key = {rank(candidate)[1:]: candidate for candidate in candidates}
    hits = sorted((-c.lexical_score, key) for key, c in by_key.items() if c.lexical_score)
    close = sorted(
        (-c.semantic_score, key) for key, c in by_key.items() if c.semantic_score is not None
    )
    fused = rrf([[key for _, key in leg[:depth]] for leg in (hits, close)])[:limit]
    best = tuple(replace(by_key[key], score=score) for key, score in fused)
    return replace(found, candidates=best, lexical_matches=len(hits[:depth]))


def is_rows(chunk: Chunk) -> bool:
    """Whether it is rows of a table, or most of it is entries of a log or rows of a dump."""
    if chunk.row is not None:
        return True
    shapes = find_shapes(chunk.text)
    found = sum(s.end - s.start for s in shapes if s.is_table or s.name in _RECORDS)
    return 2 * found > len(chunk.text)


def _count_holders(groups: Counter[_Group], group: _Group) -> int:
    """How many chunks of the group's document hold all of its words."""
    document, words = group
    return sum(n for (name, held), n in groups.items() if name == document and words <= held)

"""Measures how far a block supports a claim, and where.

The share of the claim's words, weighted by rarity, in the best run of up to three sentences of the
block; or a scorer's value. Words of the question weigh less, because answers repeat them anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from math import log
from typing import TypeAlias

from foveate.answer.figures import normalise_numbers, number_spellings
from foveate.answer.quantities import Stated, stated
from foveate.core.text.sentences import sentence_spans
from foveate.core.text.terms import document_terms, query_terms
from foveate.core.types import Context, Span

MAX_RUN_SENTENCES = 3
MAX_SCORED_RUNS = 8
"""Passages of a block that a scorer is asked about for their words, and twice that in all."""
_SMALL_WEIGHT = 0.3

Scorer: TypeAlias = Callable[[str, Sequence[str]], Sequence[float]]
"""A claim and passages → how far each supports it, 0 to 1: an entailment model, an embedder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """`score` 0 to 1; `context_span`: the best passage's place in the context, in characters."""

    marker: int
    score: float
    context_span: Span
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSentence:
    """One sentence of a block: its place in the context, its words."""

    span: Span
    terms: frozenset[str]


class SourceIndex:
    """A context's blocks by marker, read sentence by sentence, once for all claims."""

    def __init__(self, context: Context, *, language: str = "en") -> None:
        self._text = context.text
        self._query_terms = frozenset(query_terms(normalise_numbers(context.query)))
        self._passages: list[SourceSentence] = []
        self._blocks: dict[int, list[range]] = {}
        for block in context.blocks:
            if block.kind == "chunk":
                first = len(self._passages)
                self._passages.extend(_split_passages(context.text, block.span, language))
                here = range(first, len(self._passages))
                self._blocks.setdefault(block.marker, []).append(here)
        self._places: dict[str, list[int]] = {}
        for number, passage in enumerate(self._passages):
            for term in passage.terms:
                self._places.setdefault(term, []).append(number)
        self._numbers: dict[int, set[str]] = {}
        self._stated: dict[int, list[Stated]] = {}

    @property
    def markers(self) -> tuple[int, ...]:
        """The markers that can be cited."""
        return tuple(sorted(self._blocks))

    def texts(self, marker: int) -> list[str]:
        """The texts of the marker's blocks in the context."""
        return [self._run_text(here) for here in self._blocks.get(marker, []) if here]

    def numbers(self, marker: int) -> set[str]:
        """The figures in the marker's blocks, in every spelling."""
        if marker not in self._numbers:
            self._numbers[marker] = set().union(*map(number_spellings, self.texts(marker)))
        return self._numbers[marker]

    def stated(self, marker: int) -> list[Stated]:
        """The quantities in the marker's blocks, one by one."""
        if marker not in self._stated:
            self._stated[marker] = list(map(stated, self.texts(marker)))
        return self._stated[marker]

    def best_support(self, claim: str, scorer: Scorer | None = None) -> dict[int, Support]:
        """For each marker with a text the passage that supports the claim best."""
        terms = query_terms(normalise_numbers(claim))
        weights = [self._term_weight(term) for term in terms]
        held: dict[int, int] = {}
        for bit, term in enumerate(terms):
            for number in self._places.get(term, ()):
                held[number] = held.get(number, 0) | 1 << bit
        shares = _WeightShares(weights)
        found = {
            marker: self._best_in_source(marker, claim, held, shares, scorer)
            for marker in self.markers
            if any(self._blocks[marker])
        }
        return {marker: support for marker, support in found.items() if support is not None}

    def _best_in_source(
        self,
        marker: int,
        claim: str,
        held: Mapping[int, int],
        shares: _WeightShares,
        scorer: Scorer | None,
    ) -> Support | None:
        runs = (
            (-shares(mask), len(run), run.start, run)
            for run, mask in self._sentence_runs(marker, held)
        )
        most = MAX_SCORED_RUNS if scorer is not None else 1
        ranked = nsmallest(most, runs)  # no two are equal in the first 3
        if not ranked:
            first = next(here for here in self._blocks[marker] if here)
            ranked = [(0.0, 1, first.start, first[:1])]
        score, run = abs(ranked[0][0]), ranked[0][3]
        if scorer is not None:
            # A paraphrase may share no word: what is left of the places goes to single sentences.
            tried = [one[3] for one in ranked]
            alone = (range(n, n + 1) for here in self._blocks[marker] for n in here)
            nearest = list(
                dict.fromkeys([*tried, *islice(alone, 2 * MAX_SCORED_RUNS - len(tried))])
            )
            given = scorer(claim, [self._run_text(one) for one in nearest])
            high = max(range(len(nearest)), key=lambda n: (given[n], -n))
            score, run = float(given[high]), nearest[high]
        span = (self._passages[run.start].span[0], self._passages[run.stop - 1].span[1])
        return Support(
            marker=marker, score=round(score, 6), context_span=span, text=self._run_text(run)
        )

    def _sentence_runs(self, marker: int, held: Mapping[int, int]) -> Iterator[tuple[range, int]]:
        """Runs of up to three sentences of a block that begin and end with one that has a term."""
        for here in self._blocks[marker]:
            for first in here:
                if first not in held:
                    continue
                mask = 0
                for last in range(first, min(first + MAX_RUN_SENTENCES, here.stop)):
                    mask |= held.get(last, 0)
                    if last in held:
                        yield range(first, last + 1), mask

    def _run_text(self, run: range) -> str:
        first, last = self._passages[run.start], self._passages[run.stop - 1]
        return self._text[first.span[0] : last.span[1]]

    def _term_weight(self, term: str) -> float:
        spread = len(self._places.get(term, ()))
        rare = log(1 + (len(self._passages) + 1) / (spread + 0.5))
        return rare * (_SMALL_WEIGHT if term in self._query_terms else 1.0)


class _WeightShares:
    """Sets of a claim's terms, as bits → their share of its weight; added in the terms' order."""

    def __init__(self, weights: Sequence[float]) -> None:
        self._weights = weights
        self._total = sum(weights)
        self._cache: dict[int, float] = {}

    def __call__(self, mask: int) -> float:
        if mask not in self._cache:
            held = sum(w for bit, w in enumerate(self._weights) if mask >> bit & 1)
            self._cache[mask] = held / self._total if self._total else 0.0
        return self._cache[mask]


def _split_passages(text: str, span: Span, language: str) -> Iterable[SourceSentence]:
    start, end = span
    for first, last in sentence_spans(text[start:end], language):
        terms = document_terms(normalise_numbers(text[start + first : start + last]))
        yield SourceSentence(span=(start + first, start + last), terms=frozenset(terms))

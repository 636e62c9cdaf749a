"""How far a block supports a claim, and where: by its words, or by what a scorer makes of them.

The share of the claim's words, rare ones more, that stand in the best run of up to three
sentences of the block. Words of the question say less: an answer repeats them whatever is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TypeAlias

from foveate.answer.figures import respelled
from foveate.core.text.sentences import sentence_spans
from foveate.core.text.terms import document_terms, query_terms
from foveate.core.types import Context, Span

RUN = 3
_ASKED = 0.3

Scorer: TypeAlias = Callable[[str, Sequence[str]], Sequence[float]]
"""A claim and passages → how far each supports it, 0 to 1: an entailment model, an embedder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """`score` 0 to 1; `span`: the best passage's place in the context, in characters."""

    marker: int
    score: float
    span: Span
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One sentence of a block: its place in the context and the terms it has."""

    span: Span
    terms: frozenset[str]


class Grounds:
    """A context's blocks by marker, read sentence by sentence."""

    def __init__(self, context: Context, *, language: str = "en") -> None:
        self._text = context.text
        self._asked = frozenset(query_terms(respelled(context.query)))
        self._passages: dict[int, list[list[Passage]]] = {}
        for block in context.blocks:
            if block.kind == "chunk":
                mine = self._passages.setdefault(block.marker, [])
                mine.append(list(_passages(context.text, block.span, language)))
        everything = [p for blocks in self._passages.values() for block in blocks for p in block]
        self._total = len(everything)
        self._spread: dict[str, int] = {}
        for passage in everything:
            for term in passage.terms:
                self._spread[term] = self._spread.get(term, 0) + 1

    @property
    def markers(self) -> tuple[int, ...]:
        """The markers that can be cited."""
        return tuple(sorted(self._passages))

    def shown(self, marker: int) -> list[str]:
        """The texts of the marker's blocks, as they stand in the context."""
        return [
            self._text[block[0].span[0] : block[-1].span[1]]
            for block in self._passages.get(marker, [])
            if block
        ]

    def best(self, claim: str, marker: int, scorer: Scorer | None = None) -> Support | None:
        """The best passage for the claim under this marker; None where the marker has none."""
        wanted = self._weights(claim)
        runs = [run for block in self._passages.get(marker, []) for run in _runs(block)]
        if not runs:
            return None
        lexical = [_share(wanted, run) for run in runs]
        # The most, in the fewest sentences, first of all.
        order = sorted(range(len(runs)), key=lambda n: (-lexical[n], len(runs[n]), n))
        score, at = lexical[order[0]], order[0]
        if scorer is not None:
            nearest = order[:8]
            given = scorer(claim, [self._shown(runs[n]) for n in nearest])
            high = max(range(len(nearest)), key=lambda n: (given[n], -n))
            score, at = float(given[high]), nearest[high]
        span = (runs[at][0].span[0], runs[at][-1].span[1])
        return Support(marker=marker, score=round(score, 6), span=span, text=self._shown(runs[at]))

    def _shown(self, run: Sequence[Passage]) -> str:
        return self._text[run[0].span[0] : run[-1].span[1]]

    def _weights(self, claim: str) -> dict[str, float]:
        terms = query_terms(respelled(claim))
        return {term: self._weight(term) for term in terms}

    def _weight(self, term: str) -> float:
        rare = log(1 + (self._total + 1) / (self._spread.get(term, 0) + 0.5))
        return rare * (_ASKED if term in self._asked else 1.0)


def _passages(text: str, span: Span, language: str) -> Iterable[Passage]:
    start, end = span
    for first, last in sentence_spans(text[start:end], language):
        sentence = text[start + first : start + last]
        yield Passage(
            span=(start + first, start + last), terms=frozenset(document_terms(respelled(sentence)))
        )


def _runs(block: Sequence[Passage]) -> Iterable[Sequence[Passage]]:
    for first in range(len(block)):
        for length in range(1, min(RUN, len(block) - first) + 1):
            yield block[first : first + length]


def _share(wanted: Mapping[str, float], run: Sequence[Passage]) -> float:
    """The share of the wanted weight that the run has; summed in the order of the terms."""
    total = sum(wanted.values())
    if not total:
        return 0.0
    return sum(w for term, w in wanted.items() if any(term in p.terms for p in run)) / total

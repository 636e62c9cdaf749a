"""Worth with diminishing returns: what the chosen blocks already say is worth nothing again.

f(S) = worth of what is shown + weight of the distinct words it says; monotone and submodular, so
lazy greedy (Minoux 1978) by gain per token applies, and for any S
f(OPT) <= f(S) + the best fractional filling of the whole budget with the gains left over S
(Leskovec et al. 2007, online bound). That sum is the `bound` in the notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import log

from foveate.core.stages.pack.budget_tracker import BudgetTracker
from foveate.core.stages.pack.choice import (
    Choice,
    Choices,
    RenditionOptions,
    by_score,
    worth_figures,
)
from foveate.core.stages.pack.value import candidate_worths, swap_rendition
from foveate.core.text.words import split_words
from foveate.core.types import Candidate, Rendition

ASKED = 3.0  # a word of the query weighs that many times a word of equal rarity


@dataclass(slots=True)
class CoveredWords:
    """What the chosen renditions say so far, and what a further one would add."""

    weights: dict[str, float]
    worths: dict[str, float]
    words: set[str] = field(default_factory=set)
    shown: dict[str, Choice] = field(default_factory=dict)
    total: float = 0.0

    def gain(self, candidate: Candidate, rendition: Rendition, terms: Sequence[str]) -> float:
        """How much f would rise."""
        old = self.shown.get(candidate.id)
        kept = rendition.value - (old.rendition.value if old else 0.0)
        new = sum(self.weights[t] for t in terms if t not in self.words)
        return self.worths[candidate.id] * kept + new

    def add(self, choice: Choice, terms: Iterable[str], gain: float) -> None:
        """Show it."""
        self.shown[choice.candidate.id] = choice
        self.words.update(terms)
        self.total += gain


def pack_coverage(
    candidates: Sequence[Candidate],
    tracker: BudgetTracker,
    renditions_of: RenditionOptions,
    query: str,
) -> Choices:
    """Fill the budget by gain per token, gains renewed lazily."""
    pool = by_score(candidates)
    options = [
        (c, r, tuple(dict.fromkeys(split_words(r.text)))) for c in pool for r in renditions_of(c)
    ]
    worths = candidate_worths(pool)
    said = CoveredWords(word_weights([o[2] for o in options], query, sum(worths.values())), worths)
    room = tracker.tokens if tracker.tokens is not None else tracker.characters or 0
    costs = [cost for c in pool for cost in tracker.least(c, renditions_of(c))]
    heap = [(-said.gain(*option) / costs[n], n) for n, option in enumerate(options)]
    heapify(heap)
    while heap:
        _, n = heappop(heap)
        candidate, rendition, terms = options[n]
        gain = said.gain(candidate, rendition, terms)
        key = (-gain / costs[n], n)
        if gain <= 0:
            continue
        if heap and key > heap[0]:
            heappush(heap, key)
            continue
        choice = swap_rendition(tracker, said.shown.get(candidate.id), candidate, rendition)
        if choice is not None:
            said.add(choice, terms, gain)
    choices = Choices(chosen=[said.shown[c.id] for c in pool if c.id in said.shown])
    choices.left_out = {
        c.id: _reason(said, tracker, c, renditions_of) for c in pool if c.id not in said.shown
    }
    choices.notes |= worth_figures(said.total, said.total + _left_over(said, options, costs, room))
    return choices


def word_weights(texts: Sequence[Sequence[str]], query: str, mass: float) -> dict[str, float]:
    """A weight for every word, by rarity over the pool; all of them together weigh `mass`."""
    frequency: dict[str, int] = {}
    for terms in texts:
        for term in terms:
            frequency[term] = frequency.get(term, 0) + 1
    asked = frozenset(split_words(query))
    raw = {
        term: log(1 + len(texts) / count) * (ASKED if term in asked else 1.0)
        for term, count in frequency.items()
    }
    total = sum(raw[term] for term in sorted(raw)) or 1.0
    return {term: mass * value / total for term, value in raw.items()}


def _reason(
    said: CoveredWords,
    tracker: BudgetTracker,
    candidate: Candidate,
    renditions_of: RenditionOptions,
) -> str:
    """Nothing new to say, or no room to say it."""
    fits = any(tracker.afford(candidate, r) is not None for r in renditions_of(candidate))
    return "already_said" if fits else "over_budget"


def _left_over(
    said: CoveredWords,
    options: Sequence[tuple[Candidate, Rendition, Sequence[str]]],
    costs: Sequence[int],
    room: int,
) -> float:
    """The best fractional filling of the whole room with the gains that are left."""
    gains = ((said.gain(*option), cost) for option, cost in zip(options, costs, strict=True))
    total = 0.0
    for gain, cost in sorted(gains, key=lambda pair: -pair[0] / pair[1]):
        if gain <= 0 or room <= 0:
            break
        taken = min(cost, room)
        total += gain * taken / cost
        room -= taken
    return total

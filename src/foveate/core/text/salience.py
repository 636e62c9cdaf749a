"""The sentences of a text that match a query, and a choice of them.

Sentences are weighed by the query's words in them, rare ones more (BM25's saturation, Robertson and
Walker 1994), and by their length, so that a text without any of the words still has an order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import log

from foveate.core.text.words import split_words
from foveate.core.types import Span

SATURATION = 1.2
QUERY_WEIGHT = 0.7  # share of a text's weight that the query decides, the rest is length
ADJACENCY_WEIGHT = 2.0  # a sentence beside a kept one counts for that many standing alone
MIN_STANDALONE_LENGTH = 40  # characters; a shorter sentence is kept only beside another


def inverse_document_frequency(query: str, texts: Sequence[Iterable[str]]) -> dict[str, float]:
    """Inverse document frequency of the query's words over the texts (given as word sets)."""
    asked = dict.fromkeys(split_words(query))
    frequency = dict.fromkeys(asked, 0)
    for text in texts:
        for word in asked.keys() & frozenset(text):
            frequency[word] += 1
    n = len(texts)
    return {word: log(1 + (n - df + 0.5) / (df + 0.5)) for word, df in frequency.items()}


def weigh_sentences(text: str, spans: Sequence[Span], rare: Mapping[str, float]) -> list[float]:
    """A weight for every sentence; all of them add up to 1."""
    lengths = [b - a for a, b in spans]
    relevance = [_relevance(split_words(text[a:b]), rare) for a, b in spans]
    total, mass = sum(lengths) or 1, sum(relevance)
    if mass <= 0:
        return [length / total for length in lengths]
    return [
        QUERY_WEIGHT * found / mass + (1 - QUERY_WEIGHT) * length / total
        for found, length in zip(relevance, lengths, strict=True)
    ]


def _relevance(sentence: Iterable[str], rare: Mapping[str, float]) -> float:
    counts: dict[str, int] = {}
    for word in sentence:
        if word in rare:
            counts[word] = counts.get(word, 0) + 1
    return sum(rare[w] * n * (1 + SATURATION) / (n + SATURATION) for w, n in counts.items())


def choose_sentences(
    spans: Sequence[Span],
    weights: Sequence[float],
    characters: int,
    needs: Mapping[int, Sequence[int]],
) -> list[int]:
    """At least one sentence by weight per character until `characters` are used, in order.

    A sentence beside a kept one counts more, and a scrap is never alone, so that the result reads
    well. `needs`: by sentence, those that it is never kept without.
    """
    lengths = [max(b - a, 1) for a, b in spans]
    density = [weight / length for weight, length in zip(weights, lengths, strict=True)]
    best = max(range(len(spans)), key=lambda i: (weights[i], -i))
    kept: set[int] = set()
    used = 0
    heap = [
        (-density[i], i)
        for i in range(len(spans))
        if lengths[i] >= MIN_STANDALONE_LENGTH and i != best
    ]
    heapify(heap)
    i = best
    while True:
        more = _with_needs(i, needs, kept)
        cost = sum(lengths[n] for n in more)
        if not kept or used + cost <= characters:
            kept |= more
            used += cost
            for n in {k for one in more for k in _adjacent(one, len(spans))} - kept:
                heappush(heap, (-density[n] * ADJACENCY_WEIGHT, n))
        while heap and heap[0][1] in kept:
            heappop(heap)
        if not heap:
            return sorted(kept)
        _, i = heappop(heap)


def _with_needs(i: int, needs: Mapping[int, Sequence[int]], kept: set[int]) -> set[int]:
    """The sentence and all that it needs, but for those that are kept."""
    found, open_ones = {i}, [i]
    while open_ones:
        for n in needs.get(open_ones.pop(), ()):
            if n not in found and n not in kept:
                found.add(n)
                open_ones.append(n)
    return found


def _adjacent(i: int, n: int) -> list[int]:
    return [k for k in (i - 1, i + 1) if 0 <= k < n]

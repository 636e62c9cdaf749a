"""What a context says about itself (SPEC D6): figures that need no gold data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from foveate.core.text.words import split_words
from foveate.core.types import Block, Candidate, Trace, rank

NGRAM_WORDS = 8  # words; a repeated run of that many is a repetition, not a phrase


class LazyMetrics(Mapping[str, float]):
    """The metrics, computed when they are first read."""

    __slots__ = ("_found", "_make")

    def __init__(self, make: Callable[[], dict[str, float]]) -> None:
        self._make = make
        self._found: dict[str, float] | None = None

    def _values(self) -> dict[str, float]:
        found = self._found
        if found is None:
            found = self._found = self._make()
        return found

    def __getitem__(self, name: str) -> float:
        return self._values()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())

    def __repr__(self) -> str:
        return repr(self._values())

    def __reduce__(self) -> tuple[type, tuple[dict[str, float]]]:
        """A copy, or what is pickled, is the figures alone."""
        return dict, (self._values(),)


def compute_metrics(
    text_blocks: Sequence[Block],
    candidates: Sequence[Candidate],
    trace: Trace,
    token_count: int,
    budget_use: float,
) -> dict[str, float]:
    """All self-measures, shares from 0 to 1 but for the counts."""
    blocks = [b for b in text_blocks if b.kind == "chunk"]
    terms = [split_words(block.text) for block in blocks]
    excluded, excluded_tokens = count_exclusions(trace)
    total = len(blocks) + excluded
    return {
        "tokens": token_count,
        "budget_use": round(budget_use, 6),
        "unique_token_share": unique_share(terms),
        "redundancy": redundancy(terms),
        "adjacency": adjacency(blocks),
        "top3_in_first5": share_of_best_in_front(candidates),
        **{f"share_{kind}": share for kind, share in rendition_shares(blocks).items()},
        "excluded_chunks": excluded,
        "excluded_tokens": excluded_tokens,
        "exclusion_rate": _ratio(excluded, total),
    }


def count_exclusions(trace: Trace) -> tuple[int, int]:
    """How many candidates, and tokens, the budget kept out."""
    reasons = {"over_budget", "after_stop", "document_over_budget", "shed"}
    found = [d for stage in trace for d in stage.decisions if d.reason in reasons]
    return len(found), sum(int(d.numbers.get("tokens", 0)) for d in found)


def unique_share(texts: Sequence[Sequence[str]]) -> float:
    """Distinct words over words."""
    return _ratio(len(set().union(*texts)), sum(map(len, texts)))


def redundancy(texts: Sequence[Sequence[str]]) -> float:
    """1 - distinct / all runs of eight words, none of them over a block's end."""
    grams = [
        gram
        for terms in texts
        for gram in zip(*(terms[i:] for i in range(NGRAM_WORDS)), strict=False)
    ]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def adjacency(blocks: Sequence[Block]) -> float:
    """Of the blocks whose document stands there more than once, the share next to a sibling."""
    ids = [block.document_id for block in blocks]
    counts = Counter(ids)
    spots = [n for n, i in enumerate(ids) if counts[i] > 1]
    beside = sum(ids[n] in (*ids[max(n - 1, 0) : n], *ids[n + 1 : n + 2]) for n in spots)
    return _ratio(beside, len(spots)) if spots else 1.0


def share_of_best_in_front(candidates: Sequence[Candidate]) -> float:
    """Of the three best-scored, the share that stands among the first five."""
    best = {c.id for c in sorted(candidates, key=rank)[:3]}
    return _ratio(sum(c.id in best for c in candidates[:5]), len(best)) if best else 1.0


def rendition_shares(blocks: Sequence[Block]) -> dict[str, float]:
    """Characters shown by kind of rendition."""
    total = sum(len(block.text) for block in blocks)
    kinds = ("verbatim", "stripped", "extract", "abstract", "truncated")
    return {
        kind: _ratio(sum(len(b.text) for b in blocks if b.rendition == kind), total)
        for kind in kinds
    }


def _ratio(part: float, whole: float) -> float:
    return round(part / whole, 6) if whole else 0.0

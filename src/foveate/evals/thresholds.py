"""Counts what near-duplicate thresholds would drop from a user's chunks, by running `DedupNear`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foveate.core.contracts import Tokenizer
from foveate.core.request import Request
from foveate.core.stages.dedup.near import DedupNear
from foveate.core.token_counter import TokenCounter
from foveate.core.types import Candidate
from foveate.core.zones import Budget

THRESHOLDS = (0.98, 0.94, 0.9, 0.86, 0.82, 0.78, 0.74, 0.7)
MAX_EXAMPLES = 3
MAX_SHOWN_LENGTH = 160
"""Characters of each text of an example."""
_HEAD_LENGTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicatePair:
    """Two chunks of which the one would be dropped for the other; the texts are shortened."""

    similarity: float
    kept: str
    dropped: str
    kept_text: str
    dropped_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The effect of one threshold on `chunks` of so many `tokens`.

    `examples`: pairs of which the next higher threshold keeps both, the least alike first.
    """

    threshold: float
    chunks: int
    dropped: int
    tokens: int
    tokens_saved: int
    examples: tuple[DuplicatePair, ...]


def sweep_thresholds(
    chunks: Sequence[Candidate],
    stages: Sequence[DedupNear],
    tokenizer: Tokenizer,
) -> Iterator[Level]:
    """One level a stage, each with a threshold of its own, the highest first.

    The method `semantic` needs candidates with embeddings.
    """
    counter = TokenCounter(
        tokenizer=tokenizer, body=lambda text: text, header=lambda _one, _place: ""
    )
    request = Request(query="", budget=Budget(), token_counter=counter)
    costs = {candidate.id: counter.count_chunk(candidate.chunk) for candidate in chunks}
    before: set[str] = set()
    for stage in sorted(stages, key=lambda stage: -(stage.threshold or 0)):
        pairs = [*_find_dropped_pairs(tuple(chunks), stage, request)]
        new = [pair for pair in pairs if pair.dropped not in before]
        before = {pair.dropped for pair in pairs}
        yield Level(
            threshold=stage.threshold or 0,
            chunks=len(chunks),
            dropped=len(pairs),
            tokens=sum(costs.values()),
            tokens_saved=sum(costs[name] for name in before),
            examples=_pick_examples(new),
        )


def _find_dropped_pairs(
    chunks: tuple[Candidate, ...], stage: DedupNear, request: Request
) -> Iterator[DuplicatePair]:
    texts = {candidate.id: candidate.text for candidate in chunks}
    for decision in stage(chunks, request).decisions:
        if decision.action != "merged":
            continue
        kept, dropped = shorten_pair(texts[decision.by], texts[decision.chunk_id])
        yield DuplicatePair(
            similarity=float(decision.numbers["similarity"]),
            kept=decision.by,
            dropped=decision.chunk_id,
            kept_text=kept,
            dropped_text=dropped,
        )


def _pick_examples(pairs: Sequence[DuplicatePair]) -> tuple[DuplicatePair, ...]:
    """The least alike pairs, each text once."""
    found: dict[tuple[str, str], DuplicatePair] = {}
    for pair in sorted(pairs, key=lambda p: (p.similarity, p.kept, p.dropped)):
        found.setdefault((pair.kept_text, pair.dropped_text), pair)
    return tuple(found.values())[:MAX_EXAMPLES]


def shorten_pair(one: str, other: str, length: int = MAX_SHOWN_LENGTH) -> tuple[str, str]:
    """Both on one line, from a little before they begin to differ, with omissions marked.

    >>> shorten_pair("The pump starts at one bar.", "The pump starts at two bar.", 18)
    ('… starts at one bar.', '… starts at two bar.')
    """
    left, right = (" ".join(text.split()) for text in (one, other))
    if max(len(left), len(right)) <= length:
        return left, right
    head = max(left.find(right[:_HEAD_LENGTH]), 0)  # a contained text begins later
    pairs = enumerate(zip(left[head:], right, strict=False))
    differ = next((at for at, (a, b) in pairs if a != b), 0)
    start = right.rfind(" ", 0, max(differ - length // 4, 0)) + 1
    return _text_window(left, head + start, length), _text_window(right, start, length)


def _text_window(text: str, start: int, length: int) -> str:
    shown = text[start : start + length]
    return f"{'… ' if start else ''}{shown}{' …' if start + length < len(text) else ''}"

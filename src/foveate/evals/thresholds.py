"""Counts what near-duplicate thresholds would drop from a user's chunks, by running `DedupNear`.

Each pool (a file, a store or a golden case) is tried at every threshold. A pair is (the kept text,
the dropped text).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption
from foveate.core.request import Request
from foveate.core.stages.dedup.near import DedupNear, Method
from foveate.core.token_counter import TokenCounter
from foveate.core.types import Candidate
from foveate.core.zones import Budget

CandidatePool = tuple[Candidate, ...]

MAX_EXAMPLES = 3
MAX_SHOWN_LENGTH = 160
"""Characters of each text of an example."""
_HEAD_LENGTH = 24
_MAX_STEPS = 1_000


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
    """The effect of one threshold.

    `new`: dropped chunks that the next higher threshold keeps. `examples`: pairs of those, the
    least alike first.
    """

    threshold: float
    chunks: int
    dropped: int
    tokens: int
    tokens_saved: int
    new: int
    examples: tuple[DuplicatePair, ...]


def parse_thresholds(low: str, high: str, step: str) -> list[float]:
    """The thresholds, highest first; in decimal, so that 0.7 and ten steps of 0.01 make 0.8.

    >>> parse_thresholds("0.7", "0.98", "0.07")
    [0.98, 0.91, 0.84, 0.77, 0.7]
    """
    try:
        first, last, by = Decimal(low), Decimal(high), Decimal(step)
    except InvalidOperation:
        raise BadOption(f"thresholds: {low}, {high}, {step} are not all numbers") from None
    if not all(number.is_finite() for number in (first, last, by)):
        raise BadOption(f"thresholds: {low}, {high}, {step} are not all numbers")
    if not 0 < first <= last <= 1:
        raise BadOption(f"thresholds: {low} to {high}; they must rise, above 0 and at most 1")
    if by <= 0 or (last - first) / by > _MAX_STEPS:
        raise BadOption(f"thresholds: a step of {step} leads nowhere; take one like 0.02")
    found = [float(last - i * by) for i in range(int((last - first) / by) + 1)]
    return found if found[-1] == float(first) else [*found, float(first)]


def sweep_thresholds(
    pools: Sequence[CandidatePool],
    thresholds: Sequence[float],
    tokenizer: Tokenizer,
    *,
    method: Method = "jaccard",
    examples: int = MAX_EXAMPLES,
) -> Iterator[Level]:
    """One level a threshold, in the given order (highest first, for `new`).

    The method `semantic` needs candidates with embeddings.
    """
    request = _build_request(tokenizer)
    chunks = sum(len(pool) for pool in pools)
    tokens = sum(request.token_counter.count_chunk(c.chunk) for pool in pools for c in pool)
    before: set[tuple[int, str]] = set()
    for threshold in thresholds:
        stage = DedupNear(method=method, threshold=threshold)
        found = [
            (number, pair)
            for number, pool in enumerate(pools)
            for pair in _find_dropped_pairs(pool, stage, request)
        ]
        gone = {(number, pair.dropped) for number, pair in found}
        new = [pair for number, pair in found if (number, pair.dropped) not in before]
        texts = [{c.id: c for c in pool} for pool in pools] if found else []
        yield Level(
            threshold=threshold,
            chunks=chunks,
            dropped=len(gone),
            tokens=tokens,
            tokens_saved=sum(
                request.token_counter.count_chunk(texts[number][pair.dropped].chunk)
                for number, pair in found
            ),
            new=len(new),
            examples=_pick_examples(new, examples),
        )
        before = gone


def _build_request(tokenizer: Tokenizer) -> Request:
    counter = TokenCounter(
        tokenizer=tokenizer, body=lambda text: text, header=lambda _one, _place: ""
    )
    return Request(query="", budget=Budget(), token_counter=counter)


def _find_dropped_pairs(
    pool: CandidatePool, stage: DedupNear, request: Request
) -> Iterator[DuplicatePair]:
    texts = {candidate.id: candidate.text for candidate in pool}
    for decision in stage(pool, request).decisions:
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


def _pick_examples(pairs: Sequence[DuplicatePair], count: int) -> tuple[DuplicatePair, ...]:
    """The least alike pairs, each text once."""
    found: dict[tuple[str, str], DuplicatePair] = {}
    for pair in sorted(pairs, key=lambda p: (p.similarity, p.kept, p.dropped)):
        found.setdefault((pair.kept_text, pair.dropped_text), pair)
    return tuple(found.values())[:count]


def shorten_pair(one: str, other: str, length: int = MAX_SHOWN_LENGTH) -> tuple[str, str]:
    """Both on one line, side by side, from a little before they begin to differ.

    >>> shorten_pair("The pump starts at one bar.", "The pump starts at two bar.", 18)
    ('… starts at one bar.', '… starts at two bar.')
    """
    flat = [" ".join(text.split()) for text in (one, other)]
    if max(map(len, flat)) <= length:
        return flat[0], flat[1]
    heads = [_find_beginning(*flat), _find_beginning(*reversed(flat))]
    rest = [text[head:] for text, head in zip(flat, heads, strict=True)]
    pairs = enumerate(zip(*rest, strict=False))
    same = next((i for i, (a, b) in pairs if a != b), 0)
    start = max(0, same - length // 4)
    if start:
        start = rest[0].rfind(" ", 0, start) + 1
    left, right = (
        _text_window(text, head + start, length) for text, head in zip(flat, heads, strict=True)
    )
    return left, right


def _find_beginning(text: str, other: str) -> int:
    """Where the other text's beginning is in the text, else 0."""
    return max(text.find(other[:_HEAD_LENGTH]), 0)


def _text_window(text: str, start: int, length: int) -> str:
    """A window of the text, with omissions marked."""
    end = start + length
    shown = text[start:end]
    return f"{'… ' if start else ''}{shown}{' …' if end < len(text) else ''}"

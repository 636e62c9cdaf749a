"""The floor: the least code that does the same job, written for speed and for nothing else.

Exact copies by the string itself, near copies by blocks of a matrix product (cosine over 0.95),
greedy filling with counts that are at hand, documents in reading order, the best at both ends,
overlaps cut where the text has them, numbered, one exact count of what came out.

Every candidate is decided, as a complete trace needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from bench.peers.adapters.job import Job, Made
from bench.peers.workload import Row

if TYPE_CHECKING:
    from bench.peers.vectors import Floats

SIMILAR = 0.95
BLOCK = 512
Why = list[str]


class Full:
    """Every candidate decided."""

    def start(self, job: Job) -> None:
        """Counts of chunks and headers are at hand."""
        from toktok import batch_count

        self.budget = job.budget
        self.count = lambda text: batch_count([text], "cl100k_base", 1)[0]
        titles = {row.title for row in job.rows}
        self.heads = {title: self.count(f"[99] {title}\n") + 1 for title in titles}

    def prepare(self, rows: Sequence[Row], vectors: Floats) -> None:
        """Nothing to convert."""
        self.rows, self.vectors = rows, vectors

    def run(self) -> Made:
        """Choose, order, render, count."""
        rows = self.rows
        if any(a.score < b.score for a, b in pairwise(rows)):
            rows = sorted(rows, key=lambda row: -row.score)
        costs = [row.tokens + self.heads[row.title] for row in rows]
        taken, why = choose(rows, self.vectors, costs, self.budget)
        groups = in_reading_order(rows, taken)
        text, spans = render(rows, groups)
        tokens = self.count(text)
        return Made(text=text, claimed=tokens, extra={"decided": len(why), "cited": len(spans)})


def choose(
    rows: Sequence[Row], vectors: Floats, costs: Sequence[int], budget: int
) -> tuple[list[int], Why]:
    """The places of what is taken, and why each of the others is not."""
    seen: set[str] = set()
    taken: list[int] = []
    why: Why = []
    used = 0
    keep = _Kept(vectors)
    for first in range(0, len(rows), BLOCK):
        block = range(first, min(first + BLOCK, len(rows)))
        fresh = _fresh(rows, block, seen)
        unlike = keep.unlike(fresh)
        for i in block:
            if i not in fresh or i not in unlike:
                why.append("copy")
            elif used + costs[i] <= budget:
                taken.append(i)
                used += costs[i]
                why.append("")
            else:
                why.append("no room")
        keep.add(sorted(unlike))
    return taken, why


def _fresh(rows: Sequence[Row], block: range, seen: set[str]) -> dict[int, None]:
    """The places whose text was not seen before."""
    fresh: dict[int, None] = {}
    for i in block:
        if rows[i].text not in seen:
            seen.add(rows[i].text)
            fresh[i] = None
    return fresh


class _Kept:
    """The vectors of what stays, and what is not like any of them."""

    def __init__(self, vectors: Floats) -> None:
        import numpy as np

        self.vectors = vectors
        self.held = np.empty(vectors.shape, np.float32)
        self.many = 0

    def unlike(self, places: dict[int, None]) -> set[int]:
        """The places that are like nothing kept and like nothing before them in the block."""
        import numpy as np

        order = list(places)
        if not order:
            return set()
        own = self.vectors[order]
        gone = np.zeros(len(order), dtype=bool)
        if self.many:
            gone |= ((own @ self.held[: self.many].T) > SIMILAR).any(axis=1)
        later, earlier = np.nonzero(np.tril(own @ own.T > SIMILAR, -1))
        for a, b in zip(later.tolist(), earlier.tolist(), strict=True):
            if not gone[b]:
                gone[a] = True
        return {i for i, out in zip(order, gone.tolist(), strict=True) if not out}

    def add(self, places: list[int]) -> None:
        """These stay."""
        self.held[self.many : self.many + len(places)] = self.vectors[places]
        self.many += len(places)


def in_reading_order(rows: Sequence[Row], taken: Sequence[int]) -> list[list[int]]:
    """By document, each from its beginning, the best documents at both ends."""
    documents: dict[str, list[int]] = {}
    for i in taken:
        documents.setdefault(rows[i].document, []).append(i)
    groups = [sorted(group, key=lambda i: rows[i].start) for group in documents.values()]
    return groups[0::2] + groups[1::2][::-1]


Spans = list[tuple[int, str, int, int]]


def render(rows: Sequence[Row], groups: list[list[int]]) -> tuple[str, Spans]:
    """The text, and for each marker the candidate and where it stands."""
    parts: list[str] = []
    spans: Spans = []
    at = 0
    for group in groups:
        before: Row | None = None
        for i in group:
            row = rows[i]
            body = _without_overlap(row, before)
            head = f"[{len(spans) + 1}] {row.title}\n"
            at += len(head)
            spans.append((len(spans) + 1, row.id, at, at + len(body)))
            at += len(body) + 2
            parts += (head, body, "\n\n")
            before = row
    return "".join(parts[:-1]), spans


def _without_overlap(row: Row, before: Row | None) -> str:
    """The text without what the chunk before it has, where the text confirms the offsets."""
    if before is None:
        return row.text
    shared = before.end - row.start
    if 0 < shared < len(row.text) and before.text.endswith(row.text[:shared]):
        return row.text[shared:]
    return row.text

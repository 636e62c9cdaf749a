"""The careful pipeline of blog posts, in plain Python.

MD5 against exact copies, the cosine of every pair against near ones, tiktoken on every chunk,
greedy filling, the best at both ends, numbered with their sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import md5
from typing import TYPE_CHECKING, ClassVar

from bench.peers.adapters.job import Clock, Job, Made
from bench.peers.workload import Row

if TYPE_CHECKING:
    from bench.peers.vectors import Floats

SIMILAR = 0.95


class Blog:
    """All of it, every time."""

    max_n: ClassVar[int] = 10_000

    def start(self, job: Job) -> None:
        """Load the tokenizer."""
        import tiktoken

        self.budget = job.budget
        self.encoding = tiktoken.get_encoding("cl100k_base")

    def prepare(self, rows: Sequence[Row], vectors: Floats) -> None:
        """Vectors by id, as they come with search results."""
        self.rows = rows
        self.vectors = {row.id: vector for row, vector in zip(rows, vectors, strict=True)}

    def run(self, clock: Clock) -> Made:
        """Deduplicate twice, fill, order, render."""
        rows = self._without_copies()
        clock("md5")
        rows = self._without_near_copies(rows)
        clock("cosines")
        rows, used = self._fill(rows)
        clock("count and fill")
        rows = rows[0::2] + rows[1::2][::-1]
        text = "\n\n".join(
            f"[{n}] Source: {row.title} ({row.document}), chunk {row.sequence}\n{row.text}"
            for n, row in enumerate(rows, 1)
        )
        clock("order and render")
        return Made(text=text, claimed=used)

    def _without_copies(self) -> list[Row]:
        seen: set[str] = set()
        unique = []
        for row in self.rows:
            digest = md5(row.text.strip().lower().encode(), usedforsecurity=False).hexdigest()
            if digest not in seen:
                seen.add(digest)
                unique.append(row)
        return unique

    def _without_near_copies(self, rows: list[Row]) -> list[Row]:
        import numpy as np

        kept: list[Row] = []
        for row in rows:
            vector = self.vectors[row.id]
            if not any(np.dot(vector, self.vectors[other.id]) > SIMILAR for other in kept):
                kept.append(row)
        return kept

    def _fill(self, rows: list[Row]) -> tuple[list[Row], int]:
        taken, used = [], 0
        for row in sorted(rows, key=lambda row: -row.score):
            tokens = len(self.encoding.encode(row.text))
            if used + tokens <= self.budget:
                taken.append(row)
                used += tokens
        return taken, used

"""The usual tutorial: the best chunks joined by blank lines.

Tokens are counted with tiktoken, as tutorials do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from bench.peers.adapters.job import A_CHUNK, Clock, Job, Made
from bench.peers.workload import Row

if TYPE_CHECKING:
    from bench.peers.vectors import Floats


class TopK:
    """As many chunks as the budget has room for on average, joined, then counted."""

    max_n: ClassVar[int] = 10_000

    def start(self, job: Job) -> None:
        """Load the tokenizer."""
        import tiktoken

        self.budget = job.budget
        self.encoding = tiktoken.get_encoding("cl100k_base")

    def prepare(self, rows: Sequence[Row], vectors: Floats) -> None:
        """Nothing to convert."""
        self.rows = rows

    def run(self, clock: Clock) -> Made:
        """Sort, cut at k, join, count."""
        top = sorted(self.rows, key=lambda row: -row.score)[: self.budget // A_CHUNK]
        clock("sort")
        text = "\n\n".join(row.text for row in top)
        clock("join")
        tokens = len(self.encoding.encode(text))
        clock("count")
        return Made(text=text, claimed=tokens)


class Greedy(TopK):
    """Down the ranking, each chunk counted, until the next would not fit; numbered."""

    def run(self, clock: Clock) -> Made:
        """Count and take, then join."""
        parts: list[str] = []
        used = 0
        for row in sorted(self.rows, key=lambda row: -row.score):
            tokens = len(self.encoding.encode(row.text))
            if used + tokens > self.budget:
                break
            used += tokens
            parts.append(f"[{len(parts) + 1}] {row.title}\n{row.text}")
        clock("count and take")
        text = "\n\n".join(parts)
        clock("join")
        return Made(text=text, claimed=used)

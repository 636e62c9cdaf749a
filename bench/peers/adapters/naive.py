"""The usual tutorial with counting: the best chunks joined by blank lines.

Tokens are counted with tiktoken, as tutorials do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.peers.adapters.job import Job, Made
from bench.peers.workload import Row

if TYPE_CHECKING:
    from bench.peers.vectors import Floats


class Greedy:
    """Down the ranking, each chunk counted, until the next would not fit; numbered."""

    def start(self, job: Job) -> None:
        """Load the tokenizer."""
        import tiktoken

        self.budget = job.budget
        self.encoding = tiktoken.get_encoding("cl100k_base")

    def prepare(self, rows: Sequence[Row], vectors: Floats) -> None:
        """Nothing to convert."""
        self.rows = rows

    def run(self) -> Made:
        """Count and take, then join."""
        parts: list[str] = []
        used = 0
        for row in sorted(self.rows, key=lambda row: -row.score):
            tokens = len(self.encoding.encode(row.text))
            if used + tokens > self.budget:
                break
            used += tokens
            parts.append(f"[{len(parts) + 1}] {row.title}\n{row.text}")
        text = "\n\n".join(parts)
        return Made(text=text, claimed=used)

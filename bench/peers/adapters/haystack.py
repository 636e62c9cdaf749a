"""Haystack: `DocumentJoiner`, `LostInTheMiddleRanker`, `PromptBuilder`, called one after the other.

It counts words, not tokens: the ranker's threshold is 0.75 words a token, the usual rule. Two
lists feed the joiner, as two retrievers would.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.peers.adapters.job import Job, Made
from bench.peers.workload import Row

if TYPE_CHECKING:
    from bench.peers.vectors import Floats

WORDS_A_TOKEN = 0.75
TEMPLATE = (
    "{% for d in documents %}[{{ loop.index }}] {{ d.meta['title'] }}\n"
    "{{ d.content }}\n\n{% endfor %}"
)


class Parts:
    """The components called one after the other."""

    def start(self, job: Job) -> None:
        """Build the components."""
        os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
        from haystack.components.builders import PromptBuilder
        from haystack.components.joiners import DocumentJoiner
        from haystack.components.rankers import LostInTheMiddleRanker

        words = int(job.budget * WORDS_A_TOKEN)
        self.joiner = DocumentJoiner(join_mode="concatenate")
        self.ranker = LostInTheMiddleRanker(word_count_threshold=words)
        self.builder = PromptBuilder(template=TEMPLATE, required_variables=["documents"])

    def prepare(self, rows: Sequence[Row], vectors: Floats) -> None:
        """Documents with their embeddings, in two lists."""
        from haystack import Document

        documents = [
            Document(
                content=row.text,
                meta={"doc_id": row.document, "title": row.title, "chunk": row.sequence},
                score=row.score,
                embedding=vector,
            )
            for row, vector in zip(rows, vectors.tolist(), strict=True)
        ]
        self.lists = [documents[0::2], documents[1::2]]

    def run(self) -> Made:
        """Join, rank, build."""
        documents = self.joiner.run(documents=self.lists)["documents"]
        documents = self.ranker.run(documents=documents)["documents"]
        text = self.builder.run(documents=documents)["prompt"]
        return Made(text=text)

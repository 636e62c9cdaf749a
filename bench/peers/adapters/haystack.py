"""Haystack: `DocumentJoiner`, `LostInTheMiddleRanker`, `PromptBuilder`, by hand and as a Pipeline.

It counts words, not tokens: the ranker's threshold is 0.75 words a token, the usual rule. Two
lists feed the joiner, as two retrievers would.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from bench.peers.adapters.job import Clock, Job, Made
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

    max_n: ClassVar[int] = 10_000

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

    def run(self, clock: Clock) -> Made:
        """Join, rank, build."""
        documents = self.joiner.run(documents=self.lists)["documents"]
        clock("joiner")
        documents = self.ranker.run(documents=documents)["documents"]
        clock("lost in the middle")
        text = self.builder.run(documents=documents)["prompt"]
        clock("prompt builder")
        return Made(text=text)


class Pipeline(Parts):
    """The same components through `Pipeline.run`."""

    def start(self, job: Job) -> None:
        """Connect two sources, the joiner, the ranker and the builder."""
        super().start(job)
        from haystack import Pipeline as Graph

        self.sources = [_source(), _source()]
        self.graph = Graph()
        for name, part in (
            ("first", self.sources[0]),
            ("second", self.sources[1]),
            ("joiner", self.joiner),
            ("ranker", self.ranker),
            ("prompt", self.builder),
        ):
            self.graph.add_component(name, part)
        self.graph.connect("first.documents", "joiner.documents")
        self.graph.connect("second.documents", "joiner.documents")
        self.graph.connect("joiner.documents", "ranker.documents")
        self.graph.connect("ranker.documents", "prompt.documents")

    def prepare(self, rows: Sequence[Row], vectors: Floats) -> None:
        """Each source holds one list."""
        super().prepare(rows, vectors)
        for source, documents in zip(self.sources, self.lists, strict=True):
            source.held = documents

    def run(self, clock: Clock) -> Made:
        """Run the graph."""
        made = self.graph.run({"first": {"go": 1}, "second": {"go": 1}})
        clock("pipeline")
        return Made(text=made["prompt"]["prompt"])


def _source() -> Any:
    """A component that hands out a list, as a retriever would."""
    from haystack import Document, component

    @component
    class Source:
        held: ClassVar[list[Document]] = []

        @component.output_types(documents=list[Document])
        def run(self, go: int) -> dict[str, list[Document]]:
            return {"documents": self.held}

    return Source()

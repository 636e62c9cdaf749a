"""LlamaIndex: postprocessors, then `PromptHelper.repack`, which is what `CompactAndRefine` does.

`repack` joins all chunks and splits them into prompts that fit: the first is the context that is
judged, the others are further model calls. Its tokenizer is tiktoken's, as by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.peers.adapters.job import Job, Made
from bench.peers.workload import Row

if TYPE_CHECKING:
    from bench.peers.vectors import Floats

PADDING = 5  # tokens that PromptHelper keeps free


class Compact:
    """`SimilarityPostprocessor`, `LongContextReorder`, compact."""

    def start(self, job: Job) -> None:
        """Build the postprocessors and a helper whose window leaves the budget for chunks."""
        import tiktoken
        from llama_index.core.indices.prompt_helper import PromptHelper
        from llama_index.core.postprocessor import LongContextReorder, SimilarityPostprocessor
        from llama_index.core.prompts.default_prompts import DEFAULT_TEXT_QA_PROMPT
        from llama_index.core.schema import QueryBundle

        encode = tiktoken.get_encoding("cl100k_base").encode
        self.cutoff = SimilarityPostprocessor(similarity_cutoff=-1.0)
        self.reorder = LongContextReorder()
        self.bundle = QueryBundle(job.query)
        self.prompt = DEFAULT_TEXT_QA_PROMPT.partial_format(query_str=job.query)
        around = len(encode(self.prompt.format(context_str="")))
        self.helper = PromptHelper(
            context_window=job.budget + around + PADDING, num_output=0, tokenizer=encode
        )

    def prepare(self, rows: Sequence[Row], vectors: Floats) -> None:
        """Nodes with scores."""
        from llama_index.core.schema import NodeWithScore, TextNode

        self.nodes = [
            NodeWithScore(
                node=TextNode(id_=row.id, text=row.text, metadata={"title": row.title}),
                score=row.score,
            )
            for row in rows
        ]

    def run(self) -> Made:
        """Cut off, reorder, pack."""
        from llama_index.core.schema import MetadataMode

        nodes = self.cutoff.postprocess_nodes(self.nodes, self.bundle)
        nodes = self.reorder.postprocess_nodes(nodes, self.bundle)
        chunks = [node.node.get_content(metadata_mode=MetadataMode.LLM) for node in nodes]
        prompts = self.helper.repack(self.prompt, chunks)
        return Made(text=prompts[0], extra={"model calls": len(prompts)})

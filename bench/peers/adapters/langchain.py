"""LangChain: its redundancy filter, its reordering, its formatting, put together as documented.

Embeddings are looked up, not computed: the filter asks for them by text and gets those of the
workload, as lists, which is what its interface takes. Tokens are counted with tiktoken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from bench.peers.adapters.job import Job, Made
from bench.peers.workload import Row

if TYPE_CHECKING:
    from bench.peers.vectors import Floats


def looked_up(query_vector: list[float]) -> Any:
    """An embeddings model that knows the vectors of the run's texts."""
    from langchain_core.embeddings import Embeddings

    class LookedUp(Embeddings):
        known: ClassVar[dict[str, list[float]]] = {}

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [self.known[text] for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return query_vector

    return LookedUp()


class Filter:
    """`EmbeddingsRedundantFilter`, the token limit of its chains, `LongContextReorder`, stuff.

    The limit is that of `ConversationalRetrievalChain`: documents leave from the end until the
    sum of their tokens fits.
    """

    def start(self, job: Job) -> None:
        """Build the transformers and the prompt."""
        import tiktoken
        from langchain_community.document_transformers import (
            EmbeddingsRedundantFilter,
            LongContextReorder,
        )
        from langchain_core.language_models.fake import FakeListLLM
        from langchain_core.prompts import PromptTemplate

        self.job = job
        self.embeddings = looked_up(job.query_vector.tolist())
        encode = tiktoken.get_encoding("cl100k_base").encode
        self.llm = FakeListLLM(responses=["-"], custom_get_token_ids=encode)
        self.redundant = EmbeddingsRedundantFilter(embeddings=self.embeddings)
        self.reorder = LongContextReorder()
        self.prompt = PromptTemplate.from_template("[{title}]\n{page_content}")

    def prepare(self, rows: Sequence[Row], vectors: Floats) -> None:
        """Documents, and the vectors by text."""
        from langchain_core.documents import Document

        self.documents = [
            Document(
                page_content=row.text,
                metadata={"source": row.document, "title": row.title, "score": row.score},
            )
            for row in rows
        ]
        self.embeddings.known.clear()
        self.embeddings.known.update(
            (row.text, vector) for row, vector in zip(rows, vectors.tolist(), strict=True)
        )

    def run(self) -> Made:
        """Filter, trim to the limit, reorder, format."""
        documents = self.redundant.transform_documents(self.documents)
        tokens = [self.llm.get_num_tokens(d.page_content) for d in documents]
        total, kept = sum(tokens), len(documents)
        while total > self.job.budget:
            kept -= 1
            total -= tokens[kept]
        documents = self.reorder.transform_documents(documents[:kept])
        text = self.stuffed(documents)
        return Made(text=text, claimed=total)

    def stuffed(self, documents: Sequence[Any]) -> str:
        """What the stuff chain makes of the documents."""
        from langchain_core.prompts import format_document

        return "\n\n".join(format_document(d, self.prompt) for d in documents)

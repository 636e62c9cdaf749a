"""LangChain's own suite for retrievers, on ours. Run by `make matrix`, where it is installed."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests.retrievers import RetrieversIntegrationTests

from foveate.integrations.langchain import FoveateRetriever
from framework_rows import PUBLIC, QUESTION


class Shelf(BaseRetriever):
    """Gives what it holds."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        rows = [row for row in PUBLIC if row["id"] != "copy-1"]
        return [Document(page_content=r["text"], metadata=r["metadata"]) for r in rows]


class TestFoveateRetriever(RetrieversIntegrationTests):
    """F6: all that LangChain asks of a retriever."""

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        """Ours."""
        return FoveateRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        """Over another one."""
        return {"retriever": Shelf(), "budget": 500}

    @property
    def retriever_query_example(self) -> str:
        """A question."""
        return QUESTION

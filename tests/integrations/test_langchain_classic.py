"""LangChain's own chains around our faces: the retriever that compresses, stuffing, retrieval."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_classic.chains import create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever

from foveate import check_answer
from foveate.integrations.langchain import (
    FoveateCompressor,
    FoveateRetriever,
    context_from_documents,
)
from foveate.providers import tokenizers
from framework_rows import PUBLIC, QUESTION, WORDY

COUNT = tokenizers.load_tokenizer("cl100k_base").count


class Shelf(BaseRetriever):
    """Gives what it holds."""

    held: list[dict[str, Any]]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(r["text"], id=r["id"], metadata=r["metadata"]) for r in self.held]


class Told(FakeListChatModel):
    """A model that keeps what it was sent."""

    heard: list[list[BaseMessage]] = []

    def _call(self, messages: list[BaseMessage], *given: Any, **options: Any) -> str:
        self.heard.append(messages)
        return super()._call(messages, *given, **options)


def test_the_compressor_works_in_langchain_s_own_retriever():
    """F6: three lines; the context can be had of what comes out, sync and async."""
    retriever = ContextualCompressionRetriever(
        base_compressor=FoveateCompressor(budget=300), base_retriever=Shelf(held=PUBLIC)
    )

    found = retriever.invoke(QUESTION)
    context = context_from_documents(found)

    assert asyncio.run(retriever.ainvoke(QUESTION)) == found
    assert context is not None
    assert len(found) == len(context.citations)
    assert [d.metadata["foveate"]["source"] for d in found] == [
        citation.source for citation in context.citations
    ]


def test_a_stuffed_prompt_holds_what_was_counted():
    """B1, F6, C3: what a chain joins of the documents keeps the budget; its answer is checked."""
    model = Told(responses=["With oak [1]."])
    prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{input}")])
    chain = create_retrieval_chain(
        FoveateRetriever(retriever=Shelf(held=WORDY), budget=150),
        create_stuff_documents_chain(model, prompt),
    )

    result = chain.invoke({"input": QUESTION})
    sent = str(model.heard[-1][0].content)
    context = context_from_documents(result["context"])

    assert 0 < COUNT(sent) <= 150
    assert sent == "\n\n".join(document.page_content for document in result["context"])
    assert context is not None
    assert check_answer(result["answer"], context).cited == (1,)

"""What LangChain's own parts get wrong, shown on them, and what comes out here instead."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_classic.retrievers import EnsembleRetriever
from langchain_classic.retrievers.document_compressors import LLMChainExtractor
from langchain_classic.retrievers.multi_query import _unique_documents
from langchain_core.documents import Document
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    trim_messages,
)
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.retrievers import BaseRetriever

from foveate import Budget, BudgetTooSmall, assemble, converse
from foveate.integrations.langchain import FoveateCompressor
from foveate.providers import tokenizers

COUNT = tokenizers.load_tokenizer("cl100k_base").count


class Shelf(BaseRetriever):
    """Gives what it holds."""

    held: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.held


def test_a_system_prompt_over_the_limit():
    """B1: LangChain sends it all the same, five times the limit; ours is an error that says so."""
    system = SystemMessage("Answer from the notes of the workshop and from nothing else. " * 4)

    theirs = trim_messages(
        [system, HumanMessage("When?")],
        max_tokens=10,
        include_system=True,
        token_counter=lambda found: sum(COUNT(str(m.content)) for m in found),
    )

    assert COUNT(str(theirs[0].content)) > 40
    with pytest.raises(BudgetTooSmall):
        assemble(
            "When?",
            [{"text": "The kiln is fired twice."}],
            messages=[{"role": "system", "content": str(system.content)}],
            budget=Budget(
                documents=20, window=60, system=10, conversation=0, query=5, generation=10, buffer=0
            ),
        )


def test_a_tool_s_result_without_its_call():
    """W1: LangChain's trimming can begin with a result whose call is gone; ours keeps both."""
    call = {"name": "look", "args": {}, "id": "c1"}
    said = [
        HumanMessage("Look."),
        AIMessage("", tool_calls=[call]),
        ToolMessage("Nine metres.", tool_call_id="c1"),
        AIMessage("Nine."),
        HumanMessage("When?"),
    ]
    called = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    turns = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "", "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "c1", "content": "Nine metres."},
        {"role": "assistant", "content": "Nine."},
    ]

    theirs = trim_messages(said, max_tokens=3, token_counter=len)
    ours = converse("When?", [{"text": "The kiln is fired twice."}], turns=turns, budget=4000)

    assert isinstance(theirs[0], ToolMessage)
    kinds = [message["role"] for message in ours.openai()]
    assert kinds.index("tool") == kinds.index("assistant") + 1


def test_counting_by_the_character():
    """B5: LangChain's estimate of a Chinese text is a fourth of its tokens; ours is its tokens."""
    text = "窑炉每月烧制两次使用山毛榉木和桦木" * 18

    theirs = count_tokens_approximately([HumanMessage(text)])
    context = assemble("窑炉?", [{"text": text}], budget=COUNT(text) // 2, recipe="naive")

    assert theirs < COUNT(text) / 3
    assert context.token_count == COUNT(context.text) <= COUNT(text) // 2


def test_one_text_found_twice_with_two_scores():
    """S3: to LangChain's retriever of several questions these are two documents; to us one."""
    found = [Document("The kiln is fired.", id="a", metadata={"score": n}) for n in (1, 2)]

    ours = FoveateCompressor(budget=99).compress_documents(found, "When?")

    assert len(_unique_documents(found)) == 2
    assert len(ours) == 1


def test_one_text_of_two_documents():
    """S3, C2: LangChain's ensemble forgets that the second says it too; ours can cite both."""
    held = [[Document("The kiln is fired.", metadata={"source": f"{n}.md"})] for n in "ab"]

    theirs = EnsembleRetriever(retrievers=[Shelf(held=one) for one in held]).invoke("When?")
    (ours,) = FoveateCompressor(budget=99).compress_documents(held[0] + held[1], "When?")

    assert [one.metadata["source"] for one in theirs] == ["a.md"]
    assert ours.metadata["source"] == "a.md"
    assert [s["source"] for s in ours.metadata["foveate"]["corroborating"]] == ["b.md"]


def test_an_extract_that_stands_nowhere():
    """S8: LangChain's extractor passes on what a model made up; ours shows the text's own words."""
    found = [Document("The kiln is fired twice a month. Beech burns longest.")]
    model = FakeListLLM(responses=["The kiln is fired every day."])

    (theirs,) = LLMChainExtractor.from_llm(model).compress_documents(found, "How often?")
    (ours,) = FoveateCompressor(budget=99).compress_documents(found, "How often?")

    assert theirs.page_content not in found[0].page_content
    assert ours.page_content.partition("\n")[2] in found[0].page_content

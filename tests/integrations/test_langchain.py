"""LangChain's faces against the real package: compressor and retriever, sync and async."""

from __future__ import annotations

import asyncio
import pickle
from copy import deepcopy
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.load import dumps, loads
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda

from foveate import (
    BadInput,
    BadOption,
    BudgetTooSmall,
    UnknownName,
    assemble,
)
from foveate.integrations.langchain import (
    FoveateCompressor,
    FoveateRetriever,
    context_from_documents,
)
from foveate.providers import tokenizers
from framework_rows import PUBLIC, QUESTION, ROWS, WORDY, assembling

COUNT = tokenizers.load_tokenizer("cl100k_base").count


def documents(rows: list[dict[str, Any]]) -> list[Document]:
    """The rows as LangChain's documents."""
    return [Document(id=r["id"], page_content=r["text"], metadata=r["metadata"]) for r in rows]


class Shelf(BaseRetriever):
    """A retriever of its own that gives what it holds, and can be asked asynchronously."""

    held: list[Document]
    asked: list[str] = []

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.asked.append(f"sync {query}")
        return self.held

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.asked.append(f"async {query}")
        return self.held


class Heard(BaseCallbackHandler):
    """Writes down which retrievers and chains began."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    def on_retriever_start(self, serialized: Any, query: str, **more: Any) -> None:
        """A retriever."""
        self.begun.append(f"{more.get('name')} under {more.get('parent_run_id') is not None}")

    def on_chain_start(self, serialized: Any, inputs: Any, **more: Any) -> None:
        """A chain."""
        self.begun.append(f"{more.get('name')}")


@pytest.fixture
def shelf() -> Shelf:
    """All rows."""
    return Shelf(held=documents(ROWS))


def test_documents_go_into_assemble_as_they_are():
    """I1, F6: `assemble` takes LangChain's documents, and pairs of one and its score."""
    found = documents(PUBLIC)

    context = assemble(QUESTION, found, budget=200)
    scored = assemble(
        QUESTION, [(d, -n) for n, d in enumerate(found)], budget=200, recipe="citations"
    )

    assert context.citations[0].source == "kiln.md"
    assert context.citations[0].page == 3
    assert [c.chunk_ids[0] for c in scored.citations] == ["kiln-1", "cellar-1", "clay-1"]


def test_the_compressor_gives_one_document_a_block():
    """F6, C1, C2: marker n is document n; ids, metadata and order survive; the context is known."""
    compressor = FoveateCompressor(budget=300, recipe="citations")

    found = compressor.compress_documents(documents(PUBLIC), QUESTION)

    assert isinstance(compressor, BaseDocumentCompressor)
    assert [d.id for d in found] == ["kiln-1", "cellar-1", "clay-1"]
    by_id = {row["id"]: row["metadata"] for row in ROWS}
    for number, document in enumerate(found, 1):
        about = document.metadata["foveate"]
        assert document.page_content.startswith(f"[{number}] {by_id[document.id]['source']}\n")
        assert about["marker"] == number
        rest = {k: v for k, v in document.metadata.items() if k != "foveate"}
        assert rest == by_id[document.id]
    context = context_from_documents(found)
    assert context is not None
    assert context.citations[0].corroborating[0].source == "copy.md"
    assert any(d.reason == "exact_duplicate" for s in context.trace for d in s.decisions)
    assert "[\\1] Source: forged.md" in found[1].page_content


@pytest.mark.parametrize("separator", ["\n\n", "\n", "\n\n=====\n\n"])
def test_what_a_chain_joins_keeps_the_budget(separator):
    """B1, F6: joined as chains join them, the documents are within the budget."""
    compressor = FoveateCompressor(budget=150, separator=separator)

    found = compressor.compress_documents(documents(WORDY), QUESTION)

    assert found
    assert COUNT(separator.join(d.page_content for d in found)) <= 150


def test_the_compressor_works_in_an_event_loop():
    """F6: asynchronously the same comes out."""
    compressor = FoveateCompressor(budget=300)

    found = asyncio.run(compressor.acompress_documents(documents(PUBLIC), QUESTION))

    assert found == compressor.compress_documents(documents(PUBLIC), QUESTION)


def test_nothing_found_is_no_error():
    """X5, F6: no documents, and none that may be read, give none."""
    compressor = FoveateCompressor(budget=300)
    secret = [d for d in documents(ROWS) if "principals" in d.metadata]

    assert compressor.compress_documents([], QUESTION) == []
    assert compressor.compress_documents(secret, QUESTION) == []


def test_who_asks_is_said_by_the_program():
    """X5, I4: by the constructor, by a function, or with the call."""
    secret = documents(ROWS)
    shelf = Shelf(held=secret)
    now: list[str] = []
    compressor = FoveateCompressor(budget=300, principals=lambda: now)
    retriever = FoveateRetriever(retriever=shelf, budget=300)

    def ids(found: list[Document]) -> set[str | None]:
        return {document.id for document in found}

    assert "wages-1" not in ids(compressor.compress_documents(secret, QUESTION))
    now.append("office")
    assert "wages-1" in ids(compressor.compress_documents(secret, QUESTION))
    assert "wages-1" not in ids(retriever.invoke(QUESTION))
    assert "wages-1" in ids(retriever.invoke(QUESTION, principals=["office"]))
    asked = asyncio.run(retriever.ainvoke(QUESTION, principals=["office"]))
    assert "wages-1" in ids(asked)
    bound = retriever.configurable_fields(principals=ConfigurableField(id="who"))
    assert "wages-1" in ids(bound.invoke(QUESTION, {"configurable": {"who": ["office"]}}))


def test_the_retriever_asks_another_one(shelf):
    """F6: sync, async and in batches, with callbacks and `k` handed on."""
    heard = Heard()
    retriever = FoveateRetriever(retriever=shelf, budget=300, k=2)

    found = retriever.invoke(QUESTION, {"callbacks": [heard]})
    again = asyncio.run(retriever.ainvoke(QUESTION))
    both = retriever.batch([QUESTION, QUESTION])

    assert found == again == both[0] == both[1]
    assert len(found) == 2
    assert len(retriever.invoke(QUESTION, k=1)) == 1
    assert [line.partition(" ")[0] for line in shelf.asked] == [
        "sync", "async", "sync", "sync", "sync",
    ]  # fmt: skip
    assert heard.begun == ["FoveateRetriever under False", "Shelf under True"]


def test_any_runnable_is_a_retriever():
    """F6: what gives documents for a question can stand behind it."""
    source = RunnableLambda(lambda question: documents(PUBLIC))

    found = FoveateRetriever(retriever=source, budget=300).invoke(QUESTION)

    assert found[0].metadata["foveate"]["source"] == "kiln.md"


def test_the_retriever_searches_a_store(tmp_path):
    """F6, T4: over a store of foveate's own, with source and page among the metadata."""
    with assembling(tmp_path, budget=200) as assembler:
        retriever = FoveateRetriever(assembler=assembler)

        found = retriever.invoke(QUESTION)
        again = asyncio.run(retriever.ainvoke(QUESTION))

        assert found == again
        assert any("twice a month" in document.page_content for document in found)
        assert found[0].metadata["source"].endswith(".md")
        assert COUNT("\n\n".join(d.page_content for d in found)) <= 200
        assert context_from_documents(found).manifest.state_root != ""


@pytest.mark.parametrize(
    "option", [{"budget": 60}, {"model": "gpt-4.1"}, {"format": "xml"}, {"recipe": "citations"}]
)
def test_an_assembler_s_own_choices_are_not_said_again(tmp_path, option):
    """B1, X1: a budget that nothing would keep is refused, not passed over."""
    said = pytest.raises(BadOption, match=f"{next(iter(option))}: the assembler has its own")
    with assembling(tmp_path, budget=200) as assembler, said:
        FoveateRetriever(assembler=assembler, **option)


def test_an_empty_store_gives_no_documents(tmp_path):
    """F6, X5: a search that finds nothing is no error of the chain."""
    from foveate import Assembler
    from foveate.stores import open_store

    with_nothing = Assembler(store=open_store(tmp_path / "store"))

    assert FoveateRetriever(assembler=with_nothing).invoke(QUESTION) == []
    assert asyncio.run(FoveateRetriever(assembler=with_nothing).ainvoke(QUESTION)) == []
    with_nothing.store.close()


@pytest.mark.filterwarnings("ignore")  # LangChain's own, about `loads`
def test_blocks_are_dumped_as_plain_documents(shelf):
    """F6: what LangChain writes down is its own documents, with our metadata."""
    found = FoveateRetriever(retriever=shelf, budget=300).invoke(QUESTION)

    (back, *_) = loads(dumps(found))

    assert type(back) is Document
    assert back.metadata == found[0].metadata
    assert context_from_documents([back]) is None


def test_copies_of_blocks_are_blocks(shelf):
    """F6: documents that were copied or pickled one by one are still of one context."""
    found = FoveateRetriever(retriever=shelf, budget=300).invoke(QUESTION)
    assert len(found) > 1

    for copied in (map(deepcopy, found), (pickle.loads(pickle.dumps(one)) for one in found)):
        assert context_from_documents(copied) == context_from_documents(found)


def test_blocks_of_two_contexts_are_not_mixed(shelf):
    """F6: there is one context of a list of documents, or an error."""
    retriever = FoveateRetriever(retriever=shelf, budget=300)

    with pytest.raises(BadInput, match="several contexts"):
        context_from_documents([*retriever.invoke(QUESTION), *retriever.invoke("What is clay?")])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"budget": -1}, BadOption),
        ({"recipe": "defualt"}, UnknownName),
        ({"format": "openai-parts"}, BadOption),
    ],
)
@pytest.mark.parametrize("face", [FoveateCompressor, FoveateRetriever])
def test_what_cannot_be_done_is_refused_at_once(shelf, face, options, error):
    """X1: wrong options are our own errors, when the face is made."""
    more = {"retriever": shelf} if face is FoveateRetriever else {}

    with pytest.raises(error):
        face(**more, **options)


def test_errors_of_ours_are_kept(shelf):
    """X1: a chain raises what `assemble` raises."""
    with pytest.raises(BudgetTooSmall, match="raise the budget to at least"):
        FoveateRetriever(retriever=shelf, budget=5).invoke(QUESTION)
    with pytest.raises(BadOption, match="give a retriever"):
        FoveateRetriever(budget=5)
    with pytest.raises(BadInput, match="the query is empty"):
        FoveateCompressor(budget=300).compress_documents(documents(ROWS), " ")


class _VectorStore:
    def as_retriever(self):
        return self


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({"retriever": _VectorStore()}, r"give the _VectorStore's .as_retriever\(\)"),
        ({"retriever": lambda question: []}, "wrap the function: .*RunnableLambda"),
        ({"retriever": 7}, "retriever must be a runnable; not int"),
        ({"assembler": "store"}, "assembler must be a foveate.Assembler, not str"),
    ],
)
def test_what_is_no_retriever_is_refused_at_once(given, advice):
    """X1: a vector store, a function or a path is refused with what to give instead."""
    with pytest.raises(BadOption, match=advice):
        FoveateRetriever(budget=300, **given)


def test_the_score_of_a_reranker_is_read():
    """I1: rerankers of LangChain write `relevance_score` into the metadata; it decides."""
    documents = [
        Document("The kiln is cold.", metadata={"source": "a", "relevance_score": 0.02}),
        Document("The kiln is fired at dawn.", metadata={"source": "b", "relevance_score": 0.97}),
    ]
    context = assemble("When is the kiln fired?", documents, recipe="reranked", budget=200)

    assert [(block.source, block.score) for block in context.blocks] == [("b", 0.97), ("a", 0.02)]

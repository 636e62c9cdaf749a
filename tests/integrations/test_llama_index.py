"""LlamaIndex's faces against the real package: the postprocessor, sync and async."""

from __future__ import annotations

import asyncio
import pickle
from dataclasses import replace
from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import (
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)

from foveate import (
    BadInput,
    BadOption,
    Budget,
    BudgetTooSmall,
    UnknownName,
    assemble,
    plugins,
)
from foveate.integrations.llama_index import (
    FoveatePostprocessor,
    context_from_nodes,
)
from foveate.providers import tokenizers
from framework_rows import PUBLIC, QUESTION, ROWS, WORDY

COUNT = tokenizers.load_tokenizer("cl100k_base").count


def nodes(rows: list[dict[str, Any]], *, scored: bool = True) -> list[NodeWithScore]:
    """The rows as LlamaIndex's nodes, of a document each, with falling scores."""
    return [
        NodeWithScore(
            node=TextNode(
                id_=row["id"],
                text=row["text"],
                metadata=dict(row["metadata"]),
                relationships={
                    NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"doc-{row['id']}")
                },
            ),
            score=-1.0 - place if scored else None,
        )
        for place, row in enumerate(rows)
    ]


class Shelf(BaseRetriever):
    """A retriever of its own that gives what it holds."""

    def __init__(self, held: list[NodeWithScore]) -> None:
        self.held = held
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.held


def llm() -> MockLLM:
    """A model that answers with what it was sent."""
    return MockLLM()


def test_nodes_go_into_assemble_as_they_are():
    """I1, F6: `assemble` takes nodes with scores, and nodes alone."""
    context = assemble(QUESTION, nodes(PUBLIC), budget=200)
    alone = assemble(QUESTION, [n.node for n in nodes(PUBLIC)], budget=200, recipe="citations")

    assert context.citations[0].source == "kiln.md"
    assert context.citations[0].document_id == "doc-kiln-1"
    assert [c.chunk_ids[0] for c in alone.citations] == ["kiln-1", "cellar-1", "clay-1"]


def test_the_postprocessor_gives_one_node_a_block():
    """F6, C1, C2: marker n is node n; ids, scores, metadata and relations survive, in order."""
    postprocessor = FoveatePostprocessor(budget=300, recipe="citations")
    given = nodes(PUBLIC)

    found = postprocessor.postprocess_nodes(given, query_str=QUESTION)

    assert isinstance(postprocessor, BaseNodePostprocessor)
    assert [(n.node_id, n.score) for n in found] == [
        ("kiln-1", -1.0), ("cellar-1", -2.0), ("clay-1", -4.0),
    ]  # fmt: skip
    by_id = {row["id"]: row["metadata"] for row in ROWS}
    for number, one in enumerate(found, 1):
        shown = one.node.get_content(metadata_mode=MetadataMode.LLM)
        rest = {k: v for k, v in one.metadata.items() if k != "foveate"}
        assert shown == one.text
        assert shown.startswith(f"[{number}] {rest['source']}\n")
        assert one.metadata["foveate"]["marker"] == number
        assert rest == by_id[one.node_id]
        assert one.node.ref_doc_id == f"doc-{one.node_id}"
    context = context_from_nodes(found)
    assert context is not None
    assert context.citations[0].corroborating[0].source == "copy.md"
    assert any(d.reason == "exact_duplicate" for s in context.trace for d in s.decisions)
    assert [n.text for n in given] == [row["text"] for row in PUBLIC]  # nothing shared is changed


def test_what_a_synthesizer_joins_keeps_the_budget():
    """B1, F6: what LlamaIndex's own synthesizer sends of the nodes is within the budget."""
    found = FoveatePostprocessor(budget=150).postprocess_nodes(nodes(WORDY), query_str=QUESTION)
    texts = [n.node.get_content(metadata_mode=MetadataMode.LLM) for n in found]

    engine = RetrieverQueryEngine(
        retriever=Shelf(nodes(WORDY)),
        response_synthesizer=get_response_synthesizer(llm=llm(), response_mode="compact"),
        node_postprocessors=[FoveatePostprocessor(budget=150)],
    )

    assert found
    assert COUNT("\n\n".join(texts)) <= 150
    assert "\n\n".join(texts) in str(engine.query(QUESTION))


def test_the_postprocessor_works_in_an_event_loop():
    """F6: asynchronously, as engines ask for it, the same comes out."""
    engine = RetrieverQueryEngine(
        retriever=Shelf(nodes(PUBLIC)),
        response_synthesizer=get_response_synthesizer(llm=llm(), response_mode="compact"),
        node_postprocessors=[FoveatePostprocessor(budget=300)],
    )

    waited = asyncio.run(engine.aquery(QUESTION))

    assert str(waited) == str(engine.query(QUESTION))


def test_who_asks_is_said_by_the_program():
    """X5, I4: names or a function; nothing found and nothing readable are the same."""
    now: list[str] = []
    postprocessor = FoveatePostprocessor(budget=300, principals=lambda: now)
    secret = nodes([row for row in ROWS if "principals" in row["metadata"]])

    assert postprocessor.postprocess_nodes(secret, query_str=QUESTION) == []
    assert postprocessor.postprocess_nodes([], query_str=QUESTION) == []
    now.append("office")
    assert len(postprocessor.postprocess_nodes(secret, query_str=QUESTION)) == 1
    assert "principals" not in postprocessor.to_dict()


def test_without_a_question_nothing_is_assembled():
    """X1: the postprocessor needs the question, and says so."""
    with pytest.raises(BadInput, match="give query_str or query_bundle"):
        FoveatePostprocessor(budget=300).postprocess_nodes(nodes(ROWS))


def test_the_postprocessor_is_written_down_and_read():
    """F6: with a budget and a recipe of values it is the same again; who asks is not in it."""
    mine = replace(plugins.recipe("citations"), include_metadata=("author",))
    first = FoveatePostprocessor(budget=Budget(documents=99), recipe=mine, principals=["office"])

    as_json = FoveatePostprocessor.from_json(first.to_json())
    as_dict = FoveatePostprocessor.from_dict(first.to_dict())

    for again in (as_json, as_dict, pickle.loads(pickle.dumps(first))):
        assert (again.budget, again.recipe) == (first.budget, first.recipe)
    assert "office" not in first.to_json()
    with pytest.raises(BadOption, match="recipe must be a string or a Path or a Recipe"):
        FoveatePostprocessor(recipe={"stages": []})


def test_metadata_that_is_changed_is_changed_in_one_place():
    """F6: a list in the metadata of a block is none that the given nodes hold."""
    given = nodes([{**PUBLIC[0], "metadata": {"shelf": ["a"], "at": {"row": [1]}}}])
    (block,) = FoveatePostprocessor(budget=300).postprocess_nodes(given, query_str=QUESTION)

    block.node.metadata["shelf"].append("b")
    block.node.metadata["at"]["row"].append(2)

    assert given[0].node.metadata == {"shelf": ["a"], "at": {"row": [1]}}


@pytest.mark.parametrize(
    ("options", "error"),
    [({"budget": -1}, BadOption), ({"recipe": "defualt"}, UnknownName)],
)
def test_what_cannot_be_done_is_refused_at_once(options, error):
    """X1: wrong options are our own errors, when the face is made; a budget too small later."""
    with pytest.raises(error):
        FoveatePostprocessor(**options)
    with pytest.raises(BudgetTooSmall):
        FoveatePostprocessor(budget=5).postprocess_nodes(nodes(ROWS), query_str=QUESTION)


def test_blocks_of_two_contexts_are_not_mixed():
    """F6: there is one context of a list of nodes, or an error."""
    postprocessor = FoveatePostprocessor(budget=300)
    twice = [
        node
        for asked in (QUESTION, "What is clay?")
        for node in postprocessor.postprocess_nodes(nodes(PUBLIC), query_str=asked)
    ]

    with pytest.raises(BadInput, match="several contexts"):
        context_from_nodes(twice)

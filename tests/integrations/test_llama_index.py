"""LlamaIndex's faces against the real package: postprocessor and synthesizer; sync and async."""

from __future__ import annotations

import asyncio
import pickle
from copy import deepcopy
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
    check_answer,
    plugins,
)
from foveate.integrations.llama_index import (
    FoveatePostprocessor,
    FoveateSynthesizer,
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
        assert shown.startswith(f"[{number}] Source: ")
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
        response_synthesizer=FoveateSynthesizer(llm(), budget=300),
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


def test_the_synthesizer_keeps_the_numbering():
    """F6, C1, C3: the model is sent the context as counted; source n is what [n] stands for."""
    engine = RetrieverQueryEngine(
        retriever=Shelf(nodes(PUBLIC)), response_synthesizer=FoveateSynthesizer(llm(), budget=300)
    )

    answer = engine.query(QUESTION)
    context = context_from_nodes(answer)

    assert context is not None
    assert f"{context.text}\n\n[End of context]\n\n{QUESTION}" in str(answer)
    assert context.token_count <= 300
    assert [n.metadata["foveate"]["marker"] for n in answer.source_nodes] == [
        citation.marker for citation in context.citations
    ]
    assert [n.metadata["foveate"]["source"] for n in answer.source_nodes] == [
        citation.source for citation in context.citations
    ]
    assert check_answer("It is fired twice a month [1].", context).cited == (1,)


def test_the_synthesizer_has_one_source_for_each_document_that_is_cited():
    """F6, C1: where markers stand for documents, so do the sources."""
    given = nodes([{**row, "id": f"{row['id']}{n}"} for row in PUBLIC[1:] for n in range(2)])
    for place, node in enumerate(given):
        node.node.text += f" Note {place}."
        node.node.metadata["sequence"] = 5 * place
        shared = RelatedNodeInfo(node_id=node.metadata["source"])
        node.node.relationships[NodeRelationship.SOURCE] = shared

    options = {"budget": 600, "recipe": "document-first"}
    blocks = FoveatePostprocessor(**options).postprocess_nodes(given, query_str=QUESTION)
    for found in (given, blocks):
        answer = FoveateSynthesizer(llm(), **options).synthesize(QUESTION, found)
        context = context_from_nodes(answer)

        assert context is not None
        assert len(blocks) == len(context.blocks) > len(context.citations)
        assert [n.node.ref_doc_id for n in answer.source_nodes] == [
            citation.document_id for citation in context.citations
        ]
        shown = "".join(n.node.get_content() for n in answer.source_nodes)
        assert [b.text[-7:] for b in context.blocks if b.text[-7:] not in shown] == []


def test_blocks_of_a_postprocessor_are_sent_as_they_are():
    """F6: assembled once, the numbering of the first is kept; a mixture is refused."""
    found = FoveatePostprocessor(budget=300).postprocess_nodes(nodes(PUBLIC), query_str=QUESTION)
    synthesizer = FoveateSynthesizer(llm(), budget=300)

    answer = synthesizer.synthesize(QUESTION, found)

    assert context_from_nodes(answer) is context_from_nodes(found)
    assert answer.source_nodes == found
    with pytest.raises(BadInput, match="others are not"):
        synthesizer.synthesize(QUESTION, [*found, *nodes(PUBLIC)])


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


def test_what_is_asked_is_what_is_sent():
    """F6: a context that was made for another question does not bring that question along."""
    found = FoveatePostprocessor(budget=300).postprocess_nodes(nodes(PUBLIC), query_str=QUESTION)
    synthesizer = FoveateSynthesizer(llm(), budget=300)

    answers = [
        synthesizer.synthesize("Who digs clay?", found),
        asyncio.run(synthesizer.asynthesize("Who digs clay?", found)),
    ]

    for answer in answers:
        assert "Who digs clay?" in str(answer)
        assert QUESTION not in str(answer)
        assert context_from_nodes(found).text in str(answer)


def test_what_stands_behind_a_postprocessor_cannot_change_what_numbers_mean():
    """F6, C1, X5: another order is put right; nodes that were dropped are not sent on."""
    found = FoveatePostprocessor(budget=300).postprocess_nodes(nodes(PUBLIC), query_str=QUESTION)
    synthesizer = FoveateSynthesizer(llm(), budget=300)
    assert synthesizer.synthesize(QUESTION, found[::-1]).source_nodes == found
    with pytest.raises(BadInput, match="must stand before FoveatePostprocessor"):
        synthesizer.synthesize(QUESTION, found[1:])
    copies = [deepcopy(one) for one in found]
    assert synthesizer.synthesize(QUESTION, copies).source_nodes == found
    assert synthesizer.synthesize(QUESTION, [*copies, *found]).source_nodes == found
    bare = deepcopy(found)
    del bare[0].node.metadata["foveate"]
    with pytest.raises(BadInput, match="has lost 'foveate'"):
        synthesizer.synthesize(QUESTION, bare)


def test_the_synthesizer_streams():
    """F6: in pieces, sync and async, the same answer comes."""
    synthesizer = FoveateSynthesizer(llm(), budget=300, streaming=True)
    whole = str(FoveateSynthesizer(llm(), budget=300).synthesize(QUESTION, nodes(PUBLIC)))

    async def waited() -> str:
        answer = await synthesizer.asynthesize(QUESTION, nodes(PUBLIC))
        return "".join([piece async for piece in answer.response_gen])

    assert "".join(synthesizer.synthesize(QUESTION, nodes(PUBLIC)).response_gen) == whole
    assert asyncio.run(waited()) == whole
    assert str(asyncio.run(FoveateSynthesizer(llm(), budget=300).asynthesize(
        QUESTION, nodes(PUBLIC)
    ))) == whole  # fmt: skip


def test_the_synthesizer_takes_the_room_that_the_model_leaves():
    """B1, B2: without a budget the request fits the window that the model tells."""
    answer = FoveateSynthesizer(llm()).synthesize(QUESTION, nodes(WORDY * 4))
    context = context_from_nodes(answer)
    told = llm().metadata

    assert context is not None
    assert context.budget.window == told.context_window
    assert COUNT(str(answer)) + context.budget.generation <= told.context_window


def test_an_answer_without_documents_is_empty():
    """F6, X5: what LlamaIndex says where there are no nodes."""
    secret = nodes([row for row in ROWS if "principals" in row["metadata"]])

    assert str(FoveateSynthesizer(llm(), budget=99).synthesize(QUESTION, secret)) == (
        "Empty Response"
    )
    with pytest.raises(BadInput, match="needs the nodes"):
        FoveateSynthesizer(llm(), budget=99).get_response(QUESTION, ["A text."])


@pytest.mark.parametrize(
    ("options", "error"),
    [({"budget": -1}, BadOption), ({"recipe": "defualt"}, UnknownName)],
)
def test_what_cannot_be_done_is_refused_at_once(options, error):
    """X1: wrong options are our own errors, when the face is made; a budget too small later."""
    with pytest.raises(error):
        FoveatePostprocessor(**options)
    with pytest.raises(error):
        FoveateSynthesizer(llm(), **options)
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

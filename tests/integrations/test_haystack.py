"""Haystack's component against the real package: sockets, pipelines on disk, sync and async."""

from __future__ import annotations

import asyncio
import inspect
import os
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import AnswerBuilder, PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.dataclasses import ChatMessage

from foveate import (
    BadOption,
    Budget,
    BudgetTooSmall,
    Recipe,
    UnknownName,
    assemble,
    check_answer,
)
from foveate.core.formats.xml import Xml
from foveate.core.stages.pack import Pack
from foveate.integrations.haystack import FoveateAssembler
from foveate.providers import tokenizers
from framework_rows import PUBLIC, QUESTION, ROWS, WORDY

COUNT = tokenizers.load_tokenizer("cl100k_base").count
OURS = "foveate.integrations.haystack"


def documents(rows: list[dict[str, Any]]) -> list[Document]:
    """The rows as Haystack's documents, with falling scores."""
    return [
        Document(id=row["id"], content=row["text"], meta=row["metadata"], score=1 - place / 50)
        for place, row in enumerate(rows)
    ]


@component
class Shelf:
    """A retriever of its own that gives what it holds, a list as joiners take them."""

    def __init__(self, held: list[dict[str, Any]]) -> None:
        self.held = held

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """All of them."""
        return {"documents": documents(self.held)}


def loaded(text: str) -> Pipeline:
    """The pipeline again; Haystack 3 wants to be told whose classes it may load."""
    known = "allowed_modules" in inspect.signature(Pipeline.loads).parameters
    trusted: dict[str, Any] = {"allowed_modules": [OURS, __name__]} if known else {}
    return Pipeline.loads(text, **trusted)


def pipeline(assembler: FoveateAssembler) -> Pipeline:
    """Two retrievers, a joiner, and the assembler."""
    made = Pipeline()
    made.add_component("first", Shelf(held=PUBLIC[:2]))
    made.add_component("second", Shelf(held=PUBLIC[2:]))
    made.add_component("joiner", DocumentJoiner())
    made.add_component("assembler", assembler)
    made.connect("first.documents", "joiner.documents")
    made.connect("second.documents", "joiner.documents")
    made.connect("joiner.documents", "assembler.documents")
    return made


ASKED = {name: {"query": QUESTION} for name in ("first", "second", "assembler")}


def test_documents_go_into_assemble_as_they_are():
    """I1, F6: `assemble` takes Haystack's documents."""
    context = assemble(QUESTION, documents(PUBLIC), budget=200)

    assert context.citations[0].source == "kiln.md"
    assert context.citations[0].page == 3


def test_the_component_gives_one_document_a_block():
    """F6, C1, C2: marker n is document n; ids, scores, metadata and order survive."""
    made = FoveateAssembler(budget=300, recipe="citations").run(QUESTION, documents(PUBLIC))

    found = made["documents"]
    assert [(d.id, d.score) for d in found] == [
        ("kiln-1", 1.0), ("cellar-1", 0.98), ("clay-1", 0.94),
    ]  # fmt: skip
    by_id = {row["id"]: row["metadata"] for row in ROWS}
    for number, document in enumerate(found, 1):
        assert document.content.startswith(f"[{number}] {by_id[document.id]['source']}\n")
        assert document.meta["foveate"]["marker"] == number
        rest = {k: v for k, v in document.meta.items() if k != "foveate"}
        assert rest == by_id[document.id]
    assert made["sources"] == found
    assert made["citations"][0]["corroborating"][0]["source"] == "copy.md"
    assert made["token_count"] == COUNT(made["context"]) <= 300
    reasons = [d["reason"] for stage in made["trace"] for d in stage["decisions"]]
    assert "exact_duplicate" in reasons
    assert made["messages"][-1].text == f"{made['context']}\n\n[End of context]\n\n{QUESTION}"
    assert made["messages"][0].is_from("system")
    assert check_answer("Twice a month [1].", made["assembled"]).cited == (1,)


def test_what_a_prompt_builder_joins_keeps_the_budget():
    """B1, F6: the documents in a template, with what stands between them, keep the budget."""
    template = (
        "{% for d in documents %}{{ d.content }}{% if not loop.last %}\n\n{% endif %}{% endfor %}"
    )
    builder = PromptBuilder(template=template, required_variables=["documents"])

    made = FoveateAssembler(budget=150).run(QUESTION, documents(WORDY))

    assert made["documents"]
    assert COUNT(builder.run(documents=made["documents"])["prompt"]) <= 150


def test_a_pipeline_is_written_down_and_loaded():
    """F6: dumped to YAML and loaded, with a recipe and a budget of values, it gives the same."""
    mine = Recipe(name="mine", stages=(Pack(policy="greedy"),), format=Xml())
    budget = Budget(documents=120, window=None)
    made = pipeline(FoveateAssembler(budget=budget, recipe=mine, order="edges"))

    again = loaded(made.dumps())

    first, second = made.run(ASKED)["assembler"], again.run(ASKED)["assembler"]
    assert second["context"] == first["context"] != ""
    assert first["context"].startswith("<chunk")
    assert again.get_component("assembler").to_dict() == made.get_component("assembler").to_dict()


def test_the_sockets_have_types():
    """F6: Haystack connects what fits, and refuses what does not."""
    assembler = FoveateAssembler(budget=99)
    inputs, outputs = assembler.__haystack_input__, assembler.__haystack_output__
    given = {name: socket.type for name, socket in inputs._sockets_dict.items()}
    gives = {name: socket.type for name, socket in outputs._sockets_dict.items()}

    assert given["query"] is str
    assert given["documents"] == list[Document]
    assert gives["documents"] == gives["sources"] == list[Document]
    assert gives["messages"] == list[ChatMessage]
    assert (gives["context"], gives["token_count"]) == (str, int)
    made = Pipeline()
    made.add_component("assembler", assembler)
    made.add_component("joiner", DocumentJoiner())
    with pytest.raises(Exception, match="connect"):
        made.connect("assembler.context", "joiner.documents")


def test_a_pipeline_runs_in_an_event_loop():
    """F6: asynchronously, as the component and as a part of a pipeline, the same comes out."""
    assembler = FoveateAssembler(budget=300)
    made = pipeline(FoveateAssembler(budget=300))
    waited = asyncio.run(assembler.run_async(QUESTION, documents(PUBLIC)))

    assert waited["context"] == assembler.run(QUESTION, documents(PUBLIC))["context"]
    try:
        from haystack import AsyncPipeline  # before Haystack 3 a class of its own
    except ImportError:
        runs = asyncio.run(made.run_async(ASKED))
    else:
        runs = asyncio.run(AsyncPipeline.from_dict(made.to_dict()).run_async(ASKED))
    assert runs["assembler"]["context"] == made.run(ASKED)["assembler"]["context"]


def test_who_asks_is_an_input_of_the_run():
    """X5, I4: principals come with the run, are not written down; nothing readable is nothing."""
    assembler = FoveateAssembler(budget=300)
    secret = documents([row for row in ROWS if "principals" in row["metadata"]])

    nothing = assembler.run(QUESTION, secret)
    allowed = assembler.run(QUESTION, secret, principals=["office"])

    assert nothing.keys() == allowed.keys() == assembler.run(QUESTION, []).keys()
    assert (nothing["documents"], nothing["context"], nothing["token_count"]) == ([], "", 0)
    assert nothing == assembler.run(QUESTION, [])
    assert "no_candidates" in nothing["trace"][0]["notes"]
    assert nothing["messages"][-1].text == QUESTION
    assert "[1]" not in nothing["messages"][0].text
    assert len(allowed["documents"]) == 1
    assert "principals" not in assembler.to_dict()["init_parameters"]


def test_an_answer_builder_finds_what_is_cited():
    """F6, C1: Haystack's own builder, which counts places, resolves our markers."""
    assembler = FoveateAssembler(budget=300)
    made = assembler.run(QUESTION, documents(PUBLIC))
    builder = AnswerBuilder(reference_pattern=r"\[(\d+)\]")

    for number, source in enumerate(made["sources"], 1):
        answers = builder.run(
            query=QUESTION, replies=[f"So it says [{number}]."], documents=made["sources"]
        )["answers"]
        referenced = [d for d in answers[0].documents if d.meta.get("referenced", True)]
        assert [d.id for d in referenced] == [source.id]
        assert source.meta["foveate"]["source"] == made["citations"][number - 1]["source"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"budget": -1}, BadOption),
        ({"budget": {"documnets": 5}}, BadOption),
        ({"recipe": "defualt"}, UnknownName),
        ({"recipe": "name = 1\n"}, BadOption),
    ],
)
def test_what_cannot_be_done_is_refused_at_once(options, error):
    """X1: wrong options are our own errors, when the component is made."""
    with pytest.raises(error):
        FoveateAssembler(**options)


def test_errors_of_ours_are_kept():
    """X1: the component raises our error; a pipeline's own has it as its cause."""
    assembler = FoveateAssembler(budget=5)

    with pytest.raises(BudgetTooSmall):
        assembler.run(QUESTION, documents(PUBLIC))
    with pytest.raises(Exception, match="budget too small") as caught:
        pipeline(assembler).run(ASKED)
    causes = [caught.value, caught.value.__cause__, caught.value.__context__]
    assert any(isinstance(cause, BudgetTooSmall) for cause in causes)


def test_haystack_tells_nobody():
    """F7: its telemetry is off in these tests, and nothing of ours turns it on."""
    from haystack.telemetry import _telemetry

    assert _telemetry.telemetry is None
    assert os.environ["HAYSTACK_TELEMETRY_ENABLED"] == "False"

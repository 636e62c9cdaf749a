"""Agents of LangChain with the middleware, against the real package. Run by `make matrix`."""

from __future__ import annotations

import asyncio

import pytest
from bench import bench_compact
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool, tool

from agent_faces import (
    BUDGET,
    INSTRUCTIONS,
    PAGES,
    QUESTION,
    check_example,
    check_made,
    read,
    shown,
)
from foveate import BudgetTooSmall, OriginalStore, expand
from foveate.core.compact.shorten import result_handle
from foveate.integrations.langchain import FoveateRetriever, cited_documents
from foveate.integrations.langchain.middleware import FoveateMiddleware

GATES = ["alder", "birch", "maple", "oak"]


class Model(GenericFakeChatModel):
    """A model with a script, which notes what it is sent."""

    seen: list = []

    def bind_tools(self, tools, **_):
        """It calls tools as its script says."""
        return self

    def _generate(self, messages, *args, **kwargs):
        self.seen.append(messages)
        return super()._generate(messages, *args, **kwargs)


def scripted():
    """A model that reads every page."""
    calls = [{"name": "read", "args": {"page": n}, "id": f"c{n}"} for n in range(PAGES)]
    script = [AIMessage("", tool_calls=[{**call, "type": "tool_call"}]) for call in calls]
    return Model(messages=iter([*script, AIMessage("pump_119.")]))


def agent(**options):
    """An agent with such a model, and the model."""
    model = scripted()
    fit = FoveateMiddleware(**options)
    return create_agent(model, [tool(read)], system_prompt=INSTRUCTIONS, middleware=[fit]), model


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_every_request_of_an_agent_fits(way):
    """A8, F6: system prompt and tools included; the state keeps all, and originals are kept."""
    made, store = [], OriginalStore()
    made_agent, model = agent(budget=BUDGET, originals=store, tenant="t", on_compact=made.append)
    asked = {"messages": [HumanMessage(QUESTION)]}
    waits = way == "ainvoke"
    done = asyncio.run(made_agent.ainvoke(asked)) if waits else made_agent.invoke(asked)

    check_made(made)
    assert len(done["messages"]) == 2 + 2 * PAGES
    for request, one in zip(model.seen, made, strict=True):
        assert request[0] == SystemMessage(INSTRUCTIONS)
        assert len(request) == 1 + len(one.messages)
    handle = result_handle(done["messages"][2].content)
    assert expand(handle, store, tenant="t", budget=9_999) == done["messages"][2].content


def test_a_budget_that_the_tools_fill_is_refused():
    """A7: schemas and system prompt count, and the error names a budget that works."""
    made_agent, _ = agent(budget=40)
    with pytest.raises(BudgetTooSmall, match="tools"):
        made_agent.invoke({"messages": [HumanMessage(QUESTION)]})


def test_markers_run_on_over_the_calls_of_a_run():
    """C1, F6: two searches side by side and one more; a source found again keeps its number."""
    pages = [Document(f"{w.title()} gate: {w}.", metadata={"source": f"{w}.md"}) for w in GATES]
    found = RunnableLambda(lambda asked: [pages[int(n)] for n in asked.split()])
    retriever = FoveateRetriever(retriever=found, budget=400, recipe="citations")
    search = create_retriever_tool(
        retriever, "search", "Search for gates.", response_format="content_and_artifact"
    )
    asked = (("a", "0 1"), ("b", "1 2"), ("c", "2 3 0"))
    calls = [
        {"name": "search", "args": {"query": q}, "id": n, "type": "tool_call"} for n, q in asked
    ]
    script = [AIMessage("", tool_calls=calls[:2]), AIMessage("", tool_calls=calls[2:])]
    model = Model(messages=iter([*script, AIMessage("The oak gate [4].")]))
    made = create_agent(model, [search], middleware=[FoveateMiddleware(budget=BUDGET)])
    done = made.invoke({"messages": [HumanMessage("Which gates are there?")]})["messages"]

    cited = cited_documents(done)
    sources = {n: {one.metadata["source"] for one in shown} for n, shown in cited.items()}
    assert sorted(sources) == [1, 2, 3, 4]
    assert len(set.union(*sources.values())) == 4
    for message in model.seen[-1]:
        for line in str(message.content).splitlines() if message.type == "tool" else ():
            if line.startswith("["):
                assert line.split()[-1] in sources[int(line[1])]


def test_the_summarising_middleware_is_measured_as_it_runs():
    """A3, E3: a row of the table; what it keeps pairs up, and a summary stands for the rest."""
    history = []
    for n in range(9):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        history += [
            {"role": "user", "content": f"What is boat_{n:03}? " + "Please look at it. " * 20},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"boat_{n:03} is free."},
        ]
    cut = bench_compact.WAYS[bench_compact.SUMMARISING]
    made = cut(history, 500)
    assert bench_compact.total(made) <= 500 < bench_compact.total(history)
    assert bench_compact.orphans(made) == 0
    assert "boat_005 is free." in made[0]["content"]  # the newest of what leaves
    assert "boat_000" not in made[0]["content"]
    assert [m["content"] for m in made[1:]] == [m["content"] for m in history[1 - len(made) :]]
    assert cut(history, 9_000) is history


def test_the_page_shows_what_runs():
    """F6: the program of docs/agents.md makes an agent."""
    names = {"model": scripted(), "tools": [tool(read)]}
    exec(shown("foveate.integrations.langchain.middleware"), names)
    done = names["agent"].invoke({"messages": [HumanMessage(QUESTION)]})
    assert done["messages"][-1].content == "pump_119."


def test_the_example_fits_every_request(monkeypatch, capsys):
    """A8, F6: examples/langgraph_agent.py runs sixty turns; the state keeps all messages."""
    check_example("langgraph_agent.py", monkeypatch, capsys)

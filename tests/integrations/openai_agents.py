"""OpenAI's Agents SDK, against the real package and a server on loopback. Run by `make matrix`."""

from __future__ import annotations

import asyncio

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
)
from agents.run_config import CallModelData, ModelInputData
from openai import AsyncOpenAI

from agent_faces import BUDGET, INSTRUCTIONS, PAGE, PAGES, QUESTION, check_made, read, shown, turns
from foveate.integrations.openai_agents import FoveateCompaction
from message_lists import unmatched
from model_servers import serving


def test_every_request_of_a_run_fits():
    """A8, F6: instructions and tools included; the run and its session keep all items."""
    made, session = [], SQLiteSession("s")
    fit = FoveateCompaction(budget=BUDGET, on_compact=made.append)
    with serving("openai", "turns", turns=turns()) as server:
        client = AsyncOpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="k", timeout=60)
        model = OpenAIChatCompletionsModel(model="tiny", openai_client=client)
        agent = Agent("Reader", instructions=INSTRUCTIONS, model=model, tools=[function_tool(read)])
        config = RunConfig(call_model_input_filter=fit, tracing_disabled=True)
        run = Runner.run(agent, QUESTION, run_config=config, session=session, max_turns=PAGES + 1)
        done = asyncio.run(run)

    assert done.final_output == "pump_119."
    check_made(made)
    items = done.to_input_list()
    assert len(items) == 2 + 2 * PAGES
    assert items[2]["output"].endswith(PAGE)
    assert len(asyncio.run(session.get_items())) == len(items)
    for request, one in zip(server.requests, made, strict=True):
        assert request["messages"][0] == {"role": "system", "content": INSTRUCTIONS}
        assert unmatched(request["messages"]) == []
        assert len(request["messages"]) == 1 + len(one.messages)
    assert "[Ledger" in str(server.requests[-1]["messages"])


def test_items_that_stay_are_the_objects_that_came():
    """A1: the SDK finds its own items again by identity; the list is not changed in place."""
    items = [
        {"role": "user", "content": PAGE},
        {"role": "assistant", "content": "I read it."},
        {"role": "user", "content": QUESTION},
    ]
    data = CallModelData(ModelInputData(items, None), Agent("Reader"), None)
    sent = FoveateCompaction(budget=400)(data)
    assert isinstance(sent, ModelInputData)
    assert sent.input[-1] is items[-1]
    assert sent.input[-2] is items[-2]
    assert "[Ledger" in str(sent.input[0])
    assert len(data.model_data.input) == len(items)


def test_the_page_shows_what_runs():
    """F6: the program of docs/agents.md makes a configuration with the filter."""
    names = {}
    exec(shown("foveate.integrations.openai_agents"), names)
    assert isinstance(names["config"].call_model_input_filter, FoveateCompaction)

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
    handoff,
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


def test_calls_and_a_handoff_keep_their_results():
    """A2, A8, F6: a run goes over to another agent; no item of either is an orphan or is lost."""
    first, *rest = turns()
    move = {"id": "h", "type": "function",
            "function": {"name": "transfer_to_keeper", "arguments": "{}"}}  # fmt: skip
    script = (first, {"tool_calls": [move]}, *rest)
    made = []
    fit = FoveateCompaction(budget=BUDGET, on_compact=made.append)
    with serving("openai", "turns", turns=script) as server:
        client = AsyncOpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="k", timeout=60)
        model = OpenAIChatCompletionsModel(model="tiny", openai_client=client)
        same = {"instructions": INSTRUCTIONS, "model": model, "tools": [function_tool(read)]}
        keeper = Agent("Keeper", handoff_description="Keeps the pumps.", **same)
        triage = Agent("Triage", handoffs=[keeper], **same)
        config = RunConfig(call_model_input_filter=fit, tracing_disabled=True)
        run = Runner.run(triage, QUESTION, run_config=config, max_turns=PAGES + 2)
        done = asyncio.run(run)

    assert done.last_agent is keeper
    assert done.final_output == "pump_119."
    named = [tool.get("name") for tool in made[0].tools]
    assert "transfer_to_keeper" in named  # and so counts
    assert "transfer_to_keeper" not in [tool.get("name") for tool in made[-1].tools]
    items = done.to_input_list()
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert calls == outputs == ["c0", "h", *(f"c{n}" for n in range(1, PAGES))]
    for request, one in zip(server.requests, made, strict=True):
        assert unmatched(request["messages"]) == unmatched(one.messages) == []
        assert one.token_count + one.tools_token_count <= BUDGET
    assert "transfer_to_keeper" in str(server.requests[2]["messages"])
    assert "[Ledger" in str(server.requests[-1]["messages"])


def test_handoffs_count_as_the_tools_that_they_are():
    """A7: an agent that may hand over, given as an agent or as a handoff."""
    keeper = Agent("Keeper", handoff_description="Keeps the pumps of the canal. " * 9)
    made = []
    for targets in ([], [keeper], [handoff(keeper)]):
        fit = FoveateCompaction(budget=900, on_compact=made.append)
        items = [{"role": "user", "content": QUESTION}]
        fit(CallModelData(ModelInputData(items, None), Agent("Reader", handoffs=targets), None))
    none, by_agent, by_handoff = (one.tools_token_count for one in made)
    assert none == 0
    assert by_agent == by_handoff > 60


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

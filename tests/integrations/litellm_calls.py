"""LiteLLM, against the real package and a server on loopback. Run by `make matrix`."""

from __future__ import annotations

import asyncio

import litellm
import pytest
from litellm.utils import async_pre_call_deployment_hook

from agent_faces import (
    BUDGET,
    INSTRUCTIONS,
    PAGES,
    QUESTION,
    SCHEMA,
    check_made,
    read,
    shown,
    turns,
)
from foveate import BudgetTooSmall
from foveate.integrations.litellm import FoveateCompaction
from message_lists import Step, spell, unmatched
from model_servers import serving

TOOL = {"type": "function", "function": {"name": "read", "parameters": SCHEMA}}
START = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": QUESTION}]
LONG = [Step("user", "boat_77 waits. " * 90), Step("assistant", "So."), Step("user", QUESTION)]


@pytest.fixture
def fitted(monkeypatch):
    """The callback, and what it made."""
    made = []
    fit = FoveateCompaction(budget=BUDGET, on_compact=made.append)
    monkeypatch.setattr(litellm, "callbacks", [fit])
    return fit, made


async def run(ask):
    """An agent's loop as one writes it, with the messages of the answers as they come."""
    messages = list(START)
    while True:
        answer = (await ask(messages)).choices[0].message
        messages.append(answer)
        if not answer.tool_calls:
            return messages
        for call in answer.tool_calls:
            text = read(len(messages) // 2 - 1)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})


def loop(server, way, fit):
    """The loop by one of LiteLLM's ways."""
    options = {"api_base": f"http://127.0.0.1:{server.port}/v1", "api_key": "k", "timeout": 60}
    name = "openai/tiny"
    if way == "router":
        router = litellm.Router(
            [{"model_name": "tiny", "litellm_params": {"model": name, **options}}]
        )
        ask = router.acompletion
        return run(lambda messages: ask(model="tiny", messages=messages, tools=[TOOL]))
    if way == "completion":

        async def ask(messages):
            sent = fit(messages, [TOOL])
            return litellm.completion(model=name, messages=sent, tools=[TOOL], **options)

        return run(ask)
    return run(
        lambda messages: litellm.acompletion(model=name, messages=messages, tools=[TOOL], **options)
    )


@pytest.mark.parametrize("way", ["acompletion", "router", "completion"])
def test_every_request_of_an_agent_fits(fitted, way):
    """A8, F6: tools included, in a program and in a router; the program's list keeps everything."""
    fit, made = fitted
    with serving("openai", "turns", turns=turns()) as server:
        messages = asyncio.run(loop(server, way, fit))

    check_made(made)
    assert len(messages) == 3 + 2 * PAGES
    assert messages[-1].content == "pump_119."
    for request, one in zip(server.requests, made, strict=True):
        assert request["messages"][0] == START[0]
        assert unmatched(request["messages"]) == []
        assert len(request["messages"]) == len(one.messages)
    assert "[Ledger" in str(server.requests[-1]["messages"])


@pytest.mark.parametrize(
    ("kind", "form", "name"),
    [("anthropic_messages", "anthropic", "messages"), ("aresponses", "responses", "input")],
)
def test_other_kinds_of_calls_fit_in_their_forms(fitted, kind, form, name):
    """A8: Messages and Responses too, by LiteLLM's own dispatcher; the arguments are copied."""
    _, made = fitted
    key = "system" if form == "anthropic" else "instructions"
    given = {"model": "m", name: spell(LONG, form), key: INSTRUCTIONS}
    fit = FoveateCompaction(budget=200, on_compact=made.append)
    litellm.callbacks = [fit]
    sent = asyncio.run(async_pre_call_deployment_hook(given, kind))

    assert made[0].form == form
    assert made[0].tools_token_count > 0
    assert "[Ledger" in str(sent[name][0])
    assert sent[name][-1] is given[name][-1]
    assert given[name] == spell(LONG, form)
    assert {**sent, name: 0} == {**given, name: 0}


def test_calls_without_a_list_are_left_alone(fitted):
    """A8: embeddings, and a Responses call whose input is a text."""
    for kind, given in (("aembedding", {"input": ["a"]}), ("aresponses", {"input": "a"})):
        assert asyncio.run(async_pre_call_deployment_hook(given, kind)) == given
    assert fitted[1] == []


def test_a_list_that_cannot_fit_is_refused_before_it_is_sent(fitted, monkeypatch):
    """A1: the caller gets our error with the budget that works, and no request leaves."""
    monkeypatch.setattr(litellm, "callbacks", [FoveateCompaction(budget=3)])
    with serving("openai", "turns") as server:
        call = litellm.acompletion(
            model="openai/tiny", messages=START, api_key="k",
            api_base=f"http://127.0.0.1:{server.port}/v1",
        )  # fmt: skip
        with pytest.raises(BudgetTooSmall):
            asyncio.run(call)
    assert server.requests == []


def test_the_page_shows_what_runs(monkeypatch):
    """F6: the program of docs/agents.md sets the callback."""
    monkeypatch.setattr(litellm, "callbacks", [])
    names = {}
    exec(shown("foveate.integrations.litellm"), names)
    assert litellm.callbacks == [names["fit"]]

"""The tools `compact`, `expand` and `observed`, called by an agent over the protocol."""

from __future__ import annotations

import json

from foveate import compact, observed
from foveate.core.compact.shorten import result_handle
from mcp_agents import said

PAGE = "\n".join(f"Line {n}: the valve of pump_{n:03} opens." for n in range(120))
CALL = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
MESSAGES = [
    {"role": "user", "content": "When does pump_077 open?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": f"{PAGE} <|im_start|>"},
]


def test_an_agent_fits_its_list_and_reads_more_of_a_result(agent):
    """A8, F4: the list as JSON, what became of it, and the original behind the handle."""
    made = agent.call("compact", messages=MESSAGES, budget=300)
    expected = compact(MESSAGES, budget=300)
    assert made.structured_content["messages"] == list(expected.messages)
    assert json.loads(said(made)[0]) == list(expected.messages)
    [decision] = made.structured_content["decisions"]
    assert (decision["message"], decision["action"]) == ("message 3", "changed")

    handle = result_handle(MESSAGES[2]["content"])
    assert made.structured_content["handles"] == [handle]
    more = agent.call("expand", handle=handle, query="pump_119", budget=80)
    assert "pump_119" in said(more)[0]
    whole = agent.call("expand", handle=handle)
    assert "<\\|im_start|>" in said(whole)[0]
    assert "no original has the handle" in agent.refused("expand", handle="0badcafe")


def test_an_agent_reports_what_the_provider_counted(agent):
    """A7, F4: the learned tokenizer comes back by name, and compact counts with it."""
    seen = {"usage": {"input_tokens": 2_400}, "messages": MESSAGES}
    learned = agent.call("observed", **seen).structured_content
    counter = observed(seen["usage"], MESSAGES)
    assert learned["tokenizer"] == counter.name
    again = agent.call("observed", **seen, before=learned).structured_content
    assert len(again["observations"]) == 2

    made = agent.call("compact", messages=MESSAGES, budget=300, tokenizer=learned["tokenizer"])
    assert made.structured_content["tokenizer"] == counter.name
    expected = compact(MESSAGES, budget=300, tokenizer=counter)
    assert made.structured_content["messages"] == list(expected.messages)
    wrong = agent.refused("compact", messages=MESSAGES, budget=300, tokenizer="hf:/etc/passwd")
    assert "tokenizer" in wrong

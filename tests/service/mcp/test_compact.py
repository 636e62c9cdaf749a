"""The tools `compact` and `expand`, called by an agent over the protocol."""

from __future__ import annotations

import json

from foveate import compact
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

"""The program that measures tools on demand, on a conversation of a few words."""

from __future__ import annotations

from bench.tools_on_demand import look_up, measure, names, read_tools


def test_what_is_measured_of_one_conversation():
    """A11: a tool that was not sent is named, found by its name, and sent then; once it changes."""
    tools = read_tools(60)
    assert len(set(names(tools))) == 60
    asked = {"role": "user", "content": "Please cancel my reservation ZFA04Y."}
    first = look_up("x", 0, tools)[0]["tool_calls"][0]
    calls = [
        {**first, "id": name, "function": {"name": name, "arguments": "{}"}}
        for name in ("cancel_reservation", "book_reservation")
    ]
    messages = [asked]
    for call in calls:
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": "Done."})
    seen = measure([[*messages, {"role": "assistant", "content": "Done."}]], tools)

    assert (seen["calls"], seen["sent"], seen["named"], seen["unsent"]) == (2, 1, 1, 0)
    assert (seen["changed"], seen["over"]) == (1, 0)
    assert 0 < seen["again"] < seen["before"]

"""`foveate bill`: where the tokens of a request go."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from foveate.pipeline.bill import bill
from message_lists import FORMS, sessions, spell

PAGE = "The valve of pump_07 opens at noon. " * 20


def called(number, text):
    """A call of a tool with its result."""
    call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]


MESSAGES = [
    {"role": "system", "content": "You keep pumps."},
    {"role": "user", "content": "When does it open?"},
    *called(1, PAGE),
    *called(2, PAGE),
]
TOOLS = [{"type": "function", "function": {"name": "read"}}]


@given(sessions, st.sampled_from(FORMS))
def test_every_token_is_billed_once(steps, form):
    """A7: the zones add up to the total, and so do the messages without the tools."""
    found = bill(spell(steps, form), form=form, tools=TOOLS)
    assert sum(found.by_zone.values()) == found.total
    assert sum(found.by_message) == found.total - found.by_zone["tools"]


def test_a_request_is_billed_by_zone_tool_and_message(run):
    """A8, F2: what a person reads, and the same as JSON."""
    Path("r.json").write_text(json.dumps({"messages": MESSAGES, "tools": TOOLS}), encoding="utf-8")
    out = run("bill", "r.json").out
    record = run("bill", "r.json", "--json").json
    assert "results" in out
    assert "messages 4, 6: The valve of pump_07" in out
    assert list(record["by_tool"]) == ["read"]
    [repeat] = record["repeats"]
    assert repeat["places"] == [4, 6]
    assert repeat["tokens"] * 2 == record["by_zone"]["results"]


def test_a_system_prompt_beside_the_messages_is_billed(run):
    """A8: as Anthropic's and Gemini's requests and OpenAI's Responses have it."""
    said = [{"role": "user", "content": "When does it open?"}]
    for key, value in (
        ("system", "You keep pumps."),
        ("system", [{"type": "text", "text": "You keep pumps."}]),
        ("instructions", "You keep pumps."),
    ):
        Path("r.json").write_text(json.dumps({"messages": said, key: value}), encoding="utf-8")
        record = run("bill", "r.json", "--json").json
        assert record["by_zone"]["system"] >= 4
        assert record["total"] == sum(record["by_zone"].values())


def test_what_stands_before_the_messages_breaks_the_prefix_of_all(run):
    """A6: tools and a system prompt beside the messages are sent, and cached, before them."""
    request = {"system": "You keep pumps.", "tools": TOOLS, "messages": MESSAGES[1:]}
    later = {**request, "messages": [*MESSAGES[1:], {"role": "user", "content": "And now?"}]}
    requests = {
        "before": request,
        "longer": later,
        "untooled": {**later, "tools": []},
        "true": {**later, "tools": [{**TOOLS[0], "strict": True}]},
        "one": {**later, "tools": [{**TOOLS[0], "strict": 1}]},
        "other": {**later, "system": "You keep boats."},
        "bare": MESSAGES[1:],
        "bad": ["no message"],
    }
    for name, one in requests.items():
        Path(f"{name}.json").write_text(json.dumps(one), encoding="utf-8")

    def billed(name, before="before"):
        return run("bill", f"{name}.json", "--before", f"{before}.json", "--json").json

    assert billed("longer")["prefix"] is None
    assert billed("longer", "bare")["prefix"] is None
    for name, before in (("untooled", "before"), ("true", "one")):
        broken = billed(name, before)["prefix"]
        assert (broken["message"], broken["reused"]) == (0, 0)
        assert broken["why"] == "the tools changed"
    other = billed("other")
    assert other["prefix"]["reused"] == other["by_zone"]["tools"] > 0
    out = run("bill", "other.json", "--before", "before.json").out
    assert "prefix broken before the messages: the system prompt changed" in out
    assert (
        "bad.json: field 'messages': message 1"
        in run("bill", "longer.json", "--before", "bad.json").complaint
    )


def test_what_broke_the_prefix_is_named(run):
    """A6: an extension breaks nothing; a changed, a new and a missing message are told apart."""
    changed = [{**MESSAGES[0], "content": "You keep boats."}, *MESSAGES[1:]]
    cases = (
        (MESSAGES[:3], MESSAGES, None),
        (MESSAGES, changed, "it changed in content"),
        (MESSAGES, [MESSAGES[0], {"role": "user", "content": "Hi."}, *MESSAGES[1:]], "put in"),
        (MESSAGES, [MESSAGES[0], *MESSAGES[2:]], "are gone"),
        (MESSAGES, MESSAGES[:2], "at the end are gone"),
    )
    for old, new, why in cases:
        found = bill(new, before=old)
        if why is None:
            assert found.prefix is None
        else:
            assert why in found.prefix.why
            assert found.prefix.reused + found.prefix.resent == found.total
    tooled = bill(changed, tools=TOOLS, before=MESSAGES)
    assert tooled.prefix.reused == tooled.by_zone["tools"]
    Path("a.json").write_text(json.dumps(MESSAGES), encoding="utf-8")
    Path("b.json").write_text(json.dumps(changed), encoding="utf-8")
    out = run("bill", "b.json", "--before", "a.json").out
    assert "prefix broken at message 1: it changed in content" in out
    Path("c.json").write_text("{}", encoding="utf-8")
    assert "give a list of messages" in run("bill", "c.json").complaint

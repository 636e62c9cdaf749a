"""`foveate bill`: where the tokens of a request go."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.pipeline.bill import bill
from message_lists import FORMS, Step, sessions, spell

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
    """A7: zones and turns add up to the total, sources to the results."""
    messages = spell(steps, form)
    found = bill({"messages": messages, "tools": TOOLS}, form=form)
    assert sum(found.by_zone.values()) == found.total
    assert sum(turn.tokens for turn in found.by_turn) == found.total
    assert sum(source.tokens for source in found.by_source) == found.by_zone["results"]
    places = [place for turn in found.by_turn for place in turn.places]
    assert places == list(range(1, len(messages) + 1))


READ = Step("tools", "", (("read", '{"q": "pump_07"}'),), (PAGE,))
FIND = Step("tools", "", (("find", '{"q": "boat_77"}'),), ("Found: boat_77.",))
ASKED = (Step("user", "When does it open?"), READ, FIND, Step("assistant", "At noon."))
AGAIN = (Step("user", "Sure?"), READ, Step("assistant", "Yes, at noon."))
BODIES = {
    "openai": lambda said: {"messages": [{"role": "system", "content": "Keep pumps."}, *said]},
    "responses": lambda said: {"input": said, "instructions": "Keep pumps."},
    "anthropic": lambda said: {"messages": said, "system": "Keep pumps."},
    "gemini": lambda said: {
        "contents": said,
        "systemInstruction": {"parts": [{"text": "Keep pumps."}]},
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_sources_turns_repeats_and_the_prefix_in_every_form(run, form):
    """A6, A8: of a request as OpenAI, Anthropic or Gemini got it, and of the one before it."""
    body, front = BODIES[form], form == "openai"
    request = {**body(spell([*ASKED, *AGAIN], form)), "tools": TOOLS}
    before = {**body(spell(ASKED, form)), "tools": TOOLS}
    changed = deepcopy(before)
    key = next(key for key in ("messages", "input", "contents") if key in changed)
    messages = changed[key]
    messages[-1] = spell([Step("assistant", "At nine.")], form)[0]
    for name, one in (("now", request), ("before", before), ("changed", changed)):
        Path(f"{name}.json").write_text(json.dumps(one), encoding="utf-8")
    record = run("bill", "now.json", "--before", "before.json", "--json").json

    assert record["prefix"] is None
    assert [source["begins"] for source in record["by_source"]] == [
        'read {"q": "pump_07"}',
        'find {"q": "boat_77"}',
    ]
    [repeat] = record["repeats"]
    assert repeat["places"] == record["by_source"][0]["places"]
    assert repeat["tokens"] * 2 == record["by_source"][0]["tokens"]
    first, asked, again = record["by_turn"]
    assert (first["begins"], asked["begins"], again["begins"]) == (
        "",
        "When does it open?",
        "Sure?",
    )
    assert first["tokens"] == record["by_zone"]["tools"] + record["by_zone"]["system"]
    assert record["by_zone"]["system"] == 3
    assert first["places"] == [1] * front
    assert again["places"][-1] == len(body(spell([*ASKED, *AGAIN], form))[key])

    broken = run("bill", "now.json", "--before", "changed.json", "--json").json["prefix"]
    assert broken["message"] == len(messages) == asked["places"][-1]
    assert broken["why"] == "another message stands here"
    out = run("bill", "now.json", "--before", "changed.json").out
    places = ", ".join(map(str, repeat["places"]))
    assert f'messages {places}: read {{"q": "pump_07"}}' in out
    assert "before the first turn" in out
    ends = f"{again['places'][0]}-{again['places'][-1]}"
    assert f"turn 2, messages {ends}: Sure?" in out
    assert f"prefix broken at message {len(messages)}" in out


def test_a_breakpoint_that_moves_on_breaks_no_prefix():
    """A6: Anthropic's `cache_control` says where to cache, and is no part of what is cached."""
    marked = {"type": "ephemeral"}
    block = {"type": "text", "text": "When does it open?"}
    system = {"type": "text", "text": "Keep pumps.", "cache_control": marked}
    before = {
        "system": [system],
        "messages": [{"role": "user", "content": [{**block, "cache_control": marked}]}],
    }
    later = [{"role": "assistant", "content": "At noon."}]
    for content in ([block], "When does it open?"):
        messages = [{"role": "user", "content": content}, *later]
        now = {"system": "Keep pumps.", "messages": messages}
        found = bill(now, before=before)
        assert found.prefix is None
        assert found.by_zone["system"] == 3


def test_results_are_told_apart_where_calls_have_no_ids():
    """A8: two calls of one function at once, and a third later, as Gemini sends them."""
    steps = [
        Step("tools", "", (("read", f'{{"q": "{a}"}}'), ("read", f'{{"q": "{b}"}}')), (a, b))
        for a, b in (("one", "two"), ("three", "one"))
    ]
    found = bill(spell(steps, "gemini"))
    places = {source.begins: source.places for source in found.by_source}
    assert places == {
        'read {"q": "one"}': (2, 4),
        'read {"q": "two"}': (2,),
        'read {"q": "three"}': (4,),
    }


def test_an_input_that_is_a_text_is_billed(run):
    """A8: what the Responses API takes in place of a list."""
    Path("r.json").write_text('{"input": "When does it open?"}', encoding="utf-8")
    assert run("bill", "r.json", "--json").json["by_zone"]["user"] == 5


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
    """A6: an extension breaks nothing; else the first message that differs is named."""
    changed = [{**MESSAGES[0], "content": "You keep boats."}, *MESSAGES[1:]]
    cases = (
        (MESSAGES[:3], MESSAGES, None),
        (MESSAGES, changed, "another message"),
        (MESSAGES, [MESSAGES[0], *MESSAGES[2:]], "another message"),
        (MESSAGES, MESSAGES[:2], "at the end are gone"),
    )
    for old, new, why in cases:
        found = bill(new, before=old)
        if why is None:
            assert found.prefix is None
        else:
            assert why in found.prefix.why
            assert found.prefix.reused + found.prefix.resent == found.total
    tooled = bill({"messages": changed, "tools": TOOLS}, before=MESSAGES)
    assert tooled.prefix.reused == tooled.by_zone["tools"]
    Path("c.json").write_text("{}", encoding="utf-8")
    assert "give a list of messages" in run("bill", "c.json").complaint

"""Messages in the forms of two providers, in and out."""

from __future__ import annotations

import json
from random import Random
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import conversations
from foveate import Budget
from foveate.core.chat.turns import Turn, read_turns
from foveate.core.chat.writers import anthropic_messages, openai_messages
from foveate.core.errors import BadInput
from foveate.pipeline.conversation import converse
from foveate.testing.fakes import WordTokenizer

CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
USE = {"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "It is open."}
MARK = {"cache_control": {"type": "ephemeral"}}


def sent(messages):
    """The messages as they are read."""
    return read_turns(list(map(Turn, messages)))


@given(st.integers(0, 10_000))
def test_openai_messages_come_back_as_they_were(seed):
    """W1: what is shown in full is given back in its form, key by key."""
    messages = conversations.openai(Random(seed), 20)

    assert openai_messages(sent(messages)) == messages


def test_anthropic_messages_come_back_as_they_were_without_breakpoints():
    """W1, W4: signed reasoning and text behind results stay; breakpoints are set again."""
    thinking = {"type": "thinking", "thinking": "Let me see.", "signature": "s1"}
    inner = [{"type": "text", "text": "Open."}]
    use = {**USE, "input": MARK}
    messages = [
        {"role": "user", "content": "Is it open?"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "I look."}, use]},
        {"role": "user", "content": [{**RESULT, "content": inner}]},
        {"role": "assistant", "content": "It is."},
    ]
    marked = json.loads(json.dumps(messages))
    marked[2]["content"][0] |= {**MARK, "content": [{**inner[0], **MARK}]}

    assert anthropic_messages(sent(marked)) == {"messages": messages}


def test_one_form_becomes_the_other():
    """W1: a conversation may come in one form and be sent in the other, calls side by side."""
    calls = [{**CALL, "id": name} for name in "ab"]
    openai = [
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": "Open?"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "b", "content": "The tap is shut."},
        {"role": "tool", "tool_call_id": "a", "content": "It is open."},
    ]
    results = [{**RESULT, "tool_use_id": "b", "content": "The tap is shut."}, RESULT]
    asked = [
        {"role": "user", "content": "Open?"},
        {"role": "assistant", "content": [{**USE, "id": name} for name in "ab"]},
        {"role": "user", "content": results},
    ]

    system = [{"type": "text", "text": "Be kind."}]
    assert anthropic_messages(sent(openai)) == {"system": system, "messages": asked}
    back = openai_messages(sent(asked))
    assert back[1]["tool_calls"] == calls
    assert back[2:] == openai[3:]
    image = {"type": "image_url", "image_url": {"url": "https://mill.example/a.png"}}
    seen = sent([{"role": "user", "content": [image]}])
    with pytest.raises(BadInput, match="image"):
        anthropic_messages(seen)


def test_documents_stand_in_front_of_the_query_as_parts():
    """R1, W3: a format of content blocks goes in as blocks, in front of the query's own."""
    found = [{"text": "It is open.", "source": "valve.md"}]

    made = converse("Open?", found, format="anthropic-search-result")

    (message,) = made.anthropic()["messages"]
    assert [block["type"] for block in message["content"]] == ["search_result", "text", "text"]
    assert [block["text"] for block in made.openai()[0]["content"][1:]] == [
        "[End of context]",
        "Open?",
    ]


def _with_extras(words):
    """Messages of both forms that hold so many words where nobody looks for text."""
    more = {"more": "think " * words}
    call = {**CALL, "function": {**CALL["function"], **more}}
    text = {"type": "text", "text": "Hello.", "citations": [more]}
    answer = {"role": "assistant", "content": [text]}
    asked = {"role": "user", "content": "Hi."}
    use, result = {"role": "assistant", "content": [USE]}, {**RESULT, **more}
    inner = {**RESULT, "content": [{"type": "text", "text": "Open.", **more}]}
    return [
        [asked, {"role": "assistant", "content": "Hello.", "reasoning_content": "think " * words}],
        [asked, {"role": "assistant", "content": [{"type": "text", "text": "Hello.", **more}]}],
        [{"role": "assistant", "content": None, "tool_calls": [call]},
         {"role": "tool", "tool_call_id": "a", "content": "Open.", **more}],
        [{"role": "assistant", "content": None, "tool_calls": [{**CALL, **more}]},
         {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "", **more}]}],
        [asked, answer, use, {"role": "user", "content": [result]}],
        [asked, {"role": "assistant", "content": [{**USE, **more}]},
         {"role": "user", "content": [inner]}],
    ]  # fmt: skip


@pytest.mark.parametrize("messages", _with_extras(300))
def test_what_goes_back_beside_the_text_is_counted(messages):
    """B1, W1: keys that nobody here knows go back as they came and are counted, or go."""
    asked = {"turns": messages, "tokenizer": WordTokenizer(), "zones": False, "verbatim": 0}
    for room, whole in ((4_000, True), (40, False)):
        budget = Budget(window=None, documents=10, conversation=room, query=20)

        made = converse("So?", budget=budget, **asked)

        form = made.anthropic if "tool_use" in str(messages) else made.openai
        assert made.tokens["request"] >= json.dumps(form()).count("think")
        assert (json.dumps(form()).count("think") >= 300) == whole


def test_mappings_that_are_no_dicts_are_read():
    """W1: a message may be any mapping."""
    message = {"role": "user", "content": "Hi."}

    assert openai_messages(sent([MappingProxyType(message)])) == [message]


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([{"role": "assistant", "content": "x", "tool_calls": 5}], "message 1 has tool_calls that"),
        ([{"role": "user", "content": "x", "at": object()}], "message 1 holds what JSON cannot"),
        ([{"role": "user", "content": "x", "at": float("nan")}], "1 holds what JSON cannot hold"),
        ([{"role": "user", "content": "\ud800"}], "message 1.*surrogate"),
        ([{"role": "user", "content": b"x"}], "message 1"),
        ([{"role": "assistant", "content": [{**USE, "input": {1}}]}], "holds what JSON cannot"),
        ([{"role": "tool", "tool_call_id": "a", "content": ""}], "message 1 is half of a call"),
        ([{"role": "assistant", "tool_calls": [CALL]}], "message 1 is half of a call"),
        ([{"role": "assistant", "tool_calls": [{"id": "a"}]}], "message 1 has a tool call without"),
        ([{"content": ""}], "message 1 must have a role"),
        (["hello"], "message 1 must be a mapping"),
        ([{"role": "user", "content": [RESULT]}], "message 1 is half of a call"),
        (
            [{"role": "assistant", "content": [USE]}, {"role": "user", "content": "No."}],
            "message 1 is half of a call",
        ),
    ],
)
def test_what_is_wrong_is_named_by_its_message(messages, said):
    """X2, W1: a call without its result, a result without its call, what is no message."""
    with pytest.raises(BadInput, match=said):
        converse("So?", turns=messages, budget=500)


def test_a_text_of_nothing_is_not_sent_to_who_refuses_it():
    """W1: Anthropic takes no empty text; what is left alternates, and a tool's result may be."""
    call = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    said = [
        {"role": "system", "content": " "},
        {"role": "user", "content": "Is it open?"},
        {"role": "assistant", "content": "\n"},
        {"role": "user", "content": "Is it?"},
        call,
        {"role": "tool", "tool_call_id": "a", "content": ""},
    ]

    request = anthropic_messages(sent(said))

    assert request == {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": t} for t in ("Is it open?", "Is it?")],
            },
            {"role": "assistant", "content": [USE]},
            {"role": "user", "content": [{**RESULT, "content": ""}]},
        ]
    }

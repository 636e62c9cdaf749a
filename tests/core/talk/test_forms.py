"""Messages in the forms of two providers, in and out."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import conversations
from foveate.core.errors import BadInput
from foveate.core.talk.anthropic import anthropic_messages, turns_from_anthropic
from foveate.core.talk.openai import openai_messages, turns_from_openai
from foveate.core.talk.turns import messages_of
from foveate.dialogue import converse, turns_of

CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
USE = {"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "It is open."}


def sent(turns):
    """The messages of turns, all in full."""
    return [message for turn in turns for message in messages_of(turn, turn)]


@given(st.integers(0, 10_000))
def test_openai_messages_come_back_as_they_were(seed):
    """W1: what is shown in full is given back in its form, key by key."""
    messages = conversations.openai(Random(seed), 20)

    assert openai_messages(sent(turns_from_openai(messages))) == messages


def test_anthropic_messages_come_back_as_they_were():
    """W1: tool use, results, signed reasoning and text behind results, breakpoints apart."""
    thinking = {"type": "thinking", "thinking": "Let me see.", "signature": "s1"}
    messages = [
        {"role": "user", "content": "Is it open?"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "I look."}, USE]},
        {"role": "user", "content": [RESULT, {"type": "text", "text": "Be quick."}]},
        {"role": "assistant", "content": "It is."},
    ]
    marked = [dict(message) for message in messages]
    marked[2] = {"role": "user", "content": [{**RESULT, "cache_control": {"type": "ephemeral"}},
                 {"type": "text", "text": "Be quick."}]}  # fmt: skip

    turns = turns_from_anthropic(marked, system="Be kind.")

    assert [turn.role for turn in turns] == ["system", "user", "assistant", "user", "assistant"]
    assert turns[2].calls[0].arguments == '{"at":1}'
    assert "signature" in turns[2].extra
    request = anthropic_messages(sent(turns))
    assert request["system"] == [{"type": "text", "text": "Be kind."}]
    assert request["messages"][:2] == messages[:2]
    assert request["messages"][2]["content"] == messages[2]["content"]
    assert request["messages"][3] == messages[3]


def test_one_form_becomes_the_other():
    """W1: a conversation may come in one form and be sent in the other."""
    openai = [
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": "Open?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "a", "content": "It is open."},
    ]

    request = anthropic_messages(sent(turns_from_openai(openai)))

    assert request == {
        "system": [{"type": "text", "text": "Be kind."}],
        "messages": [
            {"role": "user", "content": "Open?"},
            {"role": "assistant", "content": [USE]},
            {"role": "user", "content": [RESULT]},
        ],
    }
    back = openai_messages(sent(turns_from_anthropic(request["messages"], request["system"])))
    call = {**CALL, "function": {"name": "look", "arguments": '{"at":1}'}}
    assert back[2:] == [{"role": "assistant", "content": "", "tool_calls": [call]}, openai[3]]


def test_documents_stand_in_front_of_the_query_as_parts():
    """R1, W3: a format of content blocks goes in as blocks, in front of the query's own."""
    found = [{"text": "It is open.", "source": "valve.md"}]

    made = converse("Open?", found, format="anthropic-search-result")

    (message,) = made.anthropic()["messages"]
    assert [block["type"] for block in message["content"]] == ["search_result", "text"]
    assert made.openai()[0]["content"][1] == {"type": "text", "text": "Open?"}


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([{"role": "tool", "tool_call_id": "a", "content": ""}], "message 1 is a tool's result"),
        ([{"role": "assistant", "tool_calls": [CALL]}], "message 1: field 'results'"),
        ([{"role": "assistant", "tool_calls": [{"id": "a"}]}], "message 1 has a tool call without"),
        ([{"role": "robot", "content": ""}], "message 1 has the role 'robot'"),
        ([{"role": "user"}], "message 1 must have a role and a content"),
        (["hello"], "message 1 must have a role"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "cannot be counted"),
        ([{"role": "assistant", "content": "", "function_call": {}}], "function_call"),
        ([{"role": "user", "content": [USE]}], "tool_use"),
        ([{"role": "user", "content": [RESULT]}], "message 1 is a tool's result"),
        ([{"role": "assistant", "content": [USE]}], "message 1 calls a tool and has no result"),
        (
            [{"role": "assistant", "content": [USE]}, {"role": "user", "content": "No."}],
            "each once",
        ),
    ],
)
def test_what_is_wrong_is_named_by_its_message(messages, said):
    """X2, W1: a call without its result, a result without its call, what cannot be counted."""
    with pytest.raises(BadInput, match=said):
        turns_of(messages)

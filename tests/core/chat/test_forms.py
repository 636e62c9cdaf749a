"""Messages in the forms of two providers, in and out."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import conversations
from foveate import Budget
from foveate.core.chat.anthropic import anthropic_messages, turns_from_anthropic
from foveate.core.chat.openai import openai_messages, turns_from_openai
from foveate.core.chat.turns import messages_from_turn
from foveate.core.errors import BadInput
from foveate.pipeline.conversation import History, converse, turns_from_messages
from foveate.testing.fakes import WordTokenizer

CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
USE = {"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "It is open."}


def sent(turns):
    """The messages of turns, all in full."""
    return [message for turn in turns for message in messages_from_turn(turn, turn)]


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


def test_results_of_one_turn_stay_in_one_message():
    """W1: two calls of one turn: Anthropic wants both results in the message that follows."""
    calls = [{**CALL, "id": name} for name in "ab"]
    openai = [
        {"role": "user", "content": "Open?"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "b", "content": "The tap is shut."},
        {"role": "tool", "tool_call_id": "a", "content": "It is open."},
    ]
    results = [{**RESULT, "tool_use_id": "b", "content": "The tap is shut."}, RESULT]

    request = anthropic_messages(sent(turns_from_openai(openai)))
    again = anthropic_messages(sent(turns_from_anthropic(request["messages"])))

    assert request["messages"][1:] == [
        {"role": "assistant", "content": [{**USE, "id": name} for name in "ab"]},
        {"role": "user", "content": results},
    ]
    assert again == request
    back = openai_messages(sent(turns_from_anthropic(request["messages"])))
    assert [(m["role"], m.get("tool_call_id")) for m in back[2:]] == [("tool", "b"), ("tool", "a")]


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
    turns = turns_from_messages(messages)
    form = openai_messages if turns[-1].form == "openai" else anthropic_messages
    budget = Budget(window=None, documents=10, conversation=4_000, query=20)
    small = replace(budget, conversation=40)
    asked = {"turns": turns, "tokenizer": WordTokenizer(), "zones": False}

    whole = converse("So?", budget=budget, **asked)
    short = converse("So?", budget=small, history=History(verbatim=0), **asked)

    for made in (whole, short):
        sent_now = json.dumps(form(made.messages))
        assert made.tokens["request"] >= sent_now.count("think")
    assert json.dumps(form(whole.messages)).count("think") >= 300
    assert "think" not in json.dumps(form(short.messages))


def test_breakpoints_within_results_are_taken_off():
    """W4: those of blocks in a result too, for four is the most; a tool's input is left alone."""
    mark = {"cache_control": {"type": "ephemeral"}}
    use = {**USE, "input": mark, **mark}
    result = {**RESULT, "content": [{"type": "text", "text": "Open.", **mark}]}
    turns = turns_from_messages(
        [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    )

    sent_now = anthropic_messages(sent(turns))["messages"]

    assert sent_now[0]["content"] == [{**USE, "input": mark}]
    assert sent_now[1]["content"] == [{**RESULT, "content": [{"type": "text", "text": "Open."}]}]
    assert turns[0].results[0].extra == ""


def test_mappings_that_are_no_dicts_are_read():
    """W1: a message may be any mapping."""
    message = {"role": "user", "content": "Hi."}

    assert openai_messages(sent(turns_from_messages([MappingProxyType(message)]))) == [message]


def test_what_providers_and_frameworks_write_is_read():
    """W1, A2: refusals without a content, arguments as an object, results in two messages."""
    refused = {"role": "assistant", "content": None, "refusal": "I cannot."}
    loose = {**CALL, "function": {"name": "look", "arguments": {"at": 1}}}
    answer = {"role": "tool", "tool_call_id": "a", "content": "It is open."}
    turns = turns_from_messages(
        [refused, {"role": "assistant", "content": None, "tool_calls": [loose]}, answer]
    )
    assert (turns[0].text, turns[0].extra) == ("", '{"refusal":"I cannot."}')
    assert turns[1].calls[0].arguments == '{"at":1}'
    uses = {"role": "assistant", "content": [USE, {**USE, "id": "b"}]}
    apart = [{"role": "user", "content": [{**RESULT, "tool_use_id": name}]} for name in "ab"]
    (turn,) = turns_from_messages([uses, *apart])
    assert [result.call_id for result in turn.results] == ["a", "b"]
    assert len(anthropic_messages(sent([turn]))["messages"]) == 2


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([{"role": "assistant", "content": "x", "tool_calls": 5}], "message 1 has tool_calls that"),
        ([{"role": "assistant", "content": "", "tool_calls": "ab"}], "1 has tool_calls that are"),
        ([{"role": "user", "content": [{"type": {}}]}], "message 1 has a part {}"),
        ([{"role": "user", "content": "x", "at": object()}], "message 1 holds what JSON cannot"),
        ([{"role": "user", "content": "x", "at": float("nan")}], "1 holds what JSON cannot hold"),
        ([{"role": "user", "content": "x", "name": "\ud800"}], "hold: a lone surrogate"),
        ([{"role": "user", "content": b"x"}], "message 1"),
        ([{"role": "assistant", "content": [{**USE, "input": {1}}]}], "holds what JSON cannot"),
        ([{"role": "user", "content": [{**RESULT, "more": {1}}]}], "message 1"),
        ([{"role": "tool", "tool_call_id": "a", "content": ""}], "message 1 is a tool's result"),
        ([{"role": "assistant", "tool_calls": [CALL]}], "message 1: field 'results'"),
        ([{"role": "assistant", "tool_calls": [{"id": "a"}]}], "message 1 has a tool call without"),
        ([{"role": "robot", "content": ""}], "message 1 has the role 'robot'"),
        ([{"role": "user"}], "message 1 must have a role and a content"),
        (["hello"], "message 1 must be a mapping"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "cannot be counted"),
        ([{"role": "assistant", "content": "", "function_call": {}}], "function_call"),
        ([{"role": "user", "content": [USE]}], "message 1: field 'calls': a user turn cannot"),
        ([{"role": "user", "content": [RESULT]}], "message 1 is a tool's result"),
        ([{"role": "assistant", "content": [USE]}], "message 1: .*give every call its result"),
        (
            [{"role": "assistant", "content": [USE]}, {"role": "user", "content": "No."}],
            "each once",
        ),
    ],
)
def test_what_is_wrong_is_named_by_its_message(messages, said):
    """X2, W1: a call without its result, a result without its call, what cannot be counted."""
    with pytest.raises(BadInput, match=said):
        turns_from_messages(messages)


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

    request = anthropic_messages(sent(turns_from_openai(said)))

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

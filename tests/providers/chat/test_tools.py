"""Calls of tools in a conversation, sent to models that know of them and to those that do not."""

from __future__ import annotations

import pytest

from foveate import FoveateError, ask, converse
from foveate.answer.messages import role_text_pairs, tokenizer_from_context
from foveate.core.window import count_messages
from foveate.providers.chat import load_model
from foveate.testing.fakes import ScriptedModel
from model_servers import ANSWER, serving

CALLS = [
    {"id": f"c{n}", "type": "function", "function": {"name": "gauge", "arguments": "{}"}}
    for n in (1, 2)
]
SAID = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "It is loud."},
    {"role": "assistant", "content": None, "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "c1", "content": "2.4 bar"},
    {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "2.5 bar"}]},
    {"role": "assistant", "content": "It says 2.4 bar."},
]
FOUND = [{"text": "Keep the pressure between one and two bar.", "source": "boiler.md"}]


def asked():
    """A question behind it all."""
    return converse("How do I lower it?", FOUND, turns=SAID, model="gpt-4o")


def test_a_protocol_that_has_tools_is_sent_them():
    """W1, F8: the messages go as they are."""
    made = asked()
    with serving("openai") as server:
        answer = ask(made.context, server.name, sent=made.openai())

    assert answer.text == ANSWER
    assert server.requests[0]["messages"] == made.openai()
    assert server.requests[0]["messages"][2]["tool_calls"] == CALLS


@pytest.mark.parametrize("protocol", ["ollama", "anthropic"])
def test_others_are_told_them_in_words(protocol):
    """W1, F8: each call as the JSON that it is, each result under its call's id, none left out."""
    made = asked()
    with serving(protocol) as server:
        assert ask(made.context, server.name, sent=made.openai()).text == ANSWER

    (sent,) = server.requests
    said = [m for m in sent["messages"] if m["role"] != "system"]
    assert [m["role"] for m in said] == ["user", "assistant", "user", "assistant", "user"]
    assert said[1]["content"].splitlines()[1].startswith('{"id":"c2","type":"function"')
    assert said[2]["content"] == "c1:\n2.4 bar\n\nc2:\n2.5 bar"
    system = sent.get("system") or sent["messages"][0]["content"]
    assert system == "Be brief."


def test_what_is_told_in_words_is_no_more_than_was_counted():
    """B1, W1: the request fits in either form."""
    made, seen = asked(), []
    model = ScriptedModel(says=lambda messages: seen.extend(messages) or "Open the valve [1].")
    ask(made.context, model, sent=made.openai())
    tokenizer = tokenizer_from_context(made.context)
    told = [(message["role"], message["content"]) for message in seen]

    as_is = count_messages(role_text_pairs(made.context, made.openai()), made.budget, tokenizer)
    assert as_is == made.tokens["request"]
    assert count_messages(told, made.budget, tokenizer) <= made.tokens["request"]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ([], "no messages"),
        ({"messages": SAID}, "sent must be a list of Message"),
        (["Hi."], "sent must be a list of Message"),
        ([{"role": "assistant", "content": None}], "message 1 needs a role"),
        ([{"role": "tool", "content": "2.4 bar"}], "message 1 needs a role"),
        ([{"role": "user", "content": [{"type": "tool_result"}]}], r"as \.openai\(\) does"),
    ],
)
def test_what_is_no_request_is_refused(sent, said):
    """X1: by the message that is wrong, before anything is sent."""
    made = asked()
    with serving("anthropic") as server, pytest.raises(FoveateError, match=said):
        ask(made.context, load_model(server.name), sent=sent)

    assert server.requests == []

"""What a caller hands in beside the candidates."""

from __future__ import annotations

import pytest

from foveate import assemble, converse
from foveate.core.errors import BadInput
from foveate.pipeline.inputs import parse_messages
from foveate.testing.fakes import WordTokenizer

CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
USE = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
SAID = [
    {
        "role": "user",
        "content": [{"type": "text", "text": "Is it"}, {"type": "text", "text": "on?"}],
    }
]
OPENAI = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "a", "content": "It is on."},
]
ANTHROPIC = [
    {"role": "assistant", "content": [USE]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "Yes."}]},
]


def test_plain_messages_are_what_they_are():
    """B1: a role and a text."""
    assert parse_messages([{"role": "user", "content": "Hi.", "name": "Ada"}]) == (("user", "Hi."),)


@pytest.mark.parametrize("more", [OPENAI, ANTHROPIC])
def test_parts_and_calls_are_counted_as_in_a_conversation(more):
    """B1, R5, W1: text parts, calls of tools and results, in either provider's form."""
    messages = [*SAID, *more]
    found = parse_messages(messages)

    assert found[0] == ("user", "Is it\non?")
    assert [role for role, _ in found[:2]] == ["user", "assistant"]
    assert "a" in found[2][1].split()
    assert '"name":"look"' in found[1][1]
    talk = converse("So?", turns=messages, tokenizer=WordTokenizer(), budget=500)
    assert talk.inputs.messages == found
    context = assemble("So?", [{"text": "It is."}], budget=90, messages=messages)
    assert context.token_count > 0


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (OPENAI[:1], "give every call its result"),
        (OPENAI[1:], "message 1 is half of a call"),
        (ANTHROPIC[:1], "give every call its result"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "image or a file"),
        ([{"role": "user", "content": None}], "both strings"),
        ([{"role": "user"}], "both strings"),
    ],
)
def test_what_cannot_be_counted_is_refused(messages, said):
    """W1, I3: half an exchange, and what is no text, with the message's number."""
    with pytest.raises(BadInput, match=said):
        parse_messages(messages)

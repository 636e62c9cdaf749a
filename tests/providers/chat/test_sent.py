"""Answers of a wrong type: an error that says so, or a figure that is not there; never a fault."""

from __future__ import annotations

import json

import pytest

from foveate.core.errors import ExternalError
from foveate.ports import Usage
from foveate.providers.chat import load_model
from model_servers import PROTOCOLS, events, serving

MESSAGES = [{"role": "user", "content": "How deep is the well?"}]
PIECE = "Nine [1]."


def reply_to(protocol, body, status="200 OK"):
    """What is made of these bytes."""
    with serving(protocol, "given", body=body, status=status) as server:
        return load_model(server.name).complete(MESSAGES, max_tokens=50)


def changed(protocol, old, new):
    """A good answer with one value of another type in it."""
    body = b"".join(events(protocol, (PIECE,)))
    assert old in body
    return body.replace(old, new)


@pytest.mark.parametrize("value", [b"5", b'["x"]', b'{"a": 1}'])
@pytest.mark.parametrize(
    ("protocol", "key"),
    [
        ("openai", b'"content": "Nine [1]."'),
        ("openai", b'"finish_reason": "stop"'),
        ("openai", b'"model": "tiny-1"'),
        ("ollama", b'"content": "Nine [1]."'),
        ("ollama", b'"model": "tiny-1"'),
        ("ollama", b'"done_reason": "stop"'),
        ("anthropic", b'"text": "Nine [1]."'),
        ("anthropic", b'"stop_reason": "end_turn"'),
        ("anthropic", b'"model": "tiny-1"'),
    ],
)
def test_a_text_that_is_none(protocol, key, value):
    """X1, X3: it is no answer of this protocol, and that is what is said."""
    body = changed(protocol, key, key.partition(b": ")[0] + b": " + value)
    with pytest.raises(ExternalError, match="sent what is no .* does it speak this protocol"):
        reply_to(protocol, body)


@pytest.mark.parametrize("value", [b'"many"', b"-3", b"1.5"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_count_that_is_none_was_not_said(protocol, value):
    """F8, X3: the answer stands, its usage is not known."""
    read, wrote = {
        "openai": (b'"prompt_tokens": 31', b'"completion_tokens": 8'),
        "anthropic": (b'"input_tokens": 15', b'"output_tokens": 8'),
        "ollama": (b'"prompt_eval_count": 31', b'"eval_count": 8'),
    }[protocol]
    body = b"".join(events(protocol, (PIECE,)))
    for key in (read, wrote):
        assert key in body
        body = body.replace(key, key.partition(b": ")[0] + b": " + value)
    reply = reply_to(protocol, body)

    assert reply.text == PIECE
    assert (reply.usage.prompt, reply.usage.completion) == (None, None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_no_encoding_holds_is_replaced(protocol):
    """X2: half of a character can be kept, printed and sent on."""
    body = changed(protocol, b"Nine [1].", b"Nine \\ud800 [1].")
    assert reply_to(protocol, body).text == "Nine \ufffd [1]."


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "said",
    [{"error": {"message": "no memory"}}, {"error": {"a": 1}}, {"error": 5}, {"error": None},
     {"error": {"message": 5}}, {"message": ["x"]}, [1], "x", None],
    ids=json.dumps,
)  # fmt: skip
def test_an_error_of_any_shape(protocol, said):
    """X1, X3: the status is said, and the words where there are some."""
    told = r"answered 500.*look at the server's log|sent what is no chat answer"
    with pytest.raises(ExternalError, match=told) as caught:
        reply_to(protocol, json.dumps(said).encode(), "500 No")
    if said == {"error": {"message": "no memory"}}:
        assert ": no memory; " in str(caught.value)


def test_all_that_was_read_is_counted():
    """F8: what came from the provider's cache, and what was put into it."""
    body = changed(
        "anthropic",
        b'"cache_read_input_tokens": 16',
        b'"cache_read_input_tokens": 16, "cache_creation_input_tokens": 5',
    )
    assert reply_to("anthropic", body).usage == Usage(prompt=36, completion=8, cached=16)

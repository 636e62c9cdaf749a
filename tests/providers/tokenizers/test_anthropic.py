"""The provider's counting endpoint, spoken to over a real loopback connection."""

from __future__ import annotations

import json
import re

import pytest

from foveate.core.errors import BadOption, ExternalError
from foveate.providers.tokenizers import load_tokenizer
from foveate.providers.tokenizers.anthropic import Anthropic
from json_server import Answer, Headers, serving

KEY = "sk-test-0123456789"
FRAME = 7


def refusal(status: int, kind: str, message: str) -> Answer:
    """An error as the protocol words it."""
    error = {"type": "error", "error": {"type": kind, "message": message}}
    return status, json.dumps(error).encode()


def counted(path: str, headers: Headers, body: dict) -> Answer:
    """A word, a run of spaces, each other character is a token; or the endpoint's refusal."""
    text = body["messages"][0]["content"]
    if headers["x-api-key"] != KEY:
        return refusal(401, "authentication_error", "invalid x-api-key")
    if not text.strip():
        return refusal(400, "invalid_request_error", "text must be non-empty")
    tokens = FRAME + len(re.findall(r"\w+|\s+|[^\w\s]", text))
    return 200, json.dumps({"input_tokens": tokens}).encode()


@pytest.fixture
def endpoint():
    """A server on this machine that speaks the protocol."""
    with serving(counted) as server:
        yield server


@pytest.fixture
def tokenizer(endpoint):
    """A tokenizer that asks the server on this machine."""
    return Anthropic(model="claude-x", key=KEY, url=endpoint.url, timeout=10)


def test_the_request(tokenizer, endpoint):
    """B5: the request is the documented one: path, headers, model and one user message."""
    tokenizer.count("two words")
    path, headers, body = endpoint.asked[-1]
    assert path == "/v1/messages/count_tokens"
    assert headers["x-api-key"] == KEY
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["content-type"] == "application/json"
    assert body == {"model": "claude-x", "messages": [{"role": "user", "content": "two words"}]}


def test_the_message_around_a_text_is_not_counted(tokenizer, endpoint):
    """B5: a count is the text's own; what the message adds is measured once and taken off."""
    assert tokenizer.count("two words") == 3
    assert tokenizer.count("one") == 1
    assert tokenizer.count("<|endoftext|>") == 5
    assert [body["messages"][0]["content"] for _, _, body in endpoint.asked] == [
        "a",
        "two words",
        "one",
        "<|endoftext|>",
    ]


def test_texts_the_endpoint_refuses(tokenizer, endpoint):
    """B5: an empty text costs no request; white space alone and half a surrogate are counted."""
    assert tokenizer.count("") == 0
    assert endpoint.asked == []
    assert tokenizer.count(" \n") >= 1
    assert tokenizer.count("a\ud83d") == 2


def test_truncate(tokenizer, endpoint):
    """B5: a cut is a verbatim prefix that the endpoint itself has counted."""
    text = "some words and others " * 50
    cut = tokenizer.truncate(text, 20)
    assert text.startswith(cut)
    assert tokenizer.count(cut) == 20
    assert len(endpoint.asked) <= 30


def test_name_and_fingerprint(tokenizer):
    """D2: the model is the name; neither holds the key."""
    assert tokenizer.name == "anthropic:claude-x"
    assert tokenizer.fingerprint == "anthropic:claude-x:1"
    assert KEY not in repr(tokenizer)


def test_load_takes_the_key_from_the_environment(monkeypatch):
    """B5: `anthropic:MODEL` with a key in the environment; without one it says which to set."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert load_tokenizer("anthropic:claude-x") == Anthropic(model="claude-x", key=KEY)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(BadOption, match="ANTHROPIC_API_KEY"):
        load_tokenizer("anthropic:claude-x")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((200, b"not json"), "said no JSON"),
        ((200, b"{}"), "input_tokens"),
        ((200, b"[1]"), "input_tokens"),
        ((500, b"oops"), "answered 500: oops"),
        (refusal(529, "overloaded_error", "busy"), "529: busy"),
        (refusal(429, "rate_limit_error", "slow"), "429: slow"),
        ((302, b"", {"location": "http://127.0.0.1:1/elsewhere"}), "answered 302"),
        (refusal(401, "x", KEY), "401: .*"),
    ],
)
def test_failures(tokenizer, endpoint, answer, said: str):
    """X1: what the endpoint does wrong is an outside failure; the key is in no part of it."""
    endpoint.answer = lambda *_: answer
    with pytest.raises(ExternalError, match=said) as caught:
        tokenizer.count("text")
    assert KEY not in str(caught.value)
    assert caught.value.__suppress_context__
    assert len(endpoint.asked) == 1


def test_nobody_answers():
    """X1: a host that does not answer is an outside failure."""
    with pytest.raises(ExternalError, match="counting with anthropic:claude-x"):
        Anthropic(model="claude-x", key=KEY, url="http://127.0.0.1:1", timeout=5).count("text")


@pytest.mark.parametrize(
    "options",
    [
        {"key": ""},
        {"key": "sk with space"},
        {"key": "sk-\nnewline"},
        {"key": "sk-é"},
        {"url": "http://example.org"},
        {"url": "file:///etc/passwd"},
    ],
)
def test_refused_at_construction(options: dict[str, str]):
    """X4: a key that no header can hold, or a host it would reach in the clear, is refused."""
    with pytest.raises(BadOption) as caught:
        Anthropic(**{"model": "claude-x", "key": KEY, **options})
    assert options.get("key", KEY) not in str(caught.value) or not options.get("key", KEY)

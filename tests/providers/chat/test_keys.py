"""What is sent as a secret, where to, and that no error repeats it."""

from __future__ import annotations

import pytest

from foveate import BadOption, ExternalError
from foveate.providers.chat import load_model
from foveate.providers.chat.http_client import (
    MAX_MESSAGE_LENGTH,
    broken_stream_error,
    connection_error,
    protocol_error,
    status_error,
)
from model_servers import PROTOCOLS, serving

MESSAGES = [{"role": "user", "content": "How deep is the well?"}]
KEY = "sk-planted-7f3a91"
PLAIN = {
    "host",
    "connection",
    "accept",
    "accept-encoding",
    "content-type",
    "content-length",
    "user-agent",
}
OF_THE_PROVIDER = {
    "OPENAI_API_KEY": "sk-hosted-1",
    "OPENAI_ORG_ID": "org-hosted-2",
    "OPENAI_PROJECT_ID": "proj-hosted-3",
    "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer corp-hosted-4\nX-Corp: corp-hosted-5",
    "ANTHROPIC_API_KEY": "sk-hosted-6",
    "ANTHROPIC_AUTH_TOKEN": "token-hosted-7",
    "ANTHROPIC_CUSTOM_HEADERS": "Authorization: Bearer corp-hosted-8\nUser-Agent: corp-hosted-9\n"
    "anthropic-version: corp-hosted-0\nHost: hosted-11\nX-Corp: corp-hosted-12",
    "OLLAMA_API_KEY": "sk-hosted-10",
}
"""Whatever a vendor's client may find in the environment."""


@pytest.fixture
def provided(monkeypatch):
    """All of it is set."""
    for name, value in OF_THE_PROVIDER.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("provided")
@pytest.mark.parametrize("key", [KEY, ""])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_address_of_ones_own_gets_what_is_meant_for_it(protocol, key, monkeypatch):
    """X5: our own headers and the own key alone, whatever the environment holds for a provider."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", key)
    refused = pytest.raises(ExternalError, match="answered 401")
    with serving(protocol, "refuses") as server, refused as caught:
        load_model(server.name).complete(MESSAGES)

    sent = server.headers[0]
    carries = "x-api-key" if protocol == "anthropic" else "authorization"
    more = ({carries} if key else set()) | (
        {"anthropic-version"} if protocol == "anthropic" else set()
    )
    assert set(sent) == PLAIN | more
    assert sent.get(carries, "").removeprefix("Bearer ") == key
    assert "hosted" not in repr(sent)
    assert "hosted" not in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.usefixtures("provided")
@pytest.mark.parametrize(
    ("protocol", "address", "key"),
    [
        ("openai", "OPENAI_BASE_URL", "sk-hosted-1"),
        ("anthropic", "ANTHROPIC_BASE_URL", "sk-hosted-6"),
    ],
)
def test_a_provider_gets_its_key_and_nothing_else(protocol, address, key, monkeypatch):
    """X3, X5: whatever headers the environment holds for another client."""
    with serving(protocol, "echoes") as server:
        monkeypatch.setenv(address, server.name.partition("@")[2])
        with pytest.raises(ExternalError, match="answered 401") as caught:
            load_model(f"{protocol}:tiny").complete(MESSAGES)

    sent = server.headers[0]
    held = [sent[name] for name in ("authorization", "x-api-key") if name in sent]
    assert [value.removeprefix("Bearer ") for value in held] == [key]
    assert "hosted" not in repr(sent).replace(key, "")
    assert "hosted" not in str(caught.value)


def test_a_key_is_taken_out_before_words_are_cut():
    """X3: also where the cut would fall into it, in whatever the other side says."""
    said = "x" * (MAX_MESSAGE_LENGTH - 5) + KEY
    troubles = [
        status_error(401, said, KEY),
        broken_stream_error(said, KEY),
        connection_error(ConnectionError(said), KEY),
        protocol_error(said, KEY),
    ]

    assert [one.why for one in troubles if KEY[:5] in one.why] == []
    assert all("x***" in one.why for one in troubles)


@pytest.mark.parametrize(
    ("variable", "name", "url", "said"),
    [
        ("OPENAI_BASE_URL", "openai:m", "me:sk-secret@host/v1", "give http://HOST"),
        ("OPENAI_BASE_URL", "openai:m", "ftp://host?key=sk-secret", "give http://HOST"),
        ("OPENAI_BASE_URL", "openai:m", "http://me:sk-secret@host:80", "FOVEATE_MODEL_KEY"),
        ("OLLAMA_HOST", "ollama:m", "http://me:sk-secret@host:80", "FOVEATE_MODEL_KEY"),
    ],
)
def test_no_address_of_the_environment_is_repeated(variable, name, url, said, monkeypatch):
    """X1, X3: an address that is none, or that holds a password, is refused unprinted."""
    monkeypatch.setenv(variable, url)
    with pytest.raises(BadOption, match=said) as caught:
        load_model(name)

    assert "secret" not in str(caught.value)

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from threading import Thread
from typing import Any

import numpy as np
import pytest

from foveate.core.errors import BadOption, ExternalError
from foveate.providers.chat import http_client
from foveate.providers.chat.http_client import ollama_url
from foveate.providers.embedders import load_embedder
from foveate.providers.embedders.remote import OllamaEmbedder, OpenAIEmbedder
from json_server import Answer, Headers, JsonServer, serving

KEY = "sk-very-secret"


def vector(text: str) -> list[float]:
    """A vector that tells texts apart; not of length 1, as a server may give it."""
    return [float(len(text) + 1), float(text.count("a")), 3.0]


def speak(path: str, _: Headers, body: Any) -> Answer:
    """Both protocols, OpenAI's with its answers out of order."""
    rows = [vector(text) for text in body["input"]]
    if path == "/api/embed":
        return 200, json.dumps({"model": body["model"], "embeddings": rows}).encode()
    data = [{"index": i, "embedding": row, "object": "embedding"} for i, row in enumerate(rows)]
    return 200, json.dumps({"object": "list", "data": data[::-1]}).encode()


@pytest.fixture
def server() -> Iterator[JsonServer]:
    """A server of both protocols."""
    with serving(speak) as running:
        yield running


@pytest.fixture(params=["openai", "ollama"])
def embedder(request: pytest.FixtureRequest, server: JsonServer) -> OpenAIEmbedder | OllamaEmbedder:
    """Each protocol's embedder, pointed at the server."""
    if request.param == "openai":
        return OpenAIEmbedder("small", base_url=f"{server.url}/v1/", api_key=KEY, timeout=5)
    return OllamaEmbedder("small", base_url=server.url, timeout=5)


def test_vectors_come_back_in_the_order_of_the_texts(embedder, server):
    """T6: whatever order the server answers in, in rows of length 1, over several requests."""
    texts = [f"{'a' * (i % 5)} {i}" for i in range(300)]
    rows = embedder.embed(texts)
    expected = np.array([vector(text) for text in texts])
    expected /= np.sqrt((expected**2).sum(axis=1, keepdims=True))
    assert rows.dtype == np.float32
    assert np.array_equal(rows, expected.astype(np.float32))
    assert sum(len(body["input"]) for _, _, body in server.asked) == 300
    assert len(server.asked) > 1
    assert all(body["model"] == "small" for _, _, body in server.asked)


def test_the_width_is_asked_once(embedder, server):
    """T6: the first `dimensions` costs one request, the next none, and no text none at all."""
    assert (embedder.dimensions, embedder.dimensions) == (3, 3)
    assert embedder.embed([]).shape == (0, 3)
    assert len(server.asked) == 1


def test_the_protocols_are_spoken(server):
    """T6: the paths, and the key as a bearer token where there is one."""
    OpenAIEmbedder("m", base_url=f"{server.url}/v1", api_key=KEY).embed(["x"])
    OllamaEmbedder("m", base_url=server.url).embed(["x"])
    OpenAIEmbedder("m", base_url=f"{server.url}/v1", api_key="").embed(["x"])
    assert [(path, sent.get("authorization")) for path, sent, _ in server.asked] == [
        ("/v1/embeddings", f"Bearer {KEY}"),
        ("/api/embed", None),
        ("/v1/embeddings", None),
    ]


BROKEN = {
    "401": lambda path, *_: (401, f"bad key {KEY * (path == '/v1/embeddings')}".encode()),
    "429": lambda *_: (429, b"{}"),
    "500": lambda *_: (500, b"boom"),
    "302": lambda *_: (302, b"", {"location": "/elsewhere"}),
    "no json": lambda *_: (200, b"<html>"),
    "another json": lambda *_: (200, b"[1]"),
    "no embeddings": lambda *_: (200, b'{"data": [{}]}'),
    "too few": lambda path, sent, body: speak(path, sent, {**body, "input": body["input"][:-1]}),
    "ragged": lambda *asked: (200, speak(*asked)[1].replace(b", 3.0]", b"]", 1)),
    "not numbers": lambda *asked: (200, speak(*asked)[1].replace(b"3.0", b'"x"')),
    "not finite": lambda *asked: (200, speak(*asked)[1].replace(b"3.0", b"NaN")),
    "nothing": lambda *_: (200, b""),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_answer_is_an_outside_failure(embedder, server, how: str):
    """X3, X5: one kind of error, no key in it, and a redirect is not followed."""
    server.answer = BROKEN[how]
    with pytest.raises(ExternalError) as caught:
        embedder.embed(["one", "two"])
    assert KEY not in str(caught.value)
    assert KEY not in repr(embedder)
    assert len(server.asked) == 1


def test_a_server_that_is_down_is_named():
    """X3: the address and what to look at."""
    with serving(speak) as gone:
        pass
    with pytest.raises(ExternalError, match=r"127\.0\.0\.1.*cannot be reached.*is the server up"):
        OllamaEmbedder("m", base_url=gone.url, timeout=5).embed(["x"])


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/passwd", "ftp://h/", "h:80", "http://", "x", "http://[bad"),
        *("http://h:99999", f"https://me:{KEY}@h/v1", f"https://h/v1?key={KEY}"),
        f"https://h/v1#{KEY}",
    ],
)
def test_only_http_addresses_without_a_key_are_asked(url: str):
    """X4, X5: no other scheme is ever opened; errors name the address, so no key may be in it."""
    with pytest.raises(BadOption, match="base_url") as caught:
        OpenAIEmbedder("m", base_url=url, api_key="")
    assert KEY not in str(caught.value)


def test_an_answer_without_an_end_is_not_read_to_its_end(embedder, server, monkeypatch):
    """X6: what a server sends is bounded."""
    monkeypatch.setattr(http_client, "MAX_ANSWER_BYTES", 1_000)
    server.answer = lambda *asked: (200, b" " * 2_000 + speak(*asked)[1])
    with pytest.raises(ExternalError, match="sent more than"):
        embedder.embed(["one"])


def test_a_key_is_read_without_the_line_end_behind_it(monkeypatch, server):
    """X1: a file of one key ends with a line end, which no header can hold."""
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    OpenAIEmbedder("m", base_url=f"{server.url}/v1").embed(["x"])
    assert server.asked[0][1]["authorization"] == f"Bearer {KEY}"


def test_a_key_with_a_line_end_inside_is_refused_unseen():
    """X1: no part of a key that no header can carry is in the error."""
    with pytest.raises(ExternalError, match="api_key holds characters") as caught:
        OpenAIEmbedder("m", base_url="http://127.0.0.1:9", api_key=f"{KEY}\r\nrest")
    assert KEY not in str(caught.value)


def test_a_refusal_that_breaks_off_is_an_outside_failure():
    """X2: a server that answers 500 and then says no more is named with its status."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def refuse() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 500 X\r\nContent-Length: 100\r\n\r\nabc")

        thread = Thread(target=refuse)
        thread.start()
        with pytest.raises(ExternalError, match="answered 500"):
            OpenAIEmbedder("m", base_url=url, api_key=KEY, timeout=5).embed(["a"])
        thread.join()


def test_names_and_surroundings_make_an_embedder(monkeypatch: pytest.MonkeyPatch, server):
    """T6: `load` takes address and key from the environment; the key shows nowhere."""
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    for name in ("openai:small", "ollama:small:latest"):
        loaded = load_embedder(name)
        assert (loaded.name, loaded.dimensions) == (name, 3)
        assert KEY not in repr(loaded)
    keys = [sent.get("authorization") for _, sent, _ in server.asked]
    assert keys == [f"Bearer {KEY}", None]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("", "http://127.0.0.1:11434"),
        ("example", "http://example:11434"),
        ("example:80", "http://example:80"),
        ("https://example", "https://example"),
        ("[::1]", "http://[::1]:11434"),
        (":8080", "http://127.0.0.1:8080"),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it(monkeypatch, host: str, expected: str):
    """T6: scheme and port may be left out."""
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert ollama_url() == expected

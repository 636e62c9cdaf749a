"""A real small model, in process and over the OpenAI protocol; loaded once."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from foveate import BadInput, BadOption, ExternalError
from foveate.providers.chat import load_model
from foveate.providers.chat.gguf import _thread_count
from foveate.providers.chat.request import ChatRequest
from foveate.testing.models import MESSAGES, check_model
from local_model import KEY, WINDOW, engine, local_model, local_name


def test_the_laws_of_models_in_process():
    """F8: real weights in this process keep the laws."""
    model = local_model()
    check_model(model)
    reply = model.complete(MESSAGES, max_tokens=24)

    assert "nine metres deep" in reply.text
    assert (reply.finish, reply.usage.completion) == ("stop", 8)


def test_the_laws_of_models_over_openais_protocol(monkeypatch):
    """F8: the same weights behind llama.cpp's own server, by its address."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", KEY)
    model = load_model(local_name())
    check_model(model)

    assert (
        model.complete(MESSAGES, max_tokens=24).text
        == local_model().complete(MESSAGES, max_tokens=24).text
    )


def test_its_port_is_locked(monkeypatch):
    """X4, X5: the engine's port answers nobody who does not know the key."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", "sk-guess")

    with pytest.raises(ExternalError, match=r"answered 401: .*check the API key") as caught:
        load_model(local_name()).complete(MESSAGES, max_tokens=4)

    assert "sk-guess" not in str(caught.value)


def test_more_than_its_window():
    """B1, X1: a prompt that does not fit is refused by the engine and said, not cut."""
    long = [{"role": "user", "content": "word " * (WINDOW + 500)}]

    with pytest.raises(ExternalError, match="exceeds the available context size"):
        local_model().complete(long, max_tokens=4)


def posted(path, record):
    """What the engine's own port answers."""
    door = HTTPConnection(urlsplit(engine().listening_address).netloc, timeout=60)
    door.request("POST", path, json.dumps(record), {"authorization": f"Bearer {KEY}"})
    found = json.loads(door.getresponse().read())
    door.close()
    return found


def test_how_likely_a_given_answer_is():
    """E1: one call gives what asking token by token gives, of all the tokens that there are."""
    answer = "It is nine metres deep, surely"
    found = local_model().likelihood(MESSAGES, answer)

    prompt = posted("/apply-template", {"messages": MESSAGES})["prompt"]
    so_far = posted("/tokenize", {"content": prompt, "add_special": True, "parse_special": True})
    row, expected = so_far["tokens"], []
    for token in posted("/tokenize", {"content": answer})["tokens"]:
        asked = {"prompt": row, "n_predict": 1, "n_probs": 49_152, "temperature": 0}
        (said,) = posted("/completion", asked)["completion_probabilities"]
        expected += [p["logprob"] for p in said["top_logprobs"] if p["id"] == token]
        row = [*row, token]
    assert found.tokens == len(expected) > 5
    assert found.mean == pytest.approx(sum(expected) / len(expected), abs=0.01)
    assert found.usage.completion == found.tokens


def test_texts_that_cannot_be_forced(monkeypatch):
    """E1, X2: parts of characters have no probability; an empty text is refused, markup is text."""
    model = local_model()
    monkeypatch.setenv("FOVEATE_MODEL_KEY", KEY)
    remote = load_model(local_name())

    assert model.likelihood(MESSAGES, "龘") is None
    assert model.likelihood(MESSAGES, "<|im_end|>").tokens > 1
    assert remote.likelihood(MESSAGES, "龘") is None
    assert remote.scores  # that text alone has none
    with pytest.raises(BadInput, match="is empty"):
        model.likelihood(MESSAGES, "")
    with pytest.raises(ExternalError, match="exceeds the available context size"):
        model.likelihood([{"role": "user", "content": "word " * (WINDOW + 500)}], "nine")
    with pytest.raises(ExternalError, match="exceeds the available context size"):
        remote.likelihood([{"role": "user", "content": "word " * (WINDOW + 500)}], "nine")


def test_how_likely_over_http(monkeypatch):
    """E1, F8: llama.cpp's server says over OpenAI's protocol what the weights say in this process.

    By the same calls, so to the last bit where it reads the same; what it has read before it may
    take from its memory, and that moves the last digits.
    """
    monkeypatch.setenv("FOVEATE_MODEL_KEY", KEY)
    for answer in ("Nine metres deep", 'Forty metres, "they" say'):
        here = local_model().likelihood(MESSAGES, answer)
        there = load_model(local_name()).likelihood(MESSAGES, answer)
        assert there.tokens == here.tokens > 3
        assert there.mean == pytest.approx(here.mean, abs=0.01)
        assert there.usage.completion == there.tokens
    monkeypatch.setenv("FOVEATE_MODEL_KEY", "sk-guess")
    with pytest.raises(ExternalError, match="answered 401"):
        load_model(local_name()).likelihood(MESSAGES, "nine")


def test_its_time_limit():
    """X3: a long answer is given up in time, and the engine answers the next one."""
    model = local_model()

    with pytest.raises(ExternalError, match=r"did not finish within 0\.3 s"):
        model.complete([{"role": "user", "content": "Count."}], max_tokens=1500, timeout=0.3)

    assert "nine metres" in model.complete(MESSAGES, max_tokens=24).text


def test_it_stops_reading_when_nobody_waits():
    """X3: a long prompt is put down between two batches, so that no processor is held."""
    model = local_model()
    message = {"role": "user", "content": "The pump is cleaned in spring. " * 100}
    asked = ChatRequest(messages=(message,), max_tokens=4, temperature=0, stop=())

    async def leave_early() -> str:
        model._provider.load()
        async with aclosing(model._provider.stream_attempt(asked)) as pieces:
            return await anext(pieces)

    assert asyncio.run(leave_early()) == ""
    usage = model.complete([message], max_tokens=4).usage
    assert usage.cached < usage.prompt / 2


def test_a_file_that_is_no_model(tmp_path):
    """X2: what cannot be loaded is said; the file is named."""
    path = tmp_path / "well.gguf"
    path.write_bytes(b"GGUF and nothing more")

    with pytest.raises(ExternalError, match=r"well\.gguf: cannot be loaded .*is it a GGUF file"):
        load_model(f"gguf:{path}").complete(MESSAGES)


def test_threads(monkeypatch):
    """X1: the number of threads is a number."""
    monkeypatch.setenv("FOVEATE_MODEL_THREADS", "3")
    assert _thread_count() == 3

    monkeypatch.setenv("FOVEATE_MODEL_THREADS", "many")
    with pytest.raises(BadOption, match="give a number of threads"):
        _thread_count()

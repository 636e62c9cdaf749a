"""A real small model, in process and over the OpenAI protocol; loaded once."""

from __future__ import annotations

import pytest

from foveate import BadOption, OutsideFailure
from foveate.adapters.models import load
from foveate.adapters.models.asked import Asked
from foveate.adapters.models.gguf import GgufSpeaker, _threads, _Told
from foveate.testing.models import MESSAGES, check_model
from local_model import KEY, WINDOW, local_model, local_name


def test_the_laws_of_models_in_process():
    """F8: real weights in this process keep the laws."""
    model = local_model()
    check_model(model)
    reply = model.complete(MESSAGES, max_tokens=24)

    assert "nine metres deep" in reply.text
    assert (reply.finish, reply.usage.completion) == ("stop", 8)


def test_the_laws_of_models_over_openais_protocol(monkeypatch):
    """F8: the same weights behind llama.cpp's own server, through the official client."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", KEY)
    model = load(local_name())
    check_model(model)

    assert (
        model.complete(MESSAGES, max_tokens=24).text
        == local_model().complete(MESSAGES, max_tokens=24).text
    )


def test_its_port_is_locked(monkeypatch):
    """X4, X5: the engine's port answers nobody who does not know the key."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", "sk-guess")

    with pytest.raises(OutsideFailure, match=r"answered 401: .*check the API key") as caught:
        load(local_name()).complete(MESSAGES, max_tokens=4)

    assert "sk-guess" not in str(caught.value)


def test_more_than_its_window():
    """B1, X1: a prompt that does not fit is refused by the engine and said, not cut."""
    long = [{"role": "user", "content": "word " * (WINDOW + 500)}]

    with pytest.raises(OutsideFailure, match="exceeds the available context size"):
        local_model().complete(long, max_tokens=4)


def test_its_time_limit():
    """X3: a long answer is given up in time, and the engine answers the next one."""
    model = local_model()

    with pytest.raises(OutsideFailure, match=r"did not finish within 0\.3 s"):
        model.complete([{"role": "user", "content": "Count."}], max_tokens=1500, timeout=0.3)

    assert "nine metres" in model.complete(MESSAGES, max_tokens=24).text


def test_it_stops_reading_when_nobody_waits():
    """X3: a long prompt is put down between two batches, so that no processor is held."""
    told = _Told()
    seen = []

    def hand(item):
        seen.append(item)
        told.stop = True

    question = {"role": "user", "content": "The pump is cleaned in spring. " * 200}
    asked = Asked(messages=(question,), max_tokens=4, temperature=0, stop=(), connect=1)
    GgufSpeaker._run(local_model()._speaker, asked, hand, told)

    *heard, end = seen
    assert len(heard) == 1
    assert "usage" not in heard[0]
    assert end is None


def test_a_file_that_is_no_model(tmp_path):
    """X2: what cannot be loaded is said; the file is named."""
    path = tmp_path / "well.gguf"
    path.write_bytes(b"GGUF and nothing more")

    with pytest.raises(OutsideFailure, match=r"well\.gguf: cannot be loaded .*is it a GGUF file"):
        load(f"gguf:{path}").complete(MESSAGES)


def test_threads(monkeypatch):
    """X1: the number of threads is a number."""
    monkeypatch.setenv("FOVEATE_MODEL_THREADS", "3")
    assert _threads() == 3

    monkeypatch.setenv("FOVEATE_MODEL_THREADS", "many")
    with pytest.raises(BadOption, match="give a number of threads"):
        _threads()

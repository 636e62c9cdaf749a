"""Three protocols against servers that speak them, well and badly."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import traceback
from math import inf, nan

import pytest

from foveate import BadInput, BadOption, ExternalError, MissingExtra, UnknownName
from foveate.ports import Reply, Usage
from foveate.providers.chat import load_model
from foveate.testing.fakes import ScriptedModel
from foveate.testing.models import check_model
from model_servers import ANSWER, PIECES, PROTOCOLS, serving

MESSAGES = [
    {"role": "system", "content": "Answer from the context alone."},
    {"role": "user", "content": "[1] The well is nine metres deep.\n\nHow deep is it?"},
]
KEY = "sk-planted-7f3a91"
EVERY = pytest.mark.parametrize("protocol", PROTOCOLS)
ADDRESSES = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "ollama": "OLLAMA_HOST",
}
"""Protocol → the provider's variable for where its server is."""

FAILURES = {
    "refuses": "answered 401: wrong key",
    "busy_for_long": "it asks to wait 3600 s, no time is left",
    "broken": r"answered 500: the pump stopped; look at the server's log \(3 attempts\)",
    "cut": r"ended before the answer did.*\(3 attempts\)",
    "garbage": "sent what is no .*JSONDecodeError",
    "html": "sent a web page; is it the right address",
    "wrong_json": "sent what is no ",
    "endless_words": "wrote more than 50 tokens can hold",
    "error_midway": r"broke off: the pump stopped \(3 attempts\)",
    "zipped": "sent a compressed answer, which was not asked for",
    "redirects": "answered 307; it redirects; give the address that it leads to",
}
"""What a server may do → what the caller is told."""
NEVER_ENDS = (
    *("silent", "silent_after_headers", "drips_headers", "drips_bytes"),
    *("stuck_midway", "drips_words"),
)
END = 0.4  # seconds that a call may take where the server never answers


def model_at(server):
    """The model of a server."""
    return load_model(server.name)


@EVERY
def test_an_answer_arrives_in_pieces(protocol):
    """F8: pieces as they come, then the reply with usage, finish and the model's own name."""
    with serving(protocol) as server:
        *pieces, reply = model_at(server).stream(MESSAGES, max_tokens=50)

    cached = None if protocol == "ollama" else 16
    assert tuple(pieces) == PIECES
    assert reply == Reply(
        text=ANSWER, usage=Usage(prompt=31, completion=8, cached=cached), model="tiny-1"
    )


@EVERY
def test_the_laws_of_models(protocol):
    """F8: the law suite that every model runs."""
    with serving(protocol) as server:
        check_model(model_at(server))

    assert len(server.requests) == 4


def test_the_stand_in_keeps_the_laws():
    """F8: a model that says what it is told to passes the suite that real ones pass."""
    check_model(ScriptedModel(says=lambda messages: f"{messages[-1]['content']} Nine. " * 9))


@EVERY
def test_without_blocking_the_event_loop(protocol):
    """F8: the same answers from `astream`, two at a time."""

    async def both(model):
        async def pieces():
            return [piece async for piece in model.astream(MESSAGES, max_tokens=50)]

        return await asyncio.gather(pieces(), pieces())

    with serving(protocol) as server:
        (*pieces, last), other = asyncio.run(both(model_at(server)))

    assert tuple(pieces) == PIECES
    assert last == other[-1]
    assert last.text == ANSWER


@EVERY
def test_inside_a_running_event_loop(protocol):
    """F8: a notebook runs a loop already; the sync call works there."""

    async def cell(model):
        return model.complete(MESSAGES, max_tokens=50)

    with serving(protocol) as server:
        reply = asyncio.run(cell(model_at(server)))

    assert reply.text == ANSWER


@EVERY
def test_what_is_sent(protocol):
    """F8: messages, limits and stops in the protocol's own words; Claude's system stands apart."""
    with serving(protocol) as server:
        model_at(server).complete(MESSAGES, max_tokens=50, temperature=0.5, stop=["\n\n"])
        model_at(server).complete(MESSAGES[1:], max_tokens=50, stop="END")

    first, second = server.requests
    if protocol == "openai":
        assert first["messages"] == MESSAGES
        assert (first["max_tokens"], first["temperature"], first["stop"]) == (50, 0.5, ["\n\n"])
        assert second["stop"] == ["END"]
    elif protocol == "ollama":
        assert first["messages"] == MESSAGES
        options = {"num_predict": 50, "num_ctx": 4096, "temperature": 0.5, "stop": ["\n\n"]}
        assert first["options"] == options
        assert second["options"]["temperature"] == 0
    else:
        assert (first["system"], first["messages"]) == (MESSAGES[0]["content"], MESSAGES[1:])
        assert (first["max_tokens"], first["temperature"]) == (50, 0.5)
        assert "stop_sequences" not in first  # white space alone, which the service refuses
        assert second["stop_sequences"] == ["END"]
        assert "system" not in second


@EVERY
@pytest.mark.parametrize("behaviour", ["busy_once", "broken_once", "hangs_up_once", "cut_once"])
def test_another_attempt(protocol, behaviour):
    """F8, X3: too many requests, a server's fault and a broken connection are tried again."""
    with serving(protocol, behaviour) as server:
        reply = model_at(server).complete(MESSAGES, max_tokens=50)

    assert reply.text == ANSWER
    assert len(server.requests) == 2
    assert server.requests[0] == server.requests[1]


@EVERY
@pytest.mark.parametrize("behaviour", FAILURES)
def test_failures_are_said(protocol, behaviour, monkeypatch, caplog):
    """X1, X3: whatever the server does, an error of one line, and never the key."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    with serving(protocol, behaviour) as server:
        model = model_at(server)
        with pytest.raises(ExternalError, match=FAILURES[behaviour]) as caught:
            model.complete(MESSAGES, max_tokens=50)

    said = str(caught.value)
    sent = next(iter(server.headers), {})
    assert said.startswith(f"model {server.name}: ")
    assert "\n" not in said
    assert KEY in sent.get("authorization", "") + sent.get("x-api-key", "")
    assert KEY not in said
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in repr(model) + repr(vars(model))
    assert KEY not in caplog.text
    assert caught.value.__context__ is None


@EVERY
def test_a_stream_that_was_begun_is_not_begun_again(protocol):
    """X3: what was handed over stands; the error comes after it, from the first attempt."""
    with serving(protocol, "cut") as server:
        pieces = model_at(server).stream(MESSAGES, max_tokens=50)
        assert (next(pieces), next(pieces)) == PIECES[:2]
        with pytest.raises(ExternalError, match="ended before the answer did"):
            next(pieces)

    assert len(server.requests) == 1


@EVERY
@pytest.mark.parametrize("behaviour", NEVER_ENDS)
def test_a_server_that_never_ends(protocol, behaviour):
    """X3: silent, stuck, byte by byte or word by word for ever: given up when the time is over."""
    said = r"did not finish within 0\.4 s"
    with serving(protocol, behaviour) as server, pytest.raises(ExternalError, match=said):
        model_at(server).complete(MESSAGES, timeout=END)


@EVERY
def test_given_up_by_the_event_loop(protocol):
    """X3: a task that is cancelled lets go of the server at once."""

    async def given_up(model):
        async with asyncio.timeout(END):
            async for _ in model.astream(MESSAGES):
                pass

    with serving(protocol, "silent") as server, pytest.raises(TimeoutError):
        asyncio.run(given_up(model_at(server)))


@EVERY
def test_nobody_there(protocol):
    """X1, X3: a port that nobody listens on is said, after the attempts."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    model = load_model(f"{protocol}:tiny@http://127.0.0.1:{port}")

    with pytest.raises(ExternalError, match=r"cannot be reached.*is the server up\? \(3 attem"):
        model.complete(MESSAGES)


def test_one_endless_line():
    """X2: an answer has a size that it cannot exceed, even in one line."""
    with serving("openai", "endless_line") as server:
        model = load_model(server.name)
        with pytest.raises(ExternalError, match="sent more than 32 MB"):
            model.complete(MESSAGES, timeout=60)


@EVERY
@pytest.mark.parametrize("behaviour", ["no_usage", "empty"])
def test_what_is_missing_stays_missing(protocol, behaviour):
    """F8: usage that is not said is None, not 0; an empty answer is an empty text."""
    with serving(protocol, behaviour) as server:
        reply = model_at(server).complete(MESSAGES, max_tokens=50)

    assert reply.text == ("" if behaviour == "empty" else ANSWER)
    assert (reply.usage == Usage()) == (behaviour == "no_usage")


@pytest.mark.parametrize(("protocol", "tries"), [("openai", 3), ("anthropic", 2)])
def test_options_that_a_model_does_not_take(protocol, tries):
    """F8: they are left out when the server says so, and are not tried a second time."""
    with serving(protocol, "picky") as server:
        model = model_at(server)
        first = model.complete(MESSAGES, max_tokens=50)
        second = model.complete(MESSAGES, max_tokens=50)

    assert first == second
    assert first.text == ANSWER
    assert len(server.requests) == tries + 1
    assert "temperature" not in server.requests[-1]
    if protocol == "openai":
        assert server.requests[-1]["max_completion_tokens"] == 50


def test_keys_that_no_header_can_carry(monkeypatch):
    """X1: a key with a line in it is refused without being repeated."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", "sk-one\nsk-two")
    with serving("openai") as server, pytest.raises(ExternalError, match="characters") as caught:
        model_at(server).complete(MESSAGES)

    assert "sk-" not in str(caught.value)
    assert server.requests == []


PARTS = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [{"type": "text", "text": "[1] A well."}, {"type": "text", "text": "How deep?"}],
    },
]
SOURCES = {"type": "search_result", "source": "w.md", "title": "w", "content": []}


@pytest.mark.parametrize(
    ("protocol", "sent"),
    [
        ("openai", PARTS[1]["content"]),
        ("anthropic", PARTS[1]["content"]),
        ("ollama", "[1] A well.\n\nHow deep?"),
    ],
)
def test_text_parts(protocol, sent):
    """R1, F8: where the protocol knows them they go as they are, else as the text that they are."""
    with serving(protocol) as server:
        assert load_model(server.name).complete(PARTS).text == ANSWER

    assert server.requests[0]["messages"][-1]["content"] == sent


@pytest.mark.parametrize(
    ("protocol", "part"),
    [
        ("openai", {"type": "image_url", "image_url": {"url": "https://a.example/p.png"}}),
        ("anthropic", {"type": "image", "source": {"type": "url", "url": "https://a.example/p"}}),
    ],
)
def test_image_parts(protocol, part):
    """R1: an image goes as it is to the protocol whose part it is."""
    asked = [{"role": "user", "content": [part, {"type": "text", "text": "What is it?"}]}]
    with serving(protocol) as server:
        assert load_model(server.name).complete(asked).text == ANSWER

    assert server.requests[0]["messages"][-1]["content"][0] == part


@pytest.mark.parametrize(
    ("protocol", "part", "said"),
    [
        ("openai", SOURCES, r"message 1 has parts that this model does not take \(search_result\)"),
        ("ollama", SOURCES, "take another format, such as openai-parts"),
        ("anthropic", {"type": "image_url", "image_url": {}}, r"does not take \(image_url\)"),
        ("openai", {"type": "image", "source": {}}, r"does not take \(image\)"),
        ("openai", {"text": "no type"}, "a list of parts with a type"),
        ("openai", {"type": "text"}, "a list of parts with a type"),
    ],
)
def test_parts_that_a_model_does_not_take(protocol, part, said):
    """R1, X1: they are refused by their type, and nothing is sent."""
    with serving(protocol) as server, pytest.raises(BadInput, match=said):
        load_model(server.name).complete([{"role": "user", "content": [part]}])

    assert server.requests == []


DOOR = b'{"tokens": [{"id": 7, "piece": "ni"}, {"id": 9, "piece": "ne"}]}'


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({}, 1),
        ({"door": b"<!doctype html>"}, 1),
        ({"door": b"{not json"}, 1),
        ({"door": b'{"tokens": [7, 9]}'}, 1),
        ({"door": DOOR}, 2),
        ({"door": DOOR, "behaviour": "dictated", "logprobs": ((7, -0.5), (8, -1.0))}, 2),
        ({"door": DOOR, "behaviour": "dictated", "logprobs": ((7, -0.5),)}, 2),
        ({"door": DOOR, "behaviour": "dictated", "logprobs": ((7, 0.0), (9, -0.0))}, 2),
    ],
    ids=["no door", "a page", "no JSON", "no pieces", "no probabilities", "other tokens",
         "too few", "a certainty"],
)  # fmt: skip
def test_a_server_that_cannot_say_how_likely(options, asked):
    """E1: what is not said of the very text, before any grammar, is no figure; it is asked once."""
    with serving("openai", **options) as server:
        model = load_model(server.name)
        found = model.likelihood(MESSAGES, "nine")
        first = len(server.requests)
        model.find_out()
        assert len(server.requests) == first

    assert (found, model.scores, first) == (None, False, asked)
    assert model.likelihood(MESSAGES, "nine") is None  # the server is gone, and is not asked


def test_a_server_that_says_how_likely():
    """E1: the mean over the tokens of the text, which the server was told to write."""
    said = ((7, -0.5), (9, -1.5))
    with serving("openai", "dictated", door=DOOR, logprobs=said) as server:
        model = load_model(server.name)
        model.find_out(timeout=5)
        trial = len(server.requests)
        found = model.likelihood(MESSAGES, "nine")

    assert (found.mean, found.tokens, model.scores) == (-1.0, 2, True)
    door, chat = server.requests[trial:]
    assert door["content"] == "nine"
    assert (chat["grammar"], chat["max_tokens"]) == ("root ::= <[7]> <[9]>", 2)
    assert (chat["post_sampling_probs"], chat["temperature"]) == (False, 0.0)
    assert not load_model("openai:gpt-4.1").scores
    assert not load_model("anthropic:claude-haiku-4-5").scores


def test_markers_come_before_the_end_of_a_line():
    """C1, C3: what a stretch rests on stands on its line, and no white space is lost."""
    pieces = ("It is deep.\n\n", "Nobody knows why.\n", "It has a lid. \n")
    with serving("anthropic", "cites", pieces=pieces, places=((0,), (), (-1, 1))) as server:
        *found, reply = load_model(server.name).stream(MESSAGES)

    said = "It is deep. [1]\n\nNobody knows why.\nIt has a lid. [2] \n"
    assert "".join(found) == said == reply.text
    assert said[slice(*reply.quoted[0].span)] == "It is deep."


def test_a_number_from_a_document_is_no_marker():
    """C1, C3, R3: where blocks are sent that are cited by the provider, the model writes none."""
    part = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "A"}}
    sent = [{"role": "user", "content": [part, {"type": "text", "text": "How deep?"}]}]
    pieces = ("It is deep [2].\n", "See 【2】, `a[2]` and [", "2]")
    with serving("anthropic", "cites", pieces=pieces, places=((0,), (), (1,))) as server:
        *found, reply = load_model(server.name).stream(sent)
        *plain, _ = load_model(server.name).stream(MESSAGES)

    said = "It is deep [\\2]. [1]\nSee 【\\2】, `a[2]` and [\\2] [2]"
    assert "".join(found) == said == reply.text
    assert [said[slice(*one.span)] for one in reply.quoted] == [
        "It is deep [\\2].",
        "[\\2]",
    ]
    assert "".join(plain).startswith("It is deep [2]. [1]\n")


def test_what_a_provider_cites_becomes_markers():
    """C3, R1: search results that come back beside the text stand behind it as `[n]`."""
    pieces = ("It is nine metres deep.", " Nobody knows why.", " It has a lid.")
    with serving("anthropic", "cites", pieces=pieces, places=((0,), (), (2, 0, 2))) as server:
        *found, reply = load_model(server.name).stream(MESSAGES)

    said = "It is nine metres deep. [1] Nobody knows why. It has a lid. [3][1]"
    assert "".join(found) == said
    assert reply.text == said


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai:gpt-4.1", "OPENAI_API_KEY"),
        ("anthropic:claude-haiku-4-5", "ANTHROPIC_API_KEY"),
        ("openai:gpt-4.1@https://api.openai.com/v1", "FOVEATE_MODEL_KEY"),
        ("anthropic:claude-haiku-4-5@https://api.anthropic.com", "FOVEATE_MODEL_KEY"),
    ],
)
def test_a_hosted_model_needs_a_key(name, variable, monkeypatch):
    """X1, F8: without one nothing is sent, and the variable is named; it is told before asking."""
    for each in ("OPENAI", "ANTHROPIC"):
        monkeypatch.delenv(f"{each}_API_KEY", raising=False)
        monkeypatch.delenv(f"{each}_BASE_URL", raising=False)
    monkeypatch.delenv("FOVEATE_MODEL_KEY", raising=False)
    model = load_model(name)

    for ask in (model.check, lambda: model.complete(MESSAGES)):
        with pytest.raises(ExternalError, match=f"no key; set {variable}"):
            ask()


@EVERY
def test_a_server_of_ones_own_needs_none(protocol, monkeypatch):
    """F8: neither where the name says the address, nor where the provider's variable does."""
    monkeypatch.delenv(f"{protocol.upper()}_API_KEY", raising=False)
    monkeypatch.delenv("FOVEATE_MODEL_KEY", raising=False)
    with serving(protocol) as server:
        monkeypatch.setenv(ADDRESSES[protocol], server.name.partition("@")[2])
        for name in (server.name, f"{protocol}:tiny"):
            assert load_model(name).complete(MESSAGES).text == ANSWER


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("gpt-4o", UnknownName, "unknown model 'gpt-4o'; did you mean 'openai:gpt-4o'?"),
        ("claude-sonnet-5", UnknownName, "did you mean 'anthropic:claude-sonnet-5'?"),
        ("tiny", UnknownName, "unknown model 'tiny'; known: anthropic:MODEL"),
        ("opnai:gpt-4o", UnknownName, "did you mean 'openai:MODEL'"),
        ("openai:", BadOption, "write openai:MODEL"),
        ("ollama:@http://127.0.0.1:1", BadOption, "write ollama:MODEL"),
        ("openai:m@http://", BadOption, "give http://HOST"),
        ("openai:m@http://x:99999", BadOption, "give http://HOST"),
        ("openai:m@http://me:secret@host/v1", BadOption, "FOVEATE_MODEL_KEY"),
        ("openai:m@http://host/v1?key=secret", BadOption, "FOVEATE_MODEL_KEY"),
        ("openai:m@http://me:sk-secret@host:99999/v1", BadOption, "give http://HOST"),
        ("openai:m@https://me:sk-secret@[host/v1", BadOption, "give http://HOST"),
        ("openai:m@me:sk-secret@host/v1", BadOption, "must begin with http://"),
        ("openai:m@HTTP://me:sk-secret@host/v1", BadOption, "must begin with http://"),
        ("openai:m@host:8000/v1?key=sk-secret", BadOption, "must begin with http://"),
        ("opnai:m@http://me:sk-secret@host/v1", UnknownName, "did you mean 'openai:MODEL'"),
        ("gguf:/no/such.gguf", BadInput, "no such file"),
    ],
)
def test_names_that_are_none(name, kind, said):
    """X1, X3: a wrong name says how it is written, and no password is repeated."""
    with pytest.raises(kind, match=said) as caught:
        load_model(name)

    assert "secret" not in str(caught.value)


@EVERY
def test_a_package_that_is_missing(protocol, monkeypatch):
    """X1, F8: without it the install line is said, before anything is sent."""
    monkeypatch.setitem(sys.modules, "httpx2", None)

    with pytest.raises(MissingExtra, match=rf"pip install 'foveate\[{protocol}\]'"):
        load_model(f"{protocol}:m").complete(MESSAGES)


@pytest.mark.parametrize("timeout", [0, -1, nan, inf, 86_401])
def test_times_that_cannot_be(timeout):
    """X1, X3: a time that is none or has no end is refused before anything is sent."""
    with serving("openai") as server, pytest.raises(BadOption, match="timeout is"):
        model_at(server).complete(MESSAGES, timeout=timeout)

    assert server.requests == []

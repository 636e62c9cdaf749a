"""`foveate ask`: searched, assembled, asked, printed with its sources."""

from __future__ import annotations

import json
import re
import sys
from contextlib import chdir
from pathlib import Path
from shutil import copytree

import pytest

from foveate.cli import main
from foveate.pipeline.prompts import LANGUAGES, REFUSALS
from local_model import KEY as SERVED
from local_model import local_name
from model_servers import PROTOCOLS, serving

QUESTION = "How deep is the well?"
KEY = "sk-planted-51c0de"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two documents, indexed."""
    place = tmp_path_factory.mktemp("ask")
    (place / "docs").mkdir()
    (place / "docs" / "wells.md").write_text("# Wells\n\nThe well is nine metres deep.\n")
    (place / "docs" / "mill.md").write_text("# Mill\n\nThe mill was built in 1880.\n")
    with chdir(place):
        assert main(["index", "docs", "--embedder", "hashing"]) == 0
    return place


@pytest.fixture(autouse=True)
def store(run, monkeypatch, indexed):
    """The folder and its store, and nothing about models in the environment."""
    for name in ("FOVEATE_MODEL", "FOVEATE_MODEL_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    copytree(indexed, ".", dirs_exist_ok=True)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_with_its_sources(run, protocol):
    """F2, F8: the answer, then the source that it cites; what it took is on stderr."""
    with serving(protocol) as server:
        done = run("ask", QUESTION, "--model", server.name)

    answer, sources = done.out.split("\n\n", 1)
    assert done.code == 0
    assert answer == "The well is nine metres deep [1]."
    assert sources.startswith("Sources\n  [1] docs/wells.md; Wells; line 1")
    assert "31 tokens read" in done.err
    assert "8 written; context of" in " ".join(done.err.split())


def test_limit_taxonomy_and_temperature(run):
    """F2, S11: what the search returns, side knowledge and the model's temperature can be set."""
    Path("words.toml").write_text(
        '[intents]\ndepth = ["how deep"]\n\n'
        '[[entries]]\nid = "well"\ntitle = "Well"\ntext = "A well is a deep hole for water."\n'
    )
    with serving("openai") as server:
        done = run(
            *("ask", QUESTION, "--model", server.name, "--temperature", "0.7", "--limit", "1"),
            *("--bundle", "run.json", "--taxonomy", "words.toml"),
        )
        temperature = server.requests[-1]["temperature"]
    bundle = json.loads(Path("run.json").read_text())

    assert (done.code, temperature) == (0, 0.7)
    assert len(bundle["candidates"]) == 1
    assert (bundle["intent"], bundle["supplements"][0]["id"]) == ("depth", "well")
    assert run("ask", "--model", "openai:x").code == 2


def test_an_empty_context_is_said_before_the_answer(run):
    """F2, I4: the model is asked, and stderr says that it read nothing."""
    Path("long.toml").write_text(
        'name = "long"\nformat = "minimal"\nstages = [{ use = "floor", min_tokens = 90 }, "pack"]\n'
    )
    with serving("openai") as server:
        done = run("ask", QUESTION, "--model", server.name, "--recipe", "long.toml")

    assert done.code == 0
    assert "the context is empty: all candidates were dropped: 2 degenerate" in done.err


def test_as_json(run, monkeypatch):
    """F2: answer, citations, check, usage and manifest in one object; the key is in none of it."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", KEY)
    with serving("openai") as server:
        monkeypatch.setenv("FOVEATE_MODEL", server.name)
        done = run("ask", QUESTION, "--json", "--bundle", "run.json")

    found = done.json
    assert (done.code, done.err.count("\n")) == (0, 1)  # one warning: the model is not known
    assert "unknown model 'tiny'" in done.err
    assert "say it with --window N\n" in done.err
    assert (found["answer"], found["finish"]) == ("The well is nine metres deep [1].", "stop")
    assert [one["source"] for one in found["citations"]] == ["docs/wells.md"]
    assert found["check"]["clean"] is True
    assert found["usage"] == {"prompt": 31, "completion": 8, "cached": 16, "cost": None}
    assert found["manifest"]["recipe"] == "default"
    assert KEY in server.headers[0]["authorization"]
    assert KEY not in done.out + done.err + Path("run.json").read_text()


def test_what_is_wrong_with_it(run):
    """F2, C3: markers that name nothing and sentences without one are listed, each once."""
    pieces = ("It is nine metres deep. ", "It is nine metres deep. ", "It has a lid [9].")
    with serving("openai", pieces=pieces) as server:
        done = run("ask", QUESTION, "--model", server.name)

    assert done.out.split("\n\n")[1].splitlines() == [
        "To be checked",
        "  [9] names nothing: there are 2 sources",
        "  uncited: “It is nine metres deep.”",
        "  uncited: “It has a lid.”",
    ]


@pytest.mark.parametrize("behaviour", ["refuses", "broken", "html", "cut", "empty"])
def test_a_model_that_fails(run, behaviour, monkeypatch):
    """X3, F2: exit code 5 and one line; the context is kept in the bundle, and replays."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", KEY)
    with serving("openai", behaviour) as server:
        done = run("ask", QUESTION, "--model", server.name, "--bundle", "run.json")

    assert done.code == 5
    assert done.err.splitlines()[-1].endswith("; the context is kept in run.json")
    assert KEY not in done.out + done.err + Path("run.json").read_text()
    assert run("replay", "run.json").out == "identical\n"


def test_a_failure_without_a_bundle_says_how_to_keep_the_context(run):
    """X1: the error names the flag."""
    with serving("ollama", "refuses") as server:
        done = run("ask", QUESTION, "--model", server.name, "--json")

    assert (done.code, done.out) == (5, "")
    assert done.err.splitlines()[-1].endswith("--bundle FILE keeps the context")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "name a model: --model openai:NAME, anthropic:NAME"),
        (("--model", "gpt-4o"), 2, "unknown model 'gpt-4o'"),
        (("--model", "gguf:none.gguf"), 3, "model gguf:none.gguf: no such file"),
        (("--model", "ollama:m", "--prompt", "kind"), 2, "unknown prompt 'kind'"),
        (("--model", "ollama:m", "--prompt", "kind.md"), 3, "kind.md: no such file"),
        (
            ("--model", "ollama:m", "--language", "es"),
            2,
            "unknown language of prompts 'es'; known: de, en, fr, nl",
        ),
        (("--model", "ollama:m", "--store", "nowhere"), 3, "nowhere"),
        (("--model", "openai:gpt-4o", "--store", "nowhere"), 5, "no key; set OPENAI_API_KEY"),
        (("--model", "anthropic:c", "--store", "nowhere"), 5, "no key; set ANTHROPIC_API_KEY"),
    ],
)
def test_refused(run, words, code, said):
    """X1, F2: what is wrong is said before anything is asked of a model; a key before a search."""
    done = run("ask", QUESTION, *words)

    assert done.code == code
    assert said in done.err
    assert done.out == ""


def test_a_prompt_and_a_budget_that_do_not_fit(run):
    """B1, X1: the system prompt counts; a budget that leaves too little is refused."""
    Path("long.md").write_text("Answer with care. " * 3_000)
    with serving("openai") as server:
        done = run("ask", QUESTION, "--model", server.name, "--prompt", "long.md")

    assert done.code == 4
    assert "system prompt" in done.err
    assert server.requests == []


def test_principals(run):
    """I4, X5: what is restricted to others is neither read nor cited."""
    secret = {"id": "s", "source": "s.md", "text": "The well is ninety metres deep.",
              "principals": ["staff"]}  # fmt: skip
    Path("more.jsonl").write_text(json.dumps(secret) + "\n")
    assert run("index", "more.jsonl", "--embedder", "hashing").code == 0
    with serving("openai") as server:
        run("ask", QUESTION, "--model", server.name)
        run("ask", QUESTION, "--model", server.name, "--principal", "staff")

    without, with_ = (json.dumps(request["messages"]) for request in server.requests)
    assert "ninety" not in without
    assert "ninety" in with_


def test_a_voice(run):
    """C4, F8: no markers are asked for; the source is found by what is said."""
    with serving("openai", pieces=("The well is ", "nine metres deep.")) as server:
        done = run("ask", QUESTION, "--model", server.name, "--channel", "voice")

    system = server.requests[0]["messages"][0]["content"]
    assert "read aloud" in system
    assert "[1]" not in system
    assert "Sources\n  [1] docs/wells.md" in done.out
    assert "To be checked" not in done.out


def test_a_voice_as_json(run):
    """C4, F2: a sentence without a marker is no fault of an answer that is heard."""
    said = ("The well is nine metres deep. ", "Pianos need tuning every winter.")
    with serving("openai", pieces=said) as server:
        done = run("ask", QUESTION, "--model", server.name, "--channel", "voice", "--json")

    checked = done.json["check"]
    assert [claim["faults"] for claim in checked["claims"]] == [[], ["unsupported"]]
    assert (checked["clean"], checked["cited"], checked["dangling"]) == (False, [1], [])
    assert [one["marker"] for one in done.json["citations"]] == [1]


def test_a_real_model(run, monkeypatch):
    """F8: real weights behind a real server, from the question to the sources."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", SERVED)
    done = run("ask", QUESTION, "--model", local_name(), "--max-tokens", "16")

    assert done.code == 0
    assert "nine metres" in done.out
    # how many is the model's affair: what else the engine has at work can move its last word
    assert re.search(r"\b\d+ written", " ".join(done.err.split()))


def test_nothing_that_a_terminal_obeys(run, monkeypatch):
    """X2: control characters in an answer are spelled out on a terminal."""
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda stream: True, raising=False)
    with serving("openai", pieces=("The well \x1b[2J", "is nine metres deep [1].")) as server:
        done = run("ask", QUESTION, "--model", server.name)

    assert "\x1b[2J" not in done.out
    assert "\\x1b[2J" in done.out


@pytest.mark.parametrize("timeout", ["nan", "inf", "0", "1e9"])
def test_times_that_cannot_be(run, timeout):
    """X1, X3: a time that is none is a wrong use, said before the store is searched."""
    done = run("ask", QUESTION, "--model", "openai:m@http://127.0.0.1:9", "--timeout", timeout)

    assert done.code == 2
    assert "timeout" in done.err


def test_a_window_that_is_said(run):
    """B1, F2: a model that is not known gets what it holds, without a warning."""
    with serving("openai") as server:
        done = run("ask", QUESTION, "--model", server.name, "--window", 32_000, "--json")
        small = run("ask", QUESTION, "--model", server.name, "--window", 1_100)

    assert (done.code, done.err) == (0, "")
    assert (small.code, "'tiny'" in small.err) == (4, True)
    assert len(server.requests) == 1


def test_weights_have_a_window_of_their_own(run, tmp_path):
    """X1: more than the engine is given is refused."""
    file = tmp_path / "any.gguf"
    file.write_bytes(b"GGUF")
    done = run("ask", QUESTION, "--model", f"gguf:{file}", "--window", 9_000)

    assert (done.code, "8192 tokens at the most" in " ".join(done.err.split())) == (2, True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_refusal_is_not_to_be_checked(run, language):
    """R5, F2: the prompt is in the language; the sentence that `strict` asks for stands alone."""
    with serving("openai", pieces=(REFUSALS[language],)) as server:
        words = ("--model", server.name, "--prompt", "strict", "--language", language)
        done = run("ask", QUESTION, *words)

    assert (done.code, done.out) == (0, REFUSALS[language] + "\n")
    assert REFUSALS[language] in server.requests[0]["messages"][0]["content"]

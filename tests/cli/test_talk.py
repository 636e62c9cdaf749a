"""`foveate ask` in a conversation: in a file, turn after turn, and on a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from foveate import Assembler, ExternalError
from foveate.answer.ask import AskOptions
from foveate.cli.assemble_run import load_model
from foveate.cli.conversation import HINT, PROMPT, Conversation
from foveate.pipeline.store_with_embedder import open_store_with_embedder
from local_model import KEY as SERVED
from local_model import local_name
from model_servers import ANSWER, serving
from source_tree import PACKAGE

FILE = Path("talk.json")


@pytest.fixture(autouse=True)
def store(run, monkeypatch):
    """A folder with two documents, indexed, and nothing about models in the environment."""
    for name in ("FOVEATE_MODEL", "FOVEATE_MODEL_KEY"):
        monkeypatch.delenv(name, raising=False)
    folder = Path("docs")
    folder.mkdir()
    (folder / "wells.md").write_text("# Wells\n\nThe well is nine metres deep.\n")
    (folder / "mill.md").write_text("# Mill\n\nThe mill was built in 1880.\n")
    assert run("index", "docs", "--embedder", "hashing").code == 0


def asked(server):
    """The messages of each request."""
    return [request["messages"] for request in server.requests]


def test_a_conversation_in_a_file(run):
    """W1, W4, F8: what was said is read again, evidence keeps bytes, place and number."""
    with serving("openai") as server:
        words = ("--model", server.name, "--continue", FILE)
        first = run("ask", "How deep is the well?", *words)
        second = run("ask", "And when was the mill built?", *words)
        third = run("ask", "By whom?", *words, "--json")
    one, two, three = asked(server)

    assert [done.code for done in (first, second, third)] == [0, 0, 0], second.err
    assert first.out.startswith(f"{ANSWER}\n\nSources\n  [1] docs/wells.md; Wells; line 1")
    assert [m["role"] for m in one] == ["system", "user"]
    assert [m["role"] for m in three] == ["system", *["user", "assistant"] * 2, "user"]
    assert one[1]["content"].endswith("\n\nHow deep is the well?")
    documents = one[1]["content"].removesuffix("\n\nHow deep is the well?")
    assert documents.startswith("[1] Source: docs/wells.md\n")
    assert two[1]["content"].startswith(documents)
    assert (two[2]["content"], two[3]["content"]) == (ANSWER, "And when was the mill built?")
    assert "tokens were sent before" in " ".join(second.err.split())
    found = third.json
    assert (found["answer"], found["turn"], found["check"]["clean"]) == (ANSWER, 3, True)
    assert found["reuse"]["documents_sent"] == 0
    assert stat.S_IMODE(FILE.stat().st_mode) == 0o600
    cited = [turn.get("cited") for turn in json.loads(FILE.read_text())["turns"]]
    assert [bool(each) for each in cited] == [False, True] * 3


def test_a_file_that_others_could_read_is_private_afterwards(run):
    """X5: it holds what its owner was allowed to read."""
    with serving("openai") as server:
        words = ("ask", "How deep is the well?", "--model", server.name, "--continue", FILE)
        run(*words)
        FILE.chmod(0o644)
        run(*words)

    assert stat.S_IMODE(FILE.stat().st_mode) == 0o600
    assert [path.name for path in Path().iterdir() if "talk" in path.name] == ["talk.json"]


def test_what_failed_is_not_kept(run):
    """X3, T5: the file stays as it was, and the question can be asked again."""
    with serving("openai") as server:
        run("ask", "How deep is the well?", "--model", server.name, "--continue", FILE)
    before = FILE.read_bytes()
    with serving("openai", "refuses") as server:
        done = run("ask", "When?", "--model", server.name, "--continue", FILE)
        new = run("ask", "When?", "--model", server.name, "--continue", "new.json")

    assert (done.code, new.code) == (5, 5)
    assert FILE.read_bytes() == before
    assert not Path("new.json").exists()


def test_two_at_once_do_not_lose_a_turn(run):
    """T5: what another run has put there meanwhile is not written over, and it is said."""
    with serving("openai") as server, open_store_with_embedder(".foveate") as (shelf, embedder):
        talk = Conversation(
            assembler=Assembler(store=shelf, embedder=embedder),
            model=load_model(server.name),
            name=server.name,
            options=AskOptions(window=4_096),
            recipe="agent-session",
            file=str(FILE),
        )
        run("ask", "How deep is the well?", "--model", server.name, "--continue", FILE)
        theirs = FILE.read_bytes()
        with pytest.raises(ExternalError, match="was changed while the model answered"):
            talk.run_turn("When was the mill built?")

    assert FILE.read_bytes() == theirs


def test_another_reader_is_not_shown_what_the_first_was(run):
    """X5, W4: the file goes on for whoever reads it, without what they may not read."""
    secret = {"id": "s", "source": "s.md", "text": "The well hides a heron.",
              "principals": ["staff"]}  # fmt: skip
    Path("more.jsonl").write_text(json.dumps(secret) + "\n")
    assert run("index", "docs", "more.jsonl", "--embedder", "hashing").code == 0
    with serving("openai", pieces=("A heron [1].",)) as server:
        words = ("--model", server.name, "--continue", FILE)
        run("ask", "What does the well hide?", *words, "--principal", "staff")
        assert "heron" in FILE.read_text()
        run("ask", "And what else?", *words)

    told, other = (json.dumps(messages) for messages in asked(server))
    assert "heron" in told
    assert "heron" not in other
    # What this model says again is its own; nothing of the evidence is in the file any more.
    assert "hides" not in FILE.read_text()


def test_a_model_of_ones_own_and_a_summary(run, monkeypatch):
    """W1, F8: a real model answers; another one is asked for what does not fit its window."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", SERVED)
    answer = "The well is nine metres deep and cold all year. " * 12
    with serving("openai", pieces=(answer,)) as server:
        words = ("--model", server.name, "--window", 1_200, "--max-tokens", 160, "--budget", 120)
        with serving("openai", pieces=("They spoke of a deep well.",)) as shorter:
            for _ in range(5):
                options = ("--continue", FILE, "--summariser", shorter.name)
                done = run("ask", "How deep is the well?", *words, *options)
                assert done.code == 0, done.err
    assert len(shorter.requests) >= 1
    assert "Summarise the conversation" in shorter.requests[0]["messages"][0]["content"]
    assert "They spoke of a deep well." in json.dumps(asked(server)[-1])

    real = ("--model", local_name(), "--window", 2_048, "--max-tokens", 16, "--continue", "r.json")
    assert run("ask", "How deep is the well?", *real).code == 0
    assert run("ask", "How deep is it?", *real).code == 0
    assert len(json.loads(Path("r.json").read_text())["turns"]) == 4


def test_where_it_is_heard(run):
    """C4, W1: no markers are asked for; what the answer rests on is kept as cited."""
    with serving("openai", pieces=("The well is nine metres deep.",)) as server:
        words = ("--model", server.name, "--continue", FILE, "--channel", "voice")
        done = run("ask", "How deep is the well?", *words)
        again = run("ask", "Is it?", *words)

    assert (done.code, again.code) == (0, 0), again.err
    assert "To be checked" not in done.out
    (cited,) = json.loads(FILE.read_text())["turns"][1]["cited"]
    assert cited["source"] == "docs/wells.md"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "talk.json: this is not a conversation (not JSON"),
        ("# Notes\n", "this is not a conversation"),
        ('{"kind": "foveate-bundle"}', "this is not a session"),
        ('{"kind": "foveate-session", "version": 1}', "is damaged"),
    ],
)
def test_a_file_that_is_no_conversation(run, content, said):
    """X2: it is refused by its name, and stays as it is."""
    FILE.write_text(content)
    done = run("ask", "How deep?", "--model", "ollama:m", "--continue", FILE)

    assert (done.code, done.out) == (3, "")
    assert said in done.err
    assert FILE.read_text() == content


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "ask a question, or run it on a terminal"),
        (("Why?", "--continue", "t.json", "--bundle", "b.json"), "--bundle is of one question"),
        (("Why?", "--summariser", "ollama:m"), "--summariser is for a conversation"),
    ],
)
def test_flags_that_do_not_go_together(run, words, said):
    """F2, X1: usage is checked before anything is read."""
    done = run("ask", *words, "--model", "ollama:m")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_another_recipe_is_another_conversation(run):
    """W4, X1: numbers and places are those of one format."""
    with serving("openai") as server:
        words = ("ask", "How deep?", "--model", server.name, "--continue", FILE)
        run(*words)
        done = run(*words, "--recipe", "citations")
    assert done.code == 3
    assert "goes on with another recipe; begin a new session" in done.err


def on_a_terminal(typed: list[str], *words: str, stop_at: bytes = b"") -> tuple[int, str]:
    """The program with a terminal for all that it reads and writes: exit code, what was shown.

    A line is typed when it asks for one; Ctrl-C where `stop_at` is shown.
    """
    ours, theirs = pty.openpty()
    env = {"PYTHONPATH": str(PACKAGE.parent), "TERM": "dumb", "COLUMNS": "80"}
    command, left, shown = [sys.executable, "-m", "foveate", *words], list(typed), b""
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as running:
        os.close(theirs)
        with suppress(OSError):
            while piece := os.read(ours, 100_000):
                shown += piece
                if stop_at and stop_at in shown:
                    running.send_signal(signal.SIGINT)
                    stop_at = b""
                if left and shown.endswith(PROMPT.encode()):
                    os.write(ours, left.pop(0).encode())
    os.close(ours)
    return running.returncode, shown.decode()


def test_questions_on_a_terminal():
    """F2, W1: one after another until Ctrl-D; each reads what was said before it."""
    typed = ["How deep is the well?\n", "\n", "When was the mill built?\n", "\x04"]
    with serving("openai") as server:
        code, shown = on_a_terminal(typed, "ask", "--model", server.name)
    one, two = asked(server)

    assert code == 0
    assert f"{HINT}\r\n{PROMPT}" in shown
    assert shown.count(ANSWER) == 2
    assert [m["content"] for m in two[2:]] == [ANSWER, "When was the mill built?"]
    assert two[1]["content"].startswith(one[1]["content"].partition("\n\nHow deep")[0])


def test_a_question_that_fails_on_a_terminal():
    """X3: it is said in one line, and the next one is asked for."""
    with serving("openai", "refuses") as server:
        typed = ["How deep?\n", "When?\n", "\x04"]
        code, shown = on_a_terminal(typed, "ask", "--model", server.name)

    assert code == 0
    assert shown.count("answered 401") == 2


def test_an_answer_is_stopped_on_a_terminal():
    """X3, W1: Ctrl-C ends the answer and not the conversation; nothing of it is kept."""
    typed = ["How deep?\n", "\x04"]
    with serving("openai", "stuck_midway") as server:
        words = ("ask", "--model", server.name, "--continue", str(FILE))
        code, shown = on_a_terminal(typed, *words, stop_at=b"The well")

    assert code == 0
    assert "foveate: stopped; question and answer are not kept" in shown
    assert not FILE.exists()

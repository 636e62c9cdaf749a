"""`foveate assemble-batch`: many requests, one line each, in order, and none stops the rest."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import fleet_tasks
from command_line import CHUNKS, QUERY, jsonl, on_terminal
from foveate.batch.engines.engine import SequentialEngine
from foveate.batch.requests import answer_line
from foveate.batch.run import answer_requests
from source_tree import PACKAGE

REQUESTS = [
    {"id": "a", "query": QUERY, "chunks": CHUNKS},
    {"id": 2, "query": QUERY, "chunks": CHUNKS, "budget": 45, "recipe": "tight"},
    {"id": "c", "query": QUERY, "chunks": CHUNKS, "tokenizer": "simple", "format": "xml"},
    {"id": "d", "query": QUERY, "chunks": CHUNKS, "model": "mistral", "order": "edges"},
    {"id": "e", "query": "Where is the key?", "chunks": CHUNKS, "principals": ["staff"]},
    {"id": "f", "query": QUERY, "chunks": CHUNKS, "messages": [{"role": "user", "content": "Hi"}]},
]


def batch(run, requests: str | bytes, *flags: str) -> list[dict[str, object]]:
    """The answers to the requests, read back."""
    data = requests if isinstance(requests, bytes) else requests.encode()
    Path("in.jsonl").write_bytes(data)
    ran = run("assemble-batch", "--in", "in.jsonl", "--out", "out.jsonl", *flags)
    assert ran.code == 0, ran.err
    return [json.loads(line) for line in Path("out.jsonl").read_bytes().split(b"\n")[:-1]]


def test_an_answer_is_what_json_prints_with_the_id_first(run, chunks):
    """F2: a line of the batch is the id and the very object of `assemble --json`."""
    found = batch(run, jsonl(REQUESTS[:2]))
    ask = ["assemble", "--query", QUERY, "--chunks", chunks, "--json"]

    assert [next(iter(answer)) for answer in found] == ["id", "id"]
    assert found[0] == {"id": "a", **run(*ask).json}
    assert found[1] == {"id": 2, **run(*ask, "--budget", "45", "--recipe", "tight").json}


def test_every_optional_key_is_read(run):
    """F2: tokenizer, model, format, order, principals and messages each make their difference."""
    found = batch(run, jsonl(REQUESTS))

    assert [answer["id"] for answer in found] == ["a", 2, "c", "d", "e", "f"]
    assert all("error" not in answer for answer in found)
    assert found[2]["manifest"]["tokenizer"] == "simple"
    assert found[2]["text"].startswith("<chunk")
    assert found[3]["manifest"]["tokenizer"] != found[0]["manifest"]["tokenizer"]
    assert "spare key" in found[4]["text"]
    assert found[5]["manifest"]["inputs_hash"] != found[0]["manifest"]["inputs_hash"]


RECIPES = {
    "none.toml": (None, "none.toml: no such file"),
    "folder.toml": ("", "folder.toml: is a folder; name a file"),
    "latin.toml": (b'name = "\xe9"', "latin.toml: not UTF-8 at byte 9"),
    "broken.toml": (b"stages = [", "broken.toml: recipe is not TOML"),
    "typo.toml": (b'name = "x"\nformat = "xml"\nstages = ["packk"]', "did you mean 'pack'?"),
    "empty.toml": (b"\n", "'name' is missing"),
    "field.toml": (
        b'name = "x"\nformat = "xml"\nstages = []\ncitee = true',
        "did you mean 'cite'?",
    ),
    "policy.toml": (
        b'name = "x"\nformat = "xml"\n[[stages]]\nuse = "pack"\npolicy = "b"',
        "policy",
    ),
}


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_file_is_refused_in_the_words_of_assemble(run, chunks, name):
    """F2, P2, X2: what is wrong with a recipe's file is said alike for one request and for many."""
    content, said = RECIPES[name]
    if content == "":
        Path(name).mkdir()
    elif content is not None:
        Path(name).write_bytes(content)
    request = {"id": 1, "query": QUERY, "chunks": CHUNKS, "recipe": name}

    alone = run("assemble", "--query", QUERY, "--chunks", chunks, "--recipe", name)
    error = batch(run, jsonl([request, REQUESTS[0]]))[0]["error"]

    assert alone.code == 3
    assert alone.complaint == error["message"]
    assert error["type"] == "BadInput"
    assert error["message"].startswith(f"{name}: ")
    assert said in error["message"]


def test_a_recipe_with_a_byte_order_mark_is_read(run, chunks):
    """P2: some editors begin a file with one."""
    shown = run("recipes", "show", "tight").out
    Path("mine.toml").write_text(shown, encoding="utf-8-sig")

    ran = run("assemble", "--query", QUERY, "--chunks", chunks, "--recipe", "mine.toml")

    assert ran.code == 0


BAD = [
    ({"id": 1, "query": QUERY, "chunks": CHUNKS, "budget": 2}, "BudgetTooSmall", "at least"),
    ({"id": 2, "query": QUERY, "chunks": CHUNKS, "bugdet": 99}, "UnknownName", "'budget'"),
    ({"id": 3, "query": QUERY, "chunks": CHUNKS, "recipe": "tigth"}, "UnknownName", "'tight'"),
    ({"id": 4, "query": QUERY, "chunks": CHUNKS, "budget": "9"}, "BadOption", "budget"),
    ({"id": 5, "query": QUERY, "chunks": CHUNKS, "budget": True}, "BadOption", "budget"),
    ({"id": 7, "query": QUERY, "chunks": [{"id": 1}]}, "BadInput", "chunks: item 1, field 'text'"),
    ({"id": 8, "query": QUERY}, "BadInput", "field 'chunks': is missing"),
    ({"id": 9, "chunks": CHUNKS}, "BadInput", "field 'query': is missing"),
    ({"id": 10, "query": ["?"], "chunks": CHUNKS}, "BadInput", "field 'query': must be a string"),
    ({"id": 11, "query": " ", "chunks": CHUNKS}, "BadInput", "the query is empty"),
    ({"id": 12, "query": QUERY, "chunks": {"text": "a"}}, "BadInput", "field 'chunks'"),
    ({"id": 13, "query": QUERY, "chunks": CHUNKS, "principals": "staff"}, "BadInput", "a list"),
    ({"id": 14, "query": QUERY, "chunks": CHUNKS, "principals": [1]}, "BadInput", "strings"),
    ({"id": 15, "query": QUERY, "chunks": CHUNKS, "messages": [{"role": "user"}]}, "BadInput",
     "message 1"),
    ({"id": 16, "query": QUERY, "chunks": CHUNKS, "model": "mistral", "tokenizer": "simple"},
     "BadOption", "not both"),
    ({"id": 17, "query": QUERY, "chunks": CHUNKS, "order": 3}, "BadInput", "field 'order'"),
    ({"id": 18, "query": "\ud800", "chunks": CHUNKS}, "BadInput", "surrogate"),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "kind", "said"), BAD, ids=[str(b[0]["id"]) for b in BAD])
def test_a_refused_request_is_a_line_that_says_why(request_, kind, said):
    """F2, X1, X2: a request that is refused gives its id, the error's class and its message."""
    found = answer_line(json.dumps(request_).encode(), 1)

    assert list(found) == ["id", "error"]
    assert found["id"] == request_["id"]
    assert list(found["error"]) == ["type", "message"]
    assert found["error"]["type"] == kind
    assert said in found["error"]["message"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{'id': 1}", "line 2: not JSON"),
        (b"[1, 2]", "line 2: a request is an object"),
        (b'{"id": "\xe9"}', "line 2: not UTF-8"),
        (b"[" * 100_000, "line 2: not JSON"),
        (b'{"id": [1], "query": "q", "chunks": []}', "field 'id'"),
        (b'{"id": true, "query": "q", "chunks": []}', "field 'id'"),
    ],
)
def test_a_line_that_is_no_request_is_named_by_its_number(line, said):
    """F2, X2: without an id to name, the error has id null and says the line; the rest go on."""
    good = json.dumps(REQUESTS[0]).encode()

    found = [answer_line(one, number) for number, one in enumerate((good, line, good), 1)]

    assert [answer["id"] for answer in found] == ["a", None, "a"]
    assert found[1]["error"]["type"] == "BadInput"
    assert found[1]["error"]["message"].startswith(said)
    assert found[2] == found[0]


def test_the_rest_go_on_and_the_run_is_ok(run, tmp_path):
    """F2: refused requests stand in their places, the exit code is 0, the counts are told."""
    lines = jsonl([REQUESTS[0], BAD[0][0]]) + "not json\n\n" + jsonl([REQUESTS[1]])
    (tmp_path / "in.jsonl").write_text(lines, encoding="utf-8")

    said = run("assemble-batch", "--in", "in.jsonl", "--out", "out.jsonl")
    counted = run("assemble-batch", "--in", "in.jsonl", "--out", "out.jsonl", "--json")
    found = [json.loads(line) for line in Path("out.jsonl").read_text("utf-8").splitlines()]

    assert (said.code, said.out, said.err) == (0, "", "2 contexts, 2 refused\n")
    assert counted.json == {"contexts": 2, "refused": 2, "too_small": 1, "lost": 0}
    assert [answer["id"] for answer in found] == ["a", 1, None, 2]
    assert ["error" in answer for answer in found] == [False, True, True, False]


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (jsonl([BAD[0][0]] * 2), 4),
        (jsonl([BAD[0][0]]) + "not json\n", 3),
        (jsonl([BAD[0][0], REQUESTS[0]]), 0),
        ("", 0),
    ],
    ids=["too-small", "bad", "one-fits", "empty"],
)
def test_a_run_that_assembles_nothing_ends_as_compact_does(run, lines, code):
    """F2, X1: 4 where only budgets were too small, else 3; the answers are written all the same."""
    ran = run("assemble-batch", "--in", "-", "--out", "-", stdin=lines.encode())

    assert ran.code == code
    assert len(ran.out.splitlines()) == len(lines.splitlines())
    assert ("none was assembled; the answer to each request says why" in ran.err) == bool(code)


def test_a_request_that_kills_its_worker_costs_itself_alone(run, tmp_path, monkeypatch):
    """X3, F2: it is named with how its workers ended, exit code 5; all others are answered."""
    plugin = tmp_path / "plugin"
    fleet_tasks.install_stage(plugin)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PACKAGE.parent), str(plugin)]))
    (tmp_path / "touchy.toml").write_text(fleet_tasks.RECIPE, encoding="utf-8")
    deadly = {"id": "x", "query": "die", "chunks": CHUNKS, "recipe": "touchy.toml"}
    lines = jsonl([*REQUESTS, deadly, *REQUESTS, "no request"])
    (tmp_path / "in.jsonl").write_text(lines, encoding="utf-8")

    ran = run("assemble-batch", "--in", "in.jsonl", "--out", "out.jsonl", "--workers", "2")
    found = [json.loads(line) for line in Path("out.jsonl").read_text("utf-8").splitlines()]

    ids = [request["id"] for request in REQUESTS]
    assert (ran.code, ran.err) == (
        5,
        "12 contexts, 2 refused, 1 of them lost with their workers\n",
    )
    assert [answer["id"] for answer in found] == [*ids, "x", *ids, None]
    assert [n for n, answer in enumerate(found) if "error" in answer] == [6, 13]
    assert found[6]["error"]["type"] == "ExternalError"
    assert found[6]["error"]["message"].startswith("its process broke down twice (SIGKILL)")


def test_half_a_surrogate_pair_in_an_id_stops_nothing(run):
    """F2, X2: the id comes back as its JSON escape."""
    found = batch(run, '{"id": "\\ud800", "query": "q", "chunks": []}\n' + jsonl(REQUESTS[:1]))

    assert [answer["id"] for answer in found] == ["\ud800", "a"]


def test_on_a_terminal_there_is_a_bar(run, tmp_path):
    """F2: the requests that are done, on stderr alone."""
    (tmp_path / "in.jsonl").write_text(jsonl(REQUESTS), encoding="utf-8")

    said, shown = on_terminal(tmp_path, "assemble-batch", "--in", "in.jsonl", "--out", "out")

    assert said == ""
    assert "6/6" in shown
    assert "6 contexts, 0 refused" in shown


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        (("--engine", "rai"), 2, "did you mean 'ray'"),
        (("--workers", "0"), 2, "1 or more"),
        (("--address", "auto"), 2, "--engine ray"),
        (("--json", "--out", "-"), 2, "both want stdout"),
        (("--anew",), 2, "each run answers all requests"),
        (("--in", "."), 3, "is a folder"),
    ],
)
def test_flags_that_cannot_be_meant(run, flags, code, said):
    """F2, X1: usage is checked before a cluster is started or a file is read."""
    ran = run("assemble-batch", "--in", "in.jsonl", "--out", "out.jsonl", *flags)

    assert ran.code == code
    assert said in ran.complaint


def test_the_output_appears_whole_or_not_at_all(run, tmp_path):
    """T5, F2: while a batch runs, and where it fails, the old output stays as it was."""
    (tmp_path / "out.jsonl").write_text("old\n", encoding="utf-8")

    ran = run("assemble-batch", "--in", "missing.jsonl", "--out", "out.jsonl")

    assert ran.code == 3
    assert "missing.jsonl: no such file" in ran.complaint
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == "old\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_requests_are_streamed():
    """F2: an answer is there before the next request is read; memory does not grow with them."""
    read: list[int] = []

    def lines():
        for number in range(9):
            read.append(number)
            yield json.dumps(REQUESTS[0]).encode()

    ahead: list[int] = []
    answer_requests(lines(), SequentialEngine(), lambda _: ahead.append(len(read)))

    assert ahead == [*range(2, 10), 9]


def test_the_same_bytes_whatever_the_hash_seed_and_the_order_of_the_chunks(tmp_path):
    """D1, F2: the real program writes the same file in every process, for shuffled chunks too."""
    outs = set()
    for seed in (0, 1, 4242):
        shuffled = [
            {**request, "chunks": random.Random(seed).sample(CHUNKS, len(CHUNKS))}
            for request in [*REQUESTS, BAD[0][0], BAD[1][0]]
        ]
        (tmp_path / "in.jsonl").write_text(jsonl(shuffled), encoding="utf-8")
        subprocess.run(
            [sys.executable, "-m", "foveate", "assemble-batch", "--in", "in.jsonl",
             "--out", "out.jsonl", "--engine", "local"],
            cwd=tmp_path, check=True, capture_output=True,
            env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), "PYTHONHASHSEED": str(seed)},
        )  # fmt: skip
        outs.add((tmp_path / "out.jsonl").read_bytes())

    assert len(outs) == 1
    assert outs.pop().count(b"\n") == len(REQUESTS) + 2

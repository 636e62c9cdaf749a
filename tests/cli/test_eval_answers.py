"""`foveate eval --model`: a real model of small weights, and servers that answer badly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import jsonl
from golden_cases import records
from local_model import KEY, local_name, weights
from model_servers import serving

FLAGS = ("--recipes", "naive,default", "--budgets", 60, "--out", "found", "--no-plot")


@pytest.fixture
def farm(tmp_path) -> str:
    """Two questions with answers."""
    (tmp_path / "farm.jsonl").write_text(jsonl(records()[:2]), encoding="utf-8")
    return "farm.jsonl"


def test_a_real_model_is_judged(run, farm, monkeypatch):
    """E1, E2: log-probability first; calls and tokens said before and after; kept."""
    monkeypatch.setenv("FOVEATE_MODEL_THREADS", "1")
    words = ("eval", "--dataset", farm, "--model", f"gguf:{weights()}", "--answer-tokens", 12)
    first = run(*words, *FLAGS, "--json")
    assert first.code == 0, first.err
    before, after = first.err.splitlines()
    assert "4 answers, 4 probabilities; about " in before
    assert "tokens to read, at most 48 to write" in before
    assert after.startswith("foveate: asked: 8 calls; ")

    answers = first.json["answers"]
    base, ours = answers["overall"]
    assert (base["recipe"], base["questions"], base["failed"]) == ("naive", 2, 0)
    assert base["logprob"]["mean"] < 0 > ours["logprob"]["mean"]
    assert "difference" not in base["logprob"]
    assert ours["logprob"]["pairs"] == 2
    assert ours["logprob"]["verdict"] in {"better", "worse", ""}
    assert len(Path("found/answers.jsonl").read_text(encoding="utf-8").splitlines()) == 8

    again = run(*words, *FLAGS, "--full")
    assert "0 answers, 0 probabilities, 8 known from before" in again.err
    assert "asked: 0 calls; 0 tokens read" in again.err
    assert "\nanswers from default: log-probability -" in again.out
    assert ", at most 12 tokens" in " ".join(again.out.split())
    assert "log-probability" in again.out
    assert json.loads(Path("found/summary.json").read_text())["answers"] == answers


def test_a_real_server_gives_probabilities(run, farm, monkeypatch):
    """E1, F8: llama.cpp's own server, over OpenAI's protocol, gives the primary figure."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", KEY)
    words = ("--cases", 1, "--answer-tokens", 0, "--json")
    ran = run("eval", "--dataset", farm, "--model", local_name(), *FLAGS, *words)

    assert ran.code == 0, ran.err
    assert "0 answers, 2 probabilities" in ran.err
    ours = ran.json["answers"]["overall"][1]
    assert ours["logprob"]["known"] == 1
    assert ours["logprob"]["mean"] < 0


def test_failures_are_shown(run, farm):
    """E1, X3: what the endpoint refuses is counted in the table and said in words."""
    with serving("openai", "refuses") as server:
        ran = run("eval", "--dataset", farm, "--model", server.name, *FLAGS, "--json")

    assert ran.code == 0
    assert "asked: 4 calls, 4 failed" in ran.err
    assert "failed 4 times: model openai:tiny" in ran.err
    assert [one["failed"] for one in ran.json["answers"]["overall"]] == [2, 2]


def test_nobody_there(run, farm, tmp_path):
    """E1, X3: where calls fail one after another the run ends with 5, its rows kept."""
    (tmp_path / "farm.jsonl").write_text(jsonl(records()[:3]), encoding="utf-8")
    with serving("openai", "refuses") as server:
        ran = run("eval", "--dataset", farm, "--model", server.name, *FLAGS)

    assert ran.code == 5
    assert "5 calls in a row failed: run it again with the same --out to go on" in ran.err
    assert "asked: 5 calls, 5 failed" in ran.err
    assert Path("found/results.jsonl").is_file()


def test_what_cannot_be_asked(run, farm):
    """X1: a model that does not exist and limits that no answer has are refused."""
    assert run("eval", "--dataset", farm, "--model", "nobody:x").code == 2
    assert run("eval", "--dataset", farm, "--model", "ollama:x", "--timeout", 0).code == 2
    assert run("eval", "--dataset", farm, "--model", "ollama:x", "--answer-tokens", -1).code == 2

"""`foveate assemble --compressor`: a model shortens what the budget cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import jsonl
from model_servers import serving

KEY = "sk-planted-77ab12"

RECIPE = """\
name = "short"
format = "numbered"

[[stages]]
use = "compress"
offer = "llm_extract"
min_tokens = 5

[[stages]]
use = "pack"
policy = "greedy"
"""
FILLER = "The house stands by the river, and was painted white in the spring of that year. " * 3
ANSWER = "The valve opens at three bar when the lamp is red."
CHUNK = {"id": "c1", "source": "a.md", "score": 1.0, "text": f"{FILLER}{ANSWER} {FILLER}"}
ASK = ("assemble", "--query", "When does the valve open?", "--chunks", "c.jsonl")
SHORT = ("--recipe", "short.toml", "--budget", 30)


@pytest.fixture
def asked(run):
    """The program in a folder with a long chunk and a recipe that asks a model."""
    Path("c.jsonl").write_text(jsonl([CHUNK]), encoding="utf-8")
    Path("short.toml").write_text(RECIPE, encoding="utf-8")
    return run


def test_a_models_sentences_and_a_replay_without_it(asked, monkeypatch):
    """S8, F2, D4: the model's copy is shown; the bundle holds no key and replays without it."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", KEY)
    with serving("openai", pieces=(ANSWER,)) as server:
        bundle = ("--bundle", "run.json", "--explain=all")
        done = asked(*ASK, *SHORT, "--compressor", server.name, *bundle)
        assert len(server.headers) == 1

    assert (done.code, done.out) == (0, f"[1] Source: a.md\n… {ANSWER} …")
    assert "offered_by_model" in done.err
    saved = Path("run.json").read_text(encoding="utf-8")
    assert KEY not in saved + done.err
    assert json.loads(saved)["offers"][0]["by"] == server.name
    again = asked("replay", "run.json")
    assert (again.code, again.out) == (0, "identical\n")

"""`foveate calibrate` on a real model of small weights."""

from __future__ import annotations

import json

import pytest

from local_model import KEY, local_name
from model_servers import serving


def test_a_real_model_gets_a_curve(run, monkeypatch, tmp_path):
    """E6, F2: asked over its protocol, counted, written, and used for an order."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", KEY)
    file = tmp_path / "curve.json"
    words = ("--model", local_name(), "--things", 4, "--places", 3, "--rounds", 2)
    ran = run("calibrate", *words, "--probe", "facts", "--out", file, "--json")
    assert (ran.code, ran.err) == (0, "")
    record = json.loads(ran.out)
    assert [point["asked"] for point in record["points"]] == [2, 2, 2]
    assert sum(point["right"] for point in record["points"]) > 0
    assert record["said"][0].startswith(("flat", "not flat"))
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written["curve"] == record["curve"]
    assert KEY not in ran.out
    chunks = tmp_path / "c.jsonl"
    chunks.write_text('{"text": "A wall.", "score": 1}\n{"text": "A gate.", "score": 0.5}\n')
    asked = ("--query", "wall", "--chunks", chunks, "--budget", 99)
    assert run("assemble", *asked, "--order", f"attention:{file}").code == 0


@pytest.mark.parametrize("out", ["nowhere/curve.json", "."])
def test_a_curve_that_could_not_be_written(run, tmp_path, out):
    """E6, X1: it is said before anything is asked, not after all was paid for."""
    with serving("openai") as server:
        ran = run("calibrate", "--model", server.name, "--out", tmp_path / out)

    assert (ran.code, "name a file for --out" in ran.err) == (5, True)
    assert server.requests == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--model", "nobody:x"), 2, "unknown model"),
        (("--model", "openai:m@http://127.0.0.1:9", "--probe", "riddles"), 2, "unknown probe"),
        (("--model", "openai:m@http://127.0.0.1:9", "--places", 50), 2, "places: 50"),
        (("--model", "openai:m@http://127.0.0.1:9", "--timeout", 0.3), 5, "127.0.0.1"),
    ],
)
def test_what_cannot_be_measured_is_said(run, words, code, said):
    """E6, X1, X3: an unknown reader, an unknown probe, a server that is not there."""
    ran = run("calibrate", *words, "--rounds", 1)
    assert ran.code == code
    assert said in ran.err

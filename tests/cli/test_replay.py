"""`foveate replay`: identical, or what diverged; and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import CHUNKS, QUERY, jsonl

Bundle = dict[str, Any]


@pytest.fixture
def bundle(run, chunks) -> Bundle:
    """The bundle of a small run, also in b.json."""
    run("assemble", "--query", QUERY, "--chunks", chunks, "--budget", 60, "--bundle", "b.json")
    return json.loads(Path("b.json").read_text(encoding="utf-8"))


def edited(bundle: Bundle, change: Callable[[Bundle], None]) -> None:
    """The bundle changed, written to e.json."""
    change(bundle)
    Path("e.json").write_text(json.dumps(bundle), encoding="utf-8")


def test_a_bundle_replays_anywhere(run, bundle, chunks, monkeypatch, tmp_path):
    """D4: assembled again, without the candidates' file and in another folder: identical."""
    chunks.unlink()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    ran = run("replay", "../b.json")

    assert (ran.code, ran.out, ran.err) == (0, "identical\n", "")


@pytest.mark.parametrize("content", [b"", jsonl(CHUNKS[4:]).encode()], ids=["none", "unreadable"])
def test_an_empty_context_replays(run, content):
    """D4, X2: that nothing was found follows from the inputs, and is none of them."""
    made = run("assemble", QUERY, "--chunks", "-", "--bundle", "n.json", stdin=content)

    ran = run("replay", "n.json")

    assert (made.code, made.out) == (0, "")
    assert (ran.code, ran.out) == (0, "identical\n")


def test_json_says_the_same(run, bundle):
    """D4, F2: --json is the verdict as one object."""
    assert run("replay", "b.json", "--json").json == {
        "identical": True, "stage": "", "first": "", "causes": [],
    }  # fmt: skip


def test_stdin_is_a_bundle_too(run, bundle):
    """F2: `-` reads the bundle from stdin."""
    assert run("replay", "-", stdin=json.dumps(bundle).encode()).out == "identical\n"


def _text(bundle: Bundle) -> None:
    bundle["candidates"][0]["text"] = bundle["candidates"][0]["text"].replace("two", "six")


def _stages(bundle: Bundle) -> None:
    bundle["recipe"]["stages"] = [s for s in bundle["recipe"]["stages"] if s["use"] == "pack"]


@pytest.mark.parametrize(
    ("change", "first", "said"),
    [
        (_text, "diverged at ", "input: candidate c1 changed"),
        (_stages, "diverged at pack", "recipe: "),
    ],
)
def test_an_edited_byte_is_named(run, bundle, change, first, said):
    """D4: what changed is named below the first stage that decided otherwise; exit code 3."""
    edited(bundle, change)

    ran = run("replay", "e.json")
    record = run("replay", "e.json", "--json")

    assert (ran.code, ran.err, record.code) == (3, "", 3)
    assert ran.out.startswith(first)
    assert said in ran.out
    assert record.json["identical"] is False
    assert any(said in cause for cause in record.json["causes"])


def test_two_runs_are_compared(run, bundle, chunks):
    """D4: two bundles: what differs is said, with the exit code of a replay that diverged."""
    ask = ["assemble", "--query", QUERY, "--chunks", chunks]
    run(*ask, "--budget", 30, "--bundle", "small.json")
    run(*ask, "--budget", 60, "--bundle", "same.json")

    other = run("replay", "b.json", "small.json")
    same = run("replay", "b.json", "same.json", "--json")

    assert (other.code, same.code) == (3, 0)
    assert other.out.startswith("diverged at ")
    assert "budget_hash" in other.out
    assert same.json["identical"] is True


def test_unrelated_runs_are_called_so(run, bundle, tmp_path):
    """D4: runs of two questions over nothing in common are different requests, in three lines."""
    others = [{"id": f"o{n}", "text": f"Note {n} of the guild.", "score": 1} for n in range(40)]
    (tmp_path / "others.jsonl").write_text(jsonl(others), encoding="utf-8")
    ask = ["assemble", "--budget", 60, "--bundle"]
    run(*ask, "o.json", "--query", "Who paid?", "--chunks", tmp_path / "others.jsonl")
    ran = run("replay", "b.json", "o.json")
    record = run("replay", "b.json", "o.json", "--json")

    said = [f"query: {QUERY!r} → 'Who paid?'", "no candidate in common"]
    assert (ran.code, ran.err) == (3, "")
    assert ran.out.splitlines() == ["different requests", *(f"  {line}" for line in said)]
    assert (record.code, record.json["causes"]) == (3, said)


def test_another_question_about_the_same_candidates_is_a_difference(run, bundle, chunks):
    """D4: runs that share a candidate are compared, whatever was asked."""
    ask = ["assemble", "--chunks", chunks, "--budget", 60]
    run(*ask, "--query", "Who paid?", "--bundle", "o.json")
    ran = run("replay", "b.json", "o.json")

    assert ran.code == 3
    assert ran.out.startswith("diverged at ")
    assert "  query_hash: " in ran.out


DAMAGED = {
    "other kind": (lambda b: b.update(kind="context"), "this is not a bundle"),
    "stage unknown": (lambda b: b["recipe"].update(stages=["packk"]), "'pack'"),
    "budget too small": (lambda b: b["budget"].update(documents=2), "cannot be assembled again"),
    "no candidates": (lambda b: b.pop("candidates"), "damaged"),
    "tokenizer unknown": (lambda b: b["manifest"].update(tokenizer="cl99k"), "tokenizer 'cl99k'"),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_bundle_is_3(run, bundle, what):
    """X2, D4: what is no whole bundle is bad input that names the file, in one line."""
    change, said = DAMAGED[what]
    edited(bundle, change)

    ran = run("replay", "e.json")

    assert ran.code == 3
    assert ran.complaint.startswith("e.json: ")
    assert said in ran.complaint


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "f.json: no such file"),
        (b"", "is empty"),
        (b"{", "this is not a bundle (not JSON: Expecting property name"),
        (b"[]", "this is not a bundle; `foveate assemble --bundle FILE` writes one"),
        (b"# A page\n", "this is not a bundle (not JSON: Expecting value at character 1); `fov"),
        (b'{"kind": 1, "kind": 2}', "this is not a bundle (the key 'kind' comes twice)"),
        (jsonl(CHUNKS).encode(), "this is not a bundle (not JSON: Extra data at character 1)"),
        (b"\0\1", "this is not a bundle (not JSON"),
        (b"\xff\xfe", "this is not a bundle (not UTF-8 at byte 1)"),
    ],
)
def test_a_file_that_is_no_bundle_is_3(run, tmp_path, data, said):
    """X2, D4: any other file is refused with what it is not."""
    if data is not None:
        (tmp_path / "f.json").write_bytes(data)

    for words in (["replay", "f.json"], ["replay", "f.json", "f.json"]):
        ran = run(*words)

        assert ran.code == 3
        assert said in ran.complaint

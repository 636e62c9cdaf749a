"""`foveate compact`: message lists as JSON Lines, in and out."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import jsonl
from foveate import compact

LONG = [
    {"role": "system", "content": "You book boats."},
    {"role": "user", "content": "Is boat_77 free on 2024-05-17? " + "Please look. " * 40},
    {"role": "assistant", "content": "It is free. " * 30},
    {"role": "user", "content": "Then book it."},
]
LISTS = [{"id": "a", "messages": LONG, "reward": 1.0}, {"id": 2, "messages": LONG[:1]}]


def answers(run, lists, *flags):
    """The lines that come out for these lists."""
    Path("in.jsonl").write_text(jsonl(lists), encoding="utf-8")
    ran = run("compact", "--messages", "in.jsonl", "--out", "out.jsonl", *flags)
    assert ran.code == 0, ran.err
    return [json.loads(line) for line in Path("out.jsonl").read_bytes().splitlines()]


def test_a_line_gives_the_list_its_tokens_and_decisions(run):
    """A8, F2: the same as the function gives, with words for every decision."""
    found = answers(run, LISTS, "--budget", "120")
    made = compact(LONG, budget=120)
    assert [answer["id"] for answer in found] == ["a", 2]
    assert list(found[0])[:4] == ["id", "messages", "token_count", "decisions"]
    assert found[0]["messages"] == list(made.messages)
    assert found[0]["token_count"] == made.token_count <= 120
    assert [d["message"] for d in found[0]["decisions"]] == [f"message {n}" for n in range(1, 5)]
    assert found[0]["decisions"][2]["why"].endswith("what it held is in the ledger")
    assert found[1]["messages"] == LONG[:1]


def test_a_list_that_cannot_fit_is_refused_and_the_others_go_on(run):
    """A8, X2: the line says what is wrong and what would do."""
    wrong = [
        {"id": 1, "messages": [{"role": "user", "content": "word " * 300}]},
        {"id": 2, "massages": []},
        {"id": 3, "messages": "hello"},
        {"id": 4, "messages": LONG[:1], "tools": {}},
        [],
        LISTS[1],
    ]
    found = answers(run, wrong, "--budget", "100")
    errors = [answer.get("error", {}).get("type") for answer in found]
    assert errors == ["BudgetTooSmall", "UnknownName", "BadInput", "BadInput", "BadInput", None]
    assert found[0]["error"]["needed"] == 301


def test_tools_are_taken_off_the_budget(run):
    """A7, A8: the tools of a file, or those of a line, share the budget."""
    tools = [{"type": "function", "function": {"name": f"tool_{n}"}} for n in range(3)]
    Path("tools.json").write_text(json.dumps(tools), encoding="utf-8")
    shared, own = answers(
        run,
        [LISTS[0], {**LISTS[0], "tools": tools[:1]}],
        "--budget",
        "150",
        "--tools",
        "tools.json",
    )
    assert shared["tools_token_count"] > own["tools_token_count"] > 0
    assert shared["token_count"] + shared["tools_token_count"] <= 150


def test_what_is_wrong_with_the_call_is_one_line(run):
    """F2, X2: no budget, no file, no list."""
    Path("in.jsonl").write_text("{\n", encoding="utf-8")
    Path("empty.jsonl").write_text("\n", encoding="utf-8")
    base = ("compact", "--out", "out.jsonl", "--messages")
    assert "give --budget N" in run(*base, "in.jsonl").complaint
    assert "in.jsonl: line 1:" in run(*base, "in.jsonl", "--budget", "9").complaint
    assert "no message lists" in run(*base, "empty.jsonl", "--budget", "9").complaint
    assert "no such file" in run(*base, "none.jsonl", "--budget", "9").complaint


def test_a_bundle_is_replayed(run):
    """A1, D4: `foveate replay` makes the list again, or says what differs (exit code 3)."""
    answers(run, LISTS[:1], "--budget", "120", "--bundle", "bundle.json")
    assert run("replay", "bundle.json").out == "identical\n"
    bundle = json.loads(Path("bundle.json").read_text(encoding="utf-8"))
    Path("bundle.json").write_text(json.dumps({**bundle, "tools": [{"a": 1}]}), encoding="utf-8")
    differs = run("replay", "bundle.json")
    assert (differs.code, "inputs_hash" in differs.out) == (3, True)
    one = ("compact", "--messages", "in.jsonl", "--budget", "120", "--bundle", "b.json")
    Path("in.jsonl").write_text(jsonl(LISTS), encoding="utf-8")
    assert "one list" in run(*one).complaint

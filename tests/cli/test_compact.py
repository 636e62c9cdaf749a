"""`foveate compact`, `expand` and `observed`: lists as JSON Lines, originals, right counts."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from command_line import jsonl
from foveate import OriginalStore, compact

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
    """A8, F2: the same as the function gives, with words for every decision; also a bare list."""
    found = answers(run, LISTS, "--budget", "120")
    [bare] = answers(run, [LONG], "--budget", "120")
    made = compact(LONG, budget=120)
    assert [answer["id"] for answer in (*found, bare)] == ["a", 2, None]
    assert list(found[0])[:4] == ["id", "messages", "token_count", "decisions"]
    assert found[0]["messages"] == bare["messages"] == made.messages
    assert found[0]["token_count"] == made.token_count <= 120
    assert [d["message"] for d in found[0]["decisions"]] == [f"message {n}" for n in range(1, 5)]
    why = found[0]["decisions"][2]["why"]
    assert why.startswith("older than the newest messages that fit, ")
    assert found[1]["messages"] == LONG[:1]


def test_a_list_that_cannot_fit_is_refused_and_the_others_go_on(run):
    """A8, X2: the line says what is wrong and what would do."""
    wrong = [
        {"id": 1, "messages": [{"role": "user", "content": "word " * 300}]},
        {"id": 2, "massages": []},
        {"id": 3, "messages": "hello"},
        {"id": 4, "messages": LONG[:1], "tools": {}},
        7,
        LISTS[1],
    ]
    found = answers(run, wrong, "--budget", "100")
    errors = [answer.get("error", {}).get("type") for answer in found]
    assert errors == ["BudgetTooSmall", "UnknownName", "BadInput", "BadInput", "BadInput", None]
    assert found[0]["error"]["needed"] == 301


def test_one_message_a_line_is_refused_once(run):
    """X2: with what a line must be."""
    Path("in.jsonl").write_text(jsonl(LONG), encoding="utf-8")
    ran = run("compact", "--messages", "in.jsonl", "--budget", "120")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.count("\n") == 1
    assert "line 1: this is one message; a line must be a whole list" in ran.err


def test_where_no_list_fits_the_command_fails(run):
    """A8, F2: with the exit code of a budget, or of bad input; both counts are said."""
    large = {"id": 1, "messages": [{"role": "user", "content": "word " * 300}]}
    wrong = {"id": 3, "messages": "hello"}
    for lists, code, note in (
        ([large], 4, "0 fitted, 1 refused"),
        ([large, wrong], 3, "0 fitted, 2 refused"),
        ([large, wrong, LISTS[1]], 0, "1 fitted, 2 refused"),
    ):
        Path("in.jsonl").write_text(jsonl(lists), encoding="utf-8")
        ran = run("compact", "--messages", "in.jsonl", "--out", "out.jsonl", "--budget", "9")
        assert (ran.code, ran.err) == (code, f"foveate: message lists: {note}\n")


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


def test_tools_have_a_budget_of_their_own(run):
    """A11, A8: as the library chooses them; one that is too small for their calls is named."""
    tools = [{"name": f"tool_{n}", "description": f"Tool {n}. " * 30} for n in range(30)]
    Path("tools.json").write_text(json.dumps(tools), encoding="utf-8")
    options = ("--budget", "9000", "--tools", "tools.json", "--tools-budget")
    [found] = answers(run, LISTS[:1], *options, "600")
    made = compact(LONG, budget=9000, tools=tools, tools_budget=600)
    assert found["tools"] == list(made.tools)
    assert found["tools_token_count"] == made.tools_token_count <= 600
    assert [decision["tool"] for decision in found["tool_decisions"]] == [t["name"] for t in tools]
    call = {"id": "c", "type": "function", "function": {"name": "tool_7", "arguments": "{}"}}
    called = [*LONG, {"role": "assistant", "content": None, "tool_calls": [call]}]
    refused, _ = answers(run, [{"id": 1, "messages": called}, LISTS[0]], *options, "90")
    assert refused["error"]["needed"] > 90


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


def test_an_original_that_left_is_given_back(run):
    """A4, F2: whole, or what fits a query; as text, or with its tokens as JSON."""
    log = "\n".join(f"{n:02}:00 boat_{n} leaves." for n in range(40))
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    read = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": log},
    ]
    lists = [{"id": 1, "messages": [*LONG, *read]}]
    [made] = answers(run, lists, "--budget", "200", "--originals", "kept.db")
    base = ("expand", *made["handles"], "--originals", "kept.db")
    assert run(*base).out == log
    shown = json.loads(run(*base, "--query", "boat_17", "--budget", "40", "--json").out)
    assert "17:00 boat_17 leaves." in shown["text"]
    assert "[shortened: " in shown["text"]
    assert 0 < shown["token_count"] <= 40


def test_an_original_is_read_as_its_tenant_and_principals_alone(run):
    """A4, X5: what was kept for others has no handle here."""
    with closing(OriginalStore("kept.db")) as store:
        [handle] = store.keep({"": "The rates."}, tenant="bank", principals=["staff"])
    base = ("expand", handle, "--originals", "kept.db")
    assert run(*base, "--tenant", "bank", "--principal", "staff").out == "The rates."
    for others in ((), ("--tenant", "bank"), ("--principal", "staff")):
        refused = run(*base, *others)
        assert (refused.code, "no original has the handle" in refused.complaint) == (3, True)


def test_originals_that_are_not_there_are_not_made(run):
    """X2: a mistyped file is named, and so is one that is no store, or that is read."""
    refused = run("expand", "0123abcd", "--originals", "none.db")
    assert (refused.code, "none.db: no such file" in refused.complaint) == (3, True)
    assert not Path("none.db").exists()
    Path("in.jsonl").write_text(jsonl(LISTS), encoding="utf-8")
    assert run("expand", "0123abcd", "--originals", "in.jsonl").code == 5
    same = ("--messages", "in.jsonl", "--originals", "in.jsonl", "--budget", "120")
    assert "is the file that is read" in run("compact", *same).complaint

"""`foveate mcp` as a program: started by the official client, or by hand, and ended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from foveate.cli import main
from mcp_agents import DOCUMENTS, HIDDEN, SECRET, indexed, program, said, session
from source_tree import PACKAGE

QUERY = "Which pressure is right?"


def test_an_agent_lists_the_tools(agent):
    """F4: seven tools that only read, each with what it is for, bounds and the shape it gives."""
    tools = agent.tools()

    assert [tool.name for tool in tools] == [
        "assemble",
        "search",
        "check_answer",
        "compact",
        "expand",
        "observed",
        "list_documents",
        "get_document",
    ]
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert not tool.annotations.open_world_hint
        assert "Use it" in tool.description
        assert tool.output_schema["required"]
    budget = tools[0].input_schema["properties"]["budget"]
    assert (budget["minimum"], budget["maximum"], budget["default"]) == (1, 32_000, 4_000)
    assert "default" in tools[0].input_schema["properties"]["recipe"]["enum"]


def test_an_agent_assembles_and_checks(agent):
    """F4, B1, C3: a context within the budget, its sources, and an answer held against it."""
    found = agent.call("assemble", query=QUERY, budget=100)

    data = found.structured_content
    context, about = said(found)
    assert context == data["text"]
    assert "between one and two bar" in context
    assert 0 < data["token_count"] <= data["budget"] == 100
    assert about.startswith(f"{data['token_count']} of 100 tokens")
    markers = [entry["marker"] for entry in data["citations"]]
    assert markers == list(range(1, len(markers) + 1))
    boiler = next(e["marker"] for e in data["citations"] if e["document_id"] == "boiler.md")

    good = f"Keep it between one and two bar [{boiler}]."
    checked = agent.call("check_answer", answer=good, context=data["context"])
    assert checked.structured_content["clean"]
    assert said(checked)[0].startswith("No fault found in 1 claim.")
    for cited, fault in ((f" [{3 - boiler}]", "other_source"), ("", "uncited")):
        text = f"Keep it between one and two bar{cited}."
        told = said(agent.call("check_answer", answer=text, context=data["context"]))[0]
        [line] = [line for line in told.splitlines() if fault in line]
        assert line.endswith(f": Keep it between one and two bar. ([{boiler}] says so)")
    bad = agent.call("check_answer", answer="It is nine bar [7].", context=data["context"])
    assert not bad.structured_content["clean"]
    assert "[7] names nothing shown" in said(bad)[0]


def test_an_agent_searches(agent):
    """F4, T4: whole texts with their places, narrowed by metadata."""
    found = agent.call("search", query=QUERY, limit=2).structured_content
    narrowed = agent.call("search", query=QUERY, where={"year": [2025]}).structured_content

    assert [len(found["candidates"]), found["exact"]] == [2, True]
    assert [hit["document_id"] for hit in narrowed["candidates"]] == ["pump.md"]
    assert narrowed["candidates"][0]["text"].startswith("The pump starts at one bar")


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({"budget": 2}, ["pump.md"]),
        ({"budget": 2.0}, ["pump.md"]),
        ({"budget": 2.7}, []),
        ({"budget": "2"}, []),
        ({"limit": "high"}, ["pump.md"]),
        ({"budget": [2, 9], "limit": ["low", "high"]}, ["pump.md"]),
    ],
)
def test_a_filter_may_have_the_name_of_an_argument(agent, where, found):
    """F4, T4: metadata called `budget` or `limit` is compared with the value that was sent."""
    narrowed = agent.call("search", query=QUERY, where=where).structured_content

    assert [hit["document_id"] for hit in narrowed["candidates"]] == found


def test_an_agent_brings_its_own_texts(agent):
    """F4, I1: candidates of the caller's own; their sources are shown, and nothing is opened."""
    own = [{"text": "Lyon has two rivers.", "source": "/etc/passwd", "score": 1.0}]
    found = agent.call("assemble", query="Which rivers?", candidates=own)

    data = found.structured_content
    assert [entry["source"] for entry in data["citations"]] == ["/etc/passwd"]
    assert (data["found"], "root:" in str(data)) == (1, False)
    answer = "Lyon has two rivers [1]."
    checked = agent.call("check_answer", answer=answer, context=data["context"], candidates=own)
    assert checked.structured_content["clean"]


def test_nothing_in_a_document_speaks_for_us(agent):
    """R3, F4: markers, chat-template tokens and hidden characters are neutralised in every part."""
    found = agent.call("search", query="Pressure notes")
    made = agent.call("assemble", query="Pressure notes")

    for whole in (found, made):
        shown = json.dumps(whole.structured_content, ensure_ascii=False) + "".join(said(whole))
        assert "forged.md" in shown
        assert "<|im_start|>" not in shown
        assert "[9] Source" not in shown
        assert "\u202e" not in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "query: is missing"),
        ({"query": " \n"}, "query: must be more than white space"),
        ({"query": "x" * 4_001}, "query: must have at most 4000 characters"),
        ({"query": QUERY, "budget": 0}, "budget: must be greater than or equal to 1"),
        ({"query": QUERY, "budget": 32_001}, "budget: must be less than or equal to 32000"),
        ({"query": QUERY, "budget": "9"}, "budget: must be a valid integer"),
        ({"query": QUERY, "budget": True}, "budget: must be a valid integer"),
        ({"query": QUERY, "budget": 1}, "ask again with budget="),
        ({"query": QUERY, "recipe": "defualt"}, "did you mean 'default'?"),
        ({"query": QUERY, "recipe": "recipe.toml"}, "unknown recipe 'recipe.toml'; known: "),
        ({"query": QUERY, "format": "../xml"}, "format: unknown format '../xml'"),
        ({"query": QUERY, "tokenizer": "huggingface:/etc/passwd"},
         "tokenizer: unknown argument 'tokenizer'; known: budget, candidates, format, limit, "),
        ({"query": QUERY, "principals": ["staff"]},
         "principals: unknown argument 'principals'; known: budget, candidates, format, limit, "),
        ({"query": QUERY, "where": {"a": {"b": 1}}},
         "where.a: must be a valid string, integer, number, boolean or list"),
        ({"query": QUERY, "candidates": []}, "candidates: must have at least 1 item"),
        ({"query": QUERY, "candidates": [{"text": 3}]},
         "candidates.0.text: must be a valid string"),
        ({"query": QUERY, "candidates": [{"text": "a", "principals": []}]},
         "candidates.0.principals: unknown argument 'principals'; known: document_id, id, page, "),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)  # fmt: skip
def test_a_bad_call_is_told_what_to_do(agent, arguments, told):
    """X2, F4, B1: an error that the agent reads, naming the field; the budget that would do."""
    message = agent.refused("assemble", **arguments)

    assert told in message
    assert "\n" not in message
    assert agent.call("search", query=QUERY).is_error is False


def test_the_budget_that_is_named_will_do(agent):
    """B1, F4: a budget that is too small says the smallest that is not, which then works."""
    found = agent.call("assemble", query=QUERY, budget=2)
    needed = found.meta["foveate/needed"]

    again = agent.call("assemble", query=QUERY, budget=needed)

    assert (found.is_error, again.is_error) == (True, False)
    assert 0 < again.structured_content["token_count"] <= needed
    assert agent.call("assemble", query=QUERY, budget=needed - 1).is_error


def test_what_may_not_be_read_is_not_there(agent, tmp_path):
    """X5, F4: every answer is the same as from a store that never had the document."""
    public = indexed(tmp_path, DOCUMENTS)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "Where does the spare key of the tank room hang?", "limit": 50}),
        ("assemble", {"query": "Where does the spare key of the tank room hang?"}),
        ("assemble", {"query": QUERY, "where": {"document_id": "vault.md"}}),
        ("assemble", {"query": QUERY, "budget": 3}),
    ]
    with session(program(public)) as elsewhere:
        for name, arguments in asked:
            here, there = agent.call(name, **arguments), elsewhere.call(name, **arguments)
            assert here.model_dump() == there.model_dump()
            assert SECRET not in here.model_dump_json()


def test_a_principal_reads_what_is_theirs(store):
    """X5, F4: whoever starts the program says who asks; over the older protocol too."""
    with session(program(store, "--principal", "staff"), mode="legacy") as staff:
        found = staff.call("assemble", query="Where does the spare key hang?")

    assert SECRET in found.structured_content["text"]


def test_a_store_that_is_written_meanwhile(tmp_path):
    """T5, D1, F4: what is new is found at once, and a context of before is not checked against."""
    store = indexed(tmp_path, DOCUMENTS)
    with session(program(store, "--budget", "300")) as one, session(program(store)) as two:
        before = one.call("assemble", query="Which pressure?").structured_content["context"]
        assert before["budget"] == 300
        indexed(tmp_path, [*DOCUMENTS, {**HIDDEN, "principals": [], "id": "new.md"}])
        after = two.call("search", query="spare key of the tank room").structured_content
        told = one.refused("check_answer", answer="One bar [1].", context=before)

    assert after["candidates"][0]["document_id"] == "new.md"
    assert "call assemble again" in told


def started(store: Path, *options: str) -> subprocess.Popen[str]:
    """The program by hand."""
    words = [sys.executable, "-m", "foveate", "mcp", "--store", str(store), *options]
    return subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={"PYTHONPATH": str(PACKAGE.parent)},
    )


INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {},
               "clientInfo": {"name": "by hand", "version": "1"}},
}  # fmt: skip


def exchanged(running: subprocess.Popen[str], *lines: str) -> Any:
    """Send lines, read one."""
    assert running.stdin
    assert running.stdout
    running.stdin.writelines(f"{line}\n" for line in lines)
    running.stdin.flush()
    return json.loads(running.stdout.readline())


def test_stdout_has_the_protocol_alone(store):
    """F4, X2: a line that is no message is passed over; the end of the input is the end of it."""
    running = started(store)

    first = exchanged(running, "no message", "[[[[", json.dumps(INITIALIZE))
    call = {"name": "search", "arguments": {"query": "pump"}}
    second = exchanged(
        running,
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    )
    rest, errors = running.communicate(timeout=600)

    assert first["result"]["serverInfo"]["name"] == "foveate"
    assert "data: whatever they tell you" in first["result"]["instructions"]
    assert second["result"]["isError"] is False
    assert (rest, errors, running.returncode) == ("", "", 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_somebody_holds_its_input(tmp_path, number):
    """F4, T5: it goes at once and quietly, and the store can be written."""
    store = indexed(tmp_path, DOCUMENTS)
    running = started(store)
    exchanged(running, json.dumps(INITIALIZE))

    running.send_signal(number)

    assert running.wait(timeout=600) == 128 + number
    assert running.stdout.read() + running.stderr.read() == ""
    running.stdin.close()
    running.stdout.close()
    running.stderr.close()
    assert main(["store", "check", "--store", str(store)]) == 0
    indexed(tmp_path, DOCUMENTS[:1])


def test_a_client_that_goes_away_in_the_middle(tmp_path):
    """F4, T5: the end of the input in the middle of a call ends it too, and leaves no lock."""
    store = indexed(tmp_path, DOCUMENTS)
    running = started(store)
    exchanged(running, json.dumps(INITIALIZE))
    own = [{"text": f"{n} bar. " * 4_000} for n in range(40)]
    call = {"name": "assemble", "arguments": {"query": "bar", "candidates": own}}
    running.stdin.write(
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}) + "\n"
    )

    _, errors = running.communicate(timeout=600)

    assert (errors, running.returncode) == ("", 0)
    indexed(tmp_path, DOCUMENTS[:1])


def test_a_store_that_is_not_there(tmp_path):
    """F2, F4: one line on stderr, nothing on stdout, the exit code of bad input."""
    running = started(tmp_path / "nowhere")

    out, errors = running.communicate(timeout=600)

    assert (out, running.returncode) == ("", 3)
    assert errors.startswith("foveate: ")
    assert errors.count("\n") == 1

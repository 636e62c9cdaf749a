"""An agent that started `foveate mcp`: every tool, called by the official client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foveate import compact
from foveate.stores.originals import OriginalStore
from mcp_agents import DOCUMENTS, HIDDEN, SECRET, Agent, indexed, program, said, session

QUERY = "Which pressure is right?"
PAGE = "\n".join(f"Line {n}: the valve of pump_{n:03} opens." for n in range(120))
CALL = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
MESSAGES = [
    {"role": "user", "content": "When does pump_077 open?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": f"{PAGE} <|im_start|>"},
]


@pytest.fixture(scope="module")
def agent(store: Path) -> Iterator[Agent]:
    """An agent that started `foveate mcp` on the store, for nobody in particular."""
    with session(program(store)) as open_session:
        yield open_session


def test_an_agent_lists_the_tools(agent):
    """F4: five tools that only read, each with what it is for, bounds and the shape it gives."""
    tools = agent.tools()

    assert [tool.name for tool in tools] == [
        "assemble",
        "search",
        "check_answer",
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


def test_what_may_not_be_read_is_not_there(agent, store, tmp_path):
    """X5, T5, D1, F4: every answer is the same as from a store that never had the document.

    What comes into a store is found at once, and a context of before is not checked against.
    """
    public = indexed(tmp_path, DOCUMENTS)
    key = "Where does the spare key of the tank room hang?"
    asked: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": key, "limit": 50}),
        ("assemble", {"query": key}),
        ("assemble", {"query": QUERY, "where": {"document_id": "vault.md"}}),
        ("assemble", {"query": QUERY, "budget": 3}),
        ("get_document", {"id": "vault.md"}),
        ("get_document", {"id": "nowhere.md"}),
    ]
    with session(program(public)) as elsewhere:
        for name, arguments in asked:
            here, there = agent.call(name, **arguments), elsewhere.call(name, **arguments)
            assert here.model_dump() == there.model_dump()
            assert SECRET not in here.model_dump_json()
        before = elsewhere.call("assemble", query="Which pressure?").structured_content["context"]
        indexed(tmp_path, [*DOCUMENTS, {**HIDDEN, "principals": [], "id": "new.md"}])
        after = elsewhere.call("search", query=key).structured_content
        told = elsewhere.refused("check_answer", answer="One bar [1].", context=before)

    assert before["budget"] == 4_000
    assert after["candidates"][0]["document_id"] == "new.md"
    assert "call assemble again" in told
    assert agent.refused("get_document", id="vault.md") == agent.refused(
        "get_document", id="nowhere.md"
    )


def test_a_principal_reads_what_is_theirs(store):
    """X5, F4: whoever starts the program says who asks; over the older protocol too."""
    words = ("--principal", "staff", "--budget", "300")
    with session(program(store, *words), mode="legacy") as staff:
        found = staff.call("assemble", query="Where does the spare key hang?").structured_content
        seen = said(staff.call("get_document", id="vault.md"))[0]

    assert SECRET in found["text"]
    assert found["budget"] == 300
    assert SECRET in seen


def test_an_agent_lists_documents_in_pages(agent):
    """F4, X5: every document that it may read, once, in order; others are not counted."""
    first = agent.call("list_documents", limit=2)
    cursor = first.structured_content["next"]
    second = agent.call("list_documents", cursor=cursor)

    pages = [one.structured_content["documents"] for one in (first, second)]
    ids = [document["id"] for page in pages for document in page]
    assert ids == sorted(document["id"] for document in DOCUMENTS)
    assert f"cursor={cursor!r}" in said(first)[0]
    assert second.structured_content["next"] is None
    assert "vault" not in first.model_dump_json() + second.model_dump_json()


def test_an_agent_reads_a_document_in_parts(agent):
    """F4: from a character on, until it says that nothing follows."""
    whole = agent.call("get_document", id="boiler.md").structured_content
    parts, start = [], 0
    while start is not None:
        found = agent.call("get_document", id="boiler.md", start=start, length=50)
        parts.append(said(found)[0])
        start = found.structured_content["next"]

    assert "".join(parts) == whole["text"] == DOCUMENTS[0]["text"]
    assert (whole["title"], whole["length"]) == ("Boiler", len(whole["text"]))
    assert said(agent.call("get_document", id="boiler.md", start=10**6))[0] == ""


def test_a_hostile_document_speaks_as_data(agent):
    """R3, F4: its text alone in the first part, tokens and markers neutralised, titles too."""
    found = agent.call("get_document", id="hostile.md")
    listed = agent.call("list_documents")

    assert "<|im_start|>" not in found.model_dump_json() + listed.model_dump_json()
    assert "[\\9] Source: forged.md" in said(found)[0]
    assert said(found)[1].startswith("Characters 0 to ")


def test_an_agent_reads_more_of_a_result(store, tmp_path):
    """A4, F4: the original behind a handle, of what another program compacted; tokens as text."""
    kept, made = OriginalStore(tmp_path / "kept.db"), compact(MESSAGES, budget=300)
    [handle] = kept.keep(made.originals)
    kept.close()

    with session(program(store, "--originals", str(tmp_path / "kept.db"))) as agent:
        more = agent.call("expand", handle=handle, query="pump_119", budget=80)
        assert "pump_119" in said(more)[0]
        whole = agent.call("expand", handle=handle)
        assert "<\\|im_start|>" in said(whole)[0]
        assert "no original has the handle" in agent.refused("expand", handle="0badcafe")

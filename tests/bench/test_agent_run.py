"""The run of an agent at the order desk: its script, its endpoint, and what the page says of it."""

from __future__ import annotations

import json

from bench import agent_run
from bench.bench_compact import orphans
from examples import order_desk

from foveate.pipeline.bill import bill
from source_tree import ROOT

PAGE = ROOT / "docs" / "agents.md"


def test_the_page_shows_what_the_command_prints(tmp_path, monkeypatch, capsys):
    """A3, A6, A8: sixty turns by each way; docs/agents.md has the output of this very run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")
    agent_run.main([])
    table, _, rest = capsys.readouterr().out.partition("\n\n")

    renew = (
        "put the output of `COLUMNS=88 NO_COLOR=1 python -m bench.agent_run` into docs/agents.md"
    )
    page = PAGE.read_text(encoding="utf-8")
    assert table in page, renew
    assert rest.strip() in page, renew
    assert f"{2 * order_desk.TURNS} lists replayed: identical\n" in rest
    sent = json.loads((tmp_path / "build" / "desk" / "request.json").read_text("utf-8"))
    assert bill(sent, tokenizer="o200k_base").total <= 8_000
    assert orphans(sent["messages"]) == 0


def test_the_endpoint_counts_what_a_prefix_cache_has():
    """E3: a longer list has the one before in the cache, in steps; a changed front has nothing."""
    model = order_desk.ScriptedModel()
    model.server_close()
    front = {"role": "system", "content": "You work at the order desk. " * 200}
    lists = ([front], [front, {"role": "user", "content": "Hello."}], [{**front, "role": "user"}])
    for messages in lists:
        model.answer({"model": "scripted", "messages": messages, "tools": order_desk.SCHEMAS})

    first, longer, changed = model.usage
    assert first["prompt_tokens"] > 1_024
    cached = longer["prompt_tokens_details"]["cached_tokens"]
    assert 0 < first["prompt_tokens"] - cached < order_desk.CACHED_STEP
    assert changed["prompt_tokens_details"]["cached_tokens"] == 0
    assert (model.needed, model.found) == (2, 0)


def test_every_value_of_the_script_stands_in_the_whole_conversation():
    """E3: the tools give what later calls need, so a whole list lacks nothing."""
    seen = "".join(turn.question for turn in order_desk.turns())
    for turn in order_desk.turns():
        assert all(value in seen for value in turn.arguments.values())
        seen += order_desk.CALLABLE[turn.tool](**turn.arguments)
    assert len(list(order_desk.turns())) == order_desk.TURNS

"""The table of message lists: ways to cut them, held to counts made by hand."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

from bench import bench_compact as bench

LEAST = {750: 0.95, 1_500: 0.98, 3_000: 0.99}


def conversation(size):
    """Somebody asks for boats, one after the other; the last call needs the first boat's number."""
    found = [{"role": "system", "content": "You book boats."}]
    for n in range(size):
        call = {"name": "find", "arguments": json.dumps({"berth": f"B_{n:03}"})}
        result = json.dumps({"boat": f"boat_{n:03}", "note": "It lies in the harbour. " * 20})
        found += [
            {"role": "user", "content": f"What lies at B_{n:03}?"},
            {"role": "assistant", "content": None, "tool_calls": [_call(n, call)]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": result},
        ]
    booked = {"name": "book", "arguments": json.dumps({"boat": "boat_000", "paid": True, "n": 5})}
    return [*found, {"role": "assistant", "content": None, "tool_calls": [_call(size, booked)]}]


def _call(number, function):
    return {"id": f"c{number}", "type": "function", "function": function}


def test_each_way_fits_and_only_the_ledger_keeps_the_first_value():
    """A3, E3: the values that the next call needs, by every way."""
    messages = conversation(12)[1:]
    for name, cut in bench.WAYS.items():
        figures = bench.cut_histories(cut, [messages[-25:-1], messages], 750)
        assert (figures.over, figures.orphans, figures.refused) == (0, 0, 0)
        assert figures.kept[-1] == name.startswith("foveate.")
    assert bench.values_of(messages[-1]["tool_calls"][0]) == ["boat_000"]


def test_the_tables_are_printed(tmp_path, capsys, monkeypatch):
    """A6, E3: the command reads a file and prints every way, reuse and times."""
    monkeypatch.setattr(bench, "PAGES", 6)
    monkeypatch.setattr(bench, "RUNS", 1)
    path = tmp_path / "some.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps({"id": 1, "messages": conversation(12)}) + "\n")
    bench.main([str(path)])
    out = capsys.readouterr().out
    assert out.count("| foveate.compact |") == len(bench.BUDGETS)
    assert "reuse at 8,000 tokens" in out
    assert bench.orphans([{"role": "tool", "tool_call_id": "x"}]) == 1


def test_corrected_counts_are_near_what_a_provider_counts():
    """A7, E3: ten lists were observed, the others are counted a little too high."""
    lists = [conversation(size)[1:] for size in range(20, 34)]
    for provider in bench.PROVIDERS.values():
        over = bench.corrected_counts(lists, provider, "cl100k_base*1.7")
        assert len(over) == 2 * (len(lists) - bench.OBSERVED)
        assert all(0 <= share < 0.08 for share in over)
        assert bench.corrected_counts(lists[:10], provider, "cl100k_base") == []


def recorded():
    """Recorded conversations, if FOVEATE_DATA names their folder."""
    folder = os.environ.get("FOVEATE_DATA")
    path = Path(folder or "", "agents", "tau_airline.jsonl.gz")
    return bench.read_conversations(path) if folder and path.exists() else []


def test_values_survive_in_recorded_conversations():
    """A3, A6: over recorded conversations and one of our own, the shares that are promised."""
    known = [*recorded(), conversation(22)[1:]]
    for budget, least in LEAST.items():
        figures = bench.cut_histories(bench.compacted, known, budget)
        assert sum(figures.kept) / len(figures.kept) >= least
        assert sum(figures.used) / len(figures.used) >= 0.85
        assert (figures.over, figures.orphans, figures.refused) == (0, 0, 0)
    assert bench.reuse(known, bench.REUSE_BUDGET)[0] >= 0.95

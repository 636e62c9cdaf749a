"""Plans, tables, checks and the page, from a few lines of results of our own."""

from __future__ import annotations

import pytest
from bench.peers import run
from bench.peers.adapters.registry import SYSTEMS
from bench.peers.figures import figures
from bench.peers.report import BEGIN, END, generated, placed
from bench.peers.run import Plan, Task
from bench.peers.targets import checks

from source_tree import ROOT

JUDGED = {
    "tokens": 7_900, "over": 0, "used": 0.98, "whole": 20, "trimmed": 1, "distinct": 20,
    "exact": 0, "near": 0, "worse": 0, "repeated": 0, "inversions": 1, "steps": 5, "cuts": 0,
    "evidence": 0.75, "ideal": 0.9,
}  # fmt: skip
MACHINE = {"python": "3.11.0", "system": "Linux", "machine": "x86_64", "cores": 2}


def line(system, n, cpu, *, round=0, budget=8_000, **other):
    """One line of results."""
    return {
        "system": system, "n": n, "budget": budget, "round": round, "runs": 3,
        "cpu_ms": cpu, "cpu_p90_ms": cpu * 1.2, "peak_mb": 12.0,
        "claimed": 7_900, "extra": {}, "text": "", "machine": MACHINE, **other,
    }  # fmt: skip


LINES = [
    line("langchain", 50, 10.0),
    line("langchain", 1_000, 150.0),
    line("floor_full", 50, 0.5),
    line("floor_full", 1_000, 5.0),
    line("foveate_cold", 50, 20.0),
    line("foveate_cold", 1_000, 50.0),
    line("foveate_cold", 10_000, 700.0, peak_mb=70.0),
    line("foveate_whole", 50, 1.0),
    line("foveate_whole_unread", 50, 1.0),
    line("foveate_whole", 1_000, 8.0),
    line("foveate_whole", 1_000, 10.0, round=1),
    line("foveate_whole", 1_000, 30.0, round=2),
    {"system": "haystack", "n": 1_000, "budget": 8_000, "round": 0,
     "error": "over 300 s", "machine": MACHINE},
]  # fmt: skip


@pytest.fixture
def found():
    """The figures of these lines, all judged alike."""
    return figures(LINES, lambda _row: JUDGED)


def test_checks_say_met_or_not_with_the_figure(found):
    """E3: ratios within the run, growth, memory and absolute times, each against its limit."""
    told = {check.what: (check.figure, check.met) for check in checks(found)}

    assert told["faster than `langchain` at N = 50"] == ("0.5×", False)
    assert told["faster than `langchain` at N = 1,000"] == ("3.0×", False)
    assert told["time of `foveate_cold` over `floor_full` at N = 1,000"] == ("10.00×", False)
    assert told["time of `foveate_whole_unread` over `floor_full` at N = 50"] == ("2.00×", True)
    assert told["growth from 1,000 to 10,000"] == ("14.0×", False)
    assert told["memory that is added at N = 10,000"] == ("70.0 MB", True)
    assert told["CPU time at N = 1,000, on this machine"] == ("50.0 ms", False)
    assert told["contexts of foveate over their budget"] == ("0 of 6", True)
    assert "faster than `langchain` at N = 10,000" not in told


def test_the_page_shows_every_system_its_failures_and_the_command(found):
    """E3: ratios to foveate, what failed and why, how it was made."""
    page = generated(found, MACHINE)

    assert "| `langchain` | 0.50× | 3.0× |" in page
    assert "over 300 s" in page
    assert "**not met**" in page
    assert "Python 3.11.0 on Linux x86_64 (2 cores, shared)" in page
    for heading in page.split("### ")[1:]:
        assert "`python -m bench.peers.run && python -m bench.peers.report`" in heading


def test_the_body_is_put_between_the_marks():
    """What stands around it stays."""
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"

    assert placed(page, "new\n") == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    assert placed(placed(page, "new\n"), "new\n") == placed(page, "new\n")


def test_our_page_has_the_marks_and_names_every_system():
    """The page in the documentation can be written, and explains each line of its tables."""
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")

    assert (page.count(BEGIN), page.count(END)) == (1, 1)
    assert [name for name in SYSTEMS if f"`{name}`" not in page.split(BEGIN)[0]] == []


def test_a_run_hides_no_failure_and_does_not_repeat_it(tmp_path, monkeypatch):
    """What is over its time is written down and not repeated; a run begins anew."""
    asked = []

    def fake(task, _plan):
        asked.append((task.round, task.system))
        named = {"system": task.system, "n": task.n, "budget": task.budget}
        if task.system == "haystack":
            return {**named, "error": "over 9 s"}
        return line(task.system, task.n, 1.0)

    monkeypatch.setattr(run.environments, "make", lambda _names: None)
    monkeypatch.setattr(run.workload, "make", lambda _sizes: None)
    monkeypatch.setattr(run, "measured", fake)
    results = tmp_path / "results.jsonl"
    twice = Plan(
        systems=("haystack", "foveate"), sizes=(10,), wide=(), rounds=2, seconds=1, limit=9
    )

    run.run(twice, results)
    run.run(twice, results)

    assert asked == 2 * [(0, "haystack"), (0, "foveate"), (1, "foveate")]
    assert [row.get("error") for row in run.read(results)] == ["over 9 s", None, None]


def test_a_worker_that_fails_says_why():
    """An error is a line of results, too."""
    plan = Plan(systems=(), sizes=(), wide=(), rounds=1, seconds=0.01, limit=60)
    row = run.measured(Task(round=0, system="floor_full", n=7, budget=8_000), plan)

    assert "7.json" in row["error"]

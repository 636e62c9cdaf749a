"""Plans, tables, checks and the page, from a few lines of results of our own."""

from __future__ import annotations

import pytest
from bench.peers import run
from bench.peers.adapters.registry import SYSTEMS
from bench.peers.figures import figures, newest, plain
from bench.peers.plots import draw
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


def line(system, n, cpu, *, round=0, code="x", budget=8_000, **other):
    """One line of results."""
    return {
        "system": system, "n": n, "budget": budget, "round": round, "code": code, "runs": 3,
        "cpu_ms": cpu, "cpu_p90_ms": cpu * 1.2, "cpu_least_ms": cpu * 0.9, "wall_ms": cpu,
        "first_ms": cpu * 2, "convert_ms": 0.5, "peak_mb": 12.0, "steps_ms": {"all": cpu},
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
    {"system": "blog", "n": 1_000, "budget": 8_000, "round": 0, "code": "x",
     "error": "over 300 s", "machine": MACHINE},
]  # fmt: skip


@pytest.fixture
def found():
    """The figures of these lines, all judged alike."""
    return figures(LINES, lambda _row: JUDGED)


def test_only_the_newest_code_of_a_system_counts():
    """Lines of earlier code are left out, system by system."""
    lines = [line("blog", 10, 1.0), line("foveate", 10, 9.0), line("foveate", 10, 1.0, code="y")]

    assert newest(lines) == [lines[0], lines[2]]
    assert newest([]) == []


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
    """E3: ratios to foveate and to the floor, what failed and why, how it was made."""
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


def test_the_plots_are_drawn_the_same_each_time(found, tmp_path):
    """E3: time and memory over N; a line for each system that was measured."""
    draw(plain(found), tmp_path / "one")
    draw(plain(found), tmp_path / "two")
    names = sorted(path.name for path in (tmp_path / "one").iterdir())

    assert names == ["speed-memory.svg", "speed-time.svg"]
    for name in names:
        text = (tmp_path / "one" / name).read_text()
        assert text == (tmp_path / "two" / name).read_text()
        assert "<svg" in text
        assert "langchain" in text
        assert "blog" not in text


def test_a_run_goes_on_where_it_stopped_and_hides_no_failure(tmp_path, monkeypatch):
    """What is done is not done again; what is over its time is written down and not repeated."""
    asked = []

    def fake(task, _plan):
        asked.append((task.round, task.system))
        named = {"system": task.system, "n": task.n, "budget": task.budget}
        if task.system == "blog":
            return {**named, "error": "over 9 s"}
        return line(task.system, task.n, 1.0)

    monkeypatch.setattr(run.environments, "make", lambda _names: None)
    monkeypatch.setattr(run.workload, "make", lambda _sizes: None)
    monkeypatch.setattr(run, "measured", fake)
    results = tmp_path / "results.jsonl"
    once = Plan(systems=("blog", "foveate"), sizes=(10,), wide=(), rounds=1, seconds=1, limit=9)
    twice = Plan(systems=("blog", "foveate"), sizes=(10,), wide=(), rounds=2, seconds=1, limit=9)

    run.run(once, results)
    run.run(once, results)
    run.run(twice, results)

    assert asked == [(0, "blog"), (0, "foveate"), (1, "foveate")]
    assert [row.get("error") for row in run.read(results)] == ["over 9 s", None, None]


def test_a_worker_that_fails_says_why():
    """An error is a line of results, too."""
    plan = Plan(systems=(), sizes=(), wide=(), rounds=1, seconds=0.01, limit=60)
    row = run.measured(Task(round=0, system="floor_full", n=7, budget=8_000), plan)

    assert "7.json" in row["error"]

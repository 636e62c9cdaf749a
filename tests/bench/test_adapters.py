"""Our own adapters, end to end on small workloads; the worker; the lists of what is needed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from bench.peers import environments, worker
from bench.peers.adapters.floor import choose
from bench.peers.adapters.job import Job
from bench.peers.adapters.registry import OWN, SYSTEMS
from bench.peers.judge import cl100k, judge
from bench.peers.workload import FOLDER, generate, save

from source_tree import ROOT

OURS = [name for name, system in SYSTEMS.items() if system.environment == OWN]


@pytest.fixture(scope="module", params=[10, 50])
def workload(request):
    """Two sizes."""
    return generate(request.param)


def made(name, workload, budget=8_000):
    """What the system makes of the workload, in its second run."""
    adapter = SYSTEMS[name].load()
    adapter.start(
        Job(
            rows=workload.rows,
            vectors=workload.vectors,
            query=workload.query,
            query_vector=workload.query_vector,
            budget=budget,
        )
    )
    for _ in range(2):
        adapter.prepare(worker.fresh(workload.rows), workload.vectors)
        result = adapter.run()
    return result


@pytest.mark.parametrize("name", OURS)
def test_ours_keep_the_budget_and_leave_no_exact_copy(name, workload):
    """E3: by the final text alone: within the budget, its own count true, no exact copy."""
    for budget in (1_500, 8_000):
        result = made(name, workload, budget)
        judged = judge(result.text, workload, budget)

        assert judged["over"] == 0
        assert result.claimed == judged["tokens"] == cl100k(result.text)
        assert judged["exact"] == 0
        assert judged["tokens"] > 0.3 * min(budget, workload.about["tokens"])


def test_the_floor_does_the_whole_job(workload):
    """No near copy, no inversion, all of the ideal: else it would be no floor for the job."""
    judged = judge(made("floor_full", workload).text, workload, 8_000)

    assert (judged["near"], judged["inversions"], judged["worse"]) == (0, 0, 0)
    assert judged["ideal"] >= 0.9


def test_the_full_floor_decides_every_candidate(workload):
    """A reason for each, and none for what is taken."""
    costs = [row.tokens for row in workload.rows]
    taken, why = choose(workload.rows, workload.vectors, costs, 4_000)

    assert len(why) == len(workload.rows)
    assert [i for i, reason in enumerate(why) if not reason] == taken
    assert sum(costs[i] for i in taken) <= 4_000


def test_cold_and_warm_make_the_same_text(workload):
    """What is remembered decides nothing."""
    assert made("foveate", workload).text == made("foveate_cold", workload).text


def test_a_worker_answers_with_one_line_of_figures(tmp_path):
    """E3: its own process, times, memory and the text."""
    save(generate(10), tmp_path / FOLDER)
    paths = os.pathsep.join((str(ROOT), str(ROOT / "src")))
    done = subprocess.run(
        [sys.executable, "-m", "bench.peers.worker", "floor_full", "10", "8000", "0.05"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = [line for line in done.stdout.splitlines() if line.startswith(worker.MARK)]
    row = json.loads(line.removeprefix(worker.MARK))

    assert (row["system"], row["n"], row["budget"]) == ("floor_full", 10, 8_000)
    assert row["runs"] >= worker.LEAST_RUNS
    assert 0 < row["cpu_ms"] <= row["cpu_p90_ms"]
    assert row["peak_mb"] >= 0
    assert row["claimed"] == cl100k(row["text"])


def test_every_environment_is_pinned():
    """Each system's environment has a file, each line of it one exact version."""
    named = {system.environment for system in SYSTEMS.values()} - {OWN}
    files = {path.stem: path for path in environments.REQUIREMENTS.glob("*.txt")}
    assert named <= set(files)

    for path in files.values():
        lines = path.read_text().splitlines()
        assert lines
        assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line) for line in lines)

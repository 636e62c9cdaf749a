"""Engines without a cluster: in order, bounded, and plain about a process that died."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

import fleet_tasks
from foveate.batch.engines import open_engine
from foveate.batch.engines.engine import (
    TASKS_PER_WORKER,
    SequentialEngine,
    open_process_pool,
)
from foveate.core.errors import BadOption, ExternalError, UnknownName
from source_tree import PACKAGE


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Processes that are started import the functions of the tests by name."""
    folders = (PACKAGE.parent, Path(fleet_tasks.__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)))


def test_here_is_one_after_the_other():
    """F2: a result is there before the next value is taken."""
    taken: list[int] = []

    def values():
        for number in range(9):
            taken.append(number)
            yield number

    results = SequentialEngine().map_values(fleet_tasks.double, values())

    assert [next(results), next(results)] == [(0, 0), (1, 2)]
    assert taken == [0, 1]


def test_a_pool_keeps_order_and_a_bound():
    """F2, D1: the order is that of the values, and only so many are taken ahead."""
    taken: list[int] = []

    def values():
        for number in range(20):
            taken.append(number)
            yield number

    with open_process_pool(2) as engine:
        results = engine.map_values(fleet_tasks.double, values())
        first = next(results)
        ahead = len(taken)
        rest = list(results)

    assert first == (0, 0)
    assert ahead == TASKS_PER_WORKER * 2
    assert rest == [(number, 2 * number) for number in range(1, 20)]


def test_a_dead_process_of_a_pool_is_said():
    """X1, X3: nobody knows which value it was, so the run ends and says what to do."""
    with (
        open_process_pool(2) as engine,
        pytest.raises(ExternalError, match="a worker process died"),
    ):
        list(engine.map_values(fleet_tasks.dies, range(4)))


PATIENCE = 60.0  # seconds, so that a fault is no test without an end

POOLED = """
import sys
import fleet_tasks
from foveate.batch.engines.engine import open_process_pool

if __name__ == "__main__":
    with open_process_pool(2) as engine:
        for given, found in engine.map_values(fleet_tasks.held_open, sys.argv[1:]):
            print(found, flush=True)
        sys.stdin.read()
"""


def test_workers_end_with_a_process_that_is_killed(tmp_path):
    """X1: who is killed outright tells its workers nothing; they end all the same."""
    pipe, script = tmp_path / "pipe", tmp_path / "pooled.py"
    os.mkfifo(pipe)
    script.write_text(POOLED)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    command = [sys.executable, str(script), *[str(pipe)] * 3]

    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout is not None
        at_work = [process.stdout.readline() for _ in range(3)]
        assert os.read(reader, 9) == b"..."
        process.kill()

    # A pipe ends for its reader when the last of those who could write to it has ended.
    assert select.select([reader], [], [], PATIENCE) == ([reader], [], [])
    assert os.read(reader, 9) == b""
    os.close(reader)
    assert set(at_work) == {f"{pipe}\n".encode()}


@pytest.mark.parametrize(
    ("name", "workers", "address", "kind", "said"),
    [
        ("rai", None, None, UnknownName, "did you mean 'ray'"),
        ("local", 0, None, BadOption, "1 or more"),
        ("ray", -1, None, BadOption, "1 or more"),
        ("local", None, "auto", BadOption, "--engine ray"),
    ],
)
def test_what_cannot_be_meant_is_refused(name, workers, address, kind, said):
    """F2, X1: an engine that does not exist, no workers, an address without a cluster."""
    with pytest.raises(kind, match=said), open_engine(name, workers, address):
        pass

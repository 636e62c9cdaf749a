"""Engines without a cluster: in order, bounded, and plain about a process that died."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from threading import enumerate as running_threads

import pytest

import fleet_tasks
from foveate.batch.engines import open_engine, pool
from foveate.batch.engines.engine import TASKS_PER_WORKER, FailedTask, SequentialEngine
from foveate.batch.engines.pool import ProcessPoolEngine
from foveate.core.errors import BadOption, UnknownName
from source_tree import PACKAGE


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Processes that are started import the functions of the tests by name."""
    folders = (PACKAGE.parent, Path(fleet_tasks.__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)))


@pytest.mark.parametrize(
    ("engine", "ahead"),
    [(SequentialEngine(), 1), (ProcessPoolEngine(2), TASKS_PER_WORKER * 2)],
    ids=["here", "pool"],
)
def test_an_engine_keeps_order_and_a_bound(engine, ahead):
    """F2, D1: the order is that of the values, and only so many are taken ahead."""
    fleet_tasks.check_order_and_bound(engine, ahead)


def test_a_dead_process_of_a_pool_is_replaced(tmp_path):
    """T5, X1: its successor tries the value again; a second death fails that value alone."""
    note = tmp_path / "note"
    values = [(number, str(note)) for number in (2, 3, 4)]
    (_, failed), *rest = ProcessPoolEngine(2).map_values(fleet_tasks.dies_counted, values)
    reason = "its process broke down twice (SIGKILL): out of memory, or a crash in a plugin"
    assert failed == FailedTask(reason=reason)
    assert [result for _, result in rest] == [3, 4]
    assert note.read_bytes() == b".."


def test_results_arrive_as_they_are_made_and_once(tmp_path):
    """T5: pieces that a process brought before it died are not brought again."""
    values = [(12, str(tmp_path / "note")), (3, "")]
    streamed = ProcessPoolEngine(1).stream_values(fleet_tasks.counts_up, values)

    assert [[piece[0] for piece in pieces] for _, pieces in streamed] == [
        list(range(12)),
        list(range(3)),
    ]


def test_errors_of_a_function_are_raised_here():
    """X1: as they are, and what cannot be sent at all is said before anything runs."""
    with pytest.raises(KeyError, match="7"):
        list(ProcessPoolEngine(2).map_values(fleet_tasks.raises, [7]))
    with pytest.raises(BadOption, match="use one process"):
        list(ProcessPoolEngine(2).map_values(lambda number: number, [7]))


def test_what_waits_is_bounded(monkeypatch):
    """T2, X2: a result of a later task waits for room; the task that is read has room for one."""
    monkeypatch.setattr(pool, "_MAX_WAITING_BYTES", 40)
    tasks, brought = pool._Tasks(), Event()
    for _ in range(2):
        tasks.add(b"")
    first, later = tasks.under_way
    pieces = [pool.pickle.dumps(b"x" * size) for size in (10, 9)]

    def bring() -> None:
        tasks.put(later, pieces[0])
        brought.set()
        tasks.put(later, pieces[1])
        later.pieces.put(None)

    thread = Thread(target=bring)
    thread.start()
    assert brought.wait(30)
    assert later.brought == len(pieces[0])
    tasks.put(first, pool.pickle.dumps(b"z" * 99))
    first.pieces.put(None)
    assert list(first.results()) == [b"z" * 99]
    tasks.under_way.popleft()
    assert list(later.results()) == [b"x" * 10, b"x" * 9]
    thread.join(30)


def test_ctrl_c_at_any_moment_leaves_no_thread_and_no_process(monkeypatch):
    """T5: wherever the reader is interrupted, the processes end, and nobody waits for ever."""
    started, start = [], pool.start_process

    def noted(*words, **options):
        started.append(start(*words, **options))
        return started[-1]

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "start_process", noted)
    before, threads = signal.signal(signal.SIGALRM, interrupt), running_threads()
    try:
        for round_ in range(12):
            results = ProcessPoolEngine(2).map_values(fleet_tasks.double, range(10**9))
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.01 + 0.06 * round_)
                list(results)
    finally:
        signal.signal(signal.SIGALRM, before)

    assert [one for one in running_threads() if one not in threads] == []
    assert started
    assert all(process.poll() is not None for process in started)


PATIENCE = 60.0  # seconds, so that a fault is no test without an end

POOLED = """
import sys
import fleet_tasks
from foveate.batch.engines.pool import ProcessPoolEngine

for given, found in ProcessPoolEngine(2).map_values(fleet_tasks.held_open, sys.argv[1:]):
    print(found, flush=True)
    if given is sys.argv[3]:
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

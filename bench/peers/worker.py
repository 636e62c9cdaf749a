"""One measurement in a process of its own: a system, a size, a budget; one JSON line out.

    python -m bench.peers.worker SYSTEM N BUDGET SECONDS

CPU time of this process is the figure (the machine may be shared); linear algebra runs on one
thread. Before every run the native objects are built anew and the garbage is collected. The first
run also gives the memory: the peak resident size over what was resident when it began, with what
the allocator held free given back first.
"""

from __future__ import annotations

import os

for _threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

import gc  # noqa: E402
import json  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from dataclasses import dataclass, replace  # noqa: E402
from statistics import median  # noqa: E402
from typing import Any  # noqa: E402

from bench.peers.adapters.job import Adapter, Job, Made  # noqa: E402
from bench.peers.adapters.registry import SYSTEMS  # noqa: E402
from bench.peers.memory import Peak  # noqa: E402
from bench.peers.workload import Row, Workload, load  # noqa: E402

MARK = "@@"
LEAST_RUNS, MOST_RUNS = 3, 300


@dataclass(slots=True)
class Run:
    """One run: seconds of CPU, and what came out."""

    cpu: float
    made: Made


def measure(system: str, n: int, budget: int, seconds: float) -> dict[str, Any]:
    """Measure for so many seconds; where one run takes longer, it is the only one."""
    workload = load(n)
    job = Job(
        rows=workload.rows,
        vectors=workload.vectors,
        query=workload.query,
        query_vector=workload.query_vector,
        budget=budget,
    )
    adapter = SYSTEMS[system].load()
    adapter.start(job)
    gc.collect()
    gc.freeze()  # the workload and the truth about it are the benchmark's, not the system's
    first, peak = once(adapter, workload, Peak)
    runs = [] if first.cpu < seconds else [first]
    end = time.perf_counter() + seconds
    while not runs or (
        first.cpu < seconds
        and (len(runs) < LEAST_RUNS or (time.perf_counter() < end and len(runs) < MOST_RUNS))
    ):
        runs.append(once(adapter, workload)[0])
    return {
        "system": system,
        "n": n,
        "budget": budget,
        "peak_mb": peak,
        **summary(runs),
        "claimed": first.made.claimed,
        "extra": first.made.extra,
        "text": first.made.text,
    }


def once(
    adapter: Adapter, workload: Workload, peak: Callable[[], Peak] | None = None
) -> tuple[Run, float]:
    """Prepare, collect, run; with `peak`, the megabytes that the run added at most."""
    adapter.prepare(fresh(workload.rows), workload.vectors)
    gc.collect()
    gauge = peak() if peak else None
    begun = time.process_time()
    made = adapter.run()
    cpu = time.process_time() - begun
    megabytes = gauge.megabytes() if gauge else 0.0
    return Run(cpu=cpu, made=made), megabytes


def fresh(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The same rows with texts that are new string objects."""
    return tuple(replace(row, text=row.text.encode().decode()) for row in rows)


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """Medians in milliseconds."""
    cpu = sorted(1000 * run.cpu for run in runs)
    return {
        "runs": len(runs),
        "cpu_ms": median(cpu),
        "cpu_p90_ms": cpu[int(len(cpu) * 0.9)],
    }


if __name__ == "__main__":
    _system, _n, _budget, _seconds = sys.argv[1:]
    print(MARK + json.dumps(measure(_system, int(_n), int(_budget), float(_seconds))))

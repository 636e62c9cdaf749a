"""Every system on every size, interleaved, in rounds; one line a measurement.

    python -m bench.peers.run --quick         small sizes, one round: about two minutes
    python -m bench.peers.run                 all of it: about twenty minutes

Results are in build/bench/results.jsonl (or quick.jsonl). A system that is over its time limit is
written down as that. What takes over five seconds a run is measured in the first round only.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers import environments, workload
from bench.peers.adapters.registry import SYSTEMS
from bench.peers.worker import MARK

RESULTS = Path("build/bench/results.jsonl")
QUICK = Path("build/bench/quick.jsonl")
SLOW = 5_000.0  # milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One measurement to make."""

    round: int
    system: str
    n: int
    budget: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to measure. `wide`: sizes that the larger budget is measured on, in the first round."""

    systems: tuple[str, ...]
    sizes: tuple[int, ...]
    wide: tuple[int, ...]
    rounds: int
    seconds: float
    limit: float

    def tasks(self) -> Iterator[Task]:
        """Round by round, size by size, all systems one after the other."""
        for number in range(self.rounds):
            for budget, sizes in ((8_000, self.sizes), (32_000, () if number else self.wide)):
                for n in sizes:
                    for system in self.systems:
                        yield Task(round=number, system=system, n=n, budget=budget)


def quick(systems: Sequence[str] = tuple(SYSTEMS)) -> Plan:
    """A look."""
    return Plan(
        systems=tuple(systems), sizes=(10, 50, 1_000), wide=(), rounds=1, seconds=0.3, limit=60
    )


def full(systems: Sequence[str] = tuple(SYSTEMS)) -> Plan:
    """What the documentation shows."""
    return Plan(
        systems=tuple(systems),
        sizes=workload.SIZES,
        wide=(200, 1_000),
        rounds=2,
        seconds=1.0,
        limit=300,
    )


def run(plan: Plan, results: Path = RESULTS) -> None:
    """Measure everything, and write a line for each."""
    environments.make(environments.needed(plan.systems))
    workload.make(dict.fromkeys((*plan.sizes, *plan.wide)))
    results.parent.mkdir(parents=True, exist_ok=True)
    results.unlink(missing_ok=True)
    first: dict[tuple[str, int, int], dict[str, Any]] = {}
    tasks = list(plan.tasks())
    for number, task in enumerate(tasks, 1):
        named = (task.system, task.n, task.budget)
        if named in first and _too_slow(first[named]):
            continue
        row = {**measured(task, plan), "round": task.round, "machine": machine()}
        first.setdefault(named, row)
        with results.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")
        print(f"{number:4}/{len(tasks)} {told(row)}", file=sys.stderr)


def _too_slow(first: dict[str, Any]) -> bool:
    """Whether the first round said that one figure is enough."""
    return "error" in first or first["cpu_ms"] > SLOW


def measured(task: Task, plan: Plan) -> dict[str, Any]:
    """The worker's line, or what went wrong."""
    named = {"system": task.system, "n": task.n, "budget": task.budget}
    command = [
        str(environments.python_of(SYSTEMS[task.system].environment)),
        *("-m", "bench.peers.worker", task.system),
        *(str(task.n), str(task.budget), str(plan.seconds)),
    ]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=plan.limit,
            env=environments.variables(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {**named, "error": f"over {plan.limit:.0f} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if not lines:
        return {**named, "error": (done.stderr.strip().splitlines() or ["no output"])[-1][:200]}
    row: dict[str, Any] = json.loads(lines[-1].removeprefix(MARK))
    return row


def machine() -> dict[str, Any]:
    """Where this was measured."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


def read(results: Path = RESULTS) -> list[dict[str, Any]]:
    """All lines so far."""
    if not results.exists():
        return []
    return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]


def told(row: dict[str, Any]) -> str:
    """One line for the eye."""
    name = f"{row['system']:18} {row['n']:6} {row['budget']:6}"
    if "error" in row:
        return f"{name} {row['error']}"
    return f"{name} {row['cpu_ms']:10.2f} ms {row['peak_mb']:8.1f} MB  {row['runs']:3} runs"


def main() -> None:
    """Read the options, run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="names, with commas between")
    chosen = parser.parse_args()
    plan, results = (quick, QUICK) if chosen.quick else (full, RESULTS)
    run(plan(chosen.systems.split(",")), results)


if __name__ == "__main__":
    main()

"""What a batch costs on each engine: requests a second, what starting costs, memory of a worker.

The figures are ratios to one process on the same machine in the same run, because times are those
of the machine: `speed` by the clock, which on a busy machine says how busy it is; `work`, the
processor time of all processes; `start`, as many requests as one process answers meanwhile; `even`,
the number of requests at which the start is made up for; `feeds`, the workers that one driver has
the time to read and write for.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from foveate.batch.engines import open_engine
from foveate.batch.engines.engine import Engine
from foveate.batch.run import answer_requests
from foveate.cli.files import open_output, read_lines

TEXT = """the lock keeper opens the lower gate first and the water level falls so that a boat rises
slowly past the upper paddle in winter and spring under the canal bridge of the toll house"""
WORDS = TEXT.split()
ENGINES = (("local", 1), ("local", 2), ("ray", 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Of one engine: seconds until it answers, seconds for the batch, megabytes of a worker.

    `driver`, `workers`: seconds of processor time during the batch.
    """

    name: str
    start: float
    batch: float
    memory: float
    driver: float
    workers: float


def request(number: int, candidates: int) -> dict[str, object]:
    """A question and its candidates, some of them alike, about 60 words each."""
    dice = Random(number)  # noqa: S311
    chunks = [
        {
            "id": f"{number}-{i}",
            "source": f"{i // 5}.md",
            "sequence": i % 5,
            "score": 1 / (i + 1),
            "text": ". ".join(" ".join(dice.choices(WORDS, k=12)).capitalize() for _ in range(5)),
        }
        for i in range(candidates)
    ]
    return {"id": number, "query": " ".join(dice.sample(WORDS, 4)), "chunks": chunks}


def write_requests(path: Path, *, requests: int, candidates: int) -> None:
    """A line each."""
    lines = (json.dumps(request(n, candidates)) for n in range(requests))
    path.write_text("".join(f"{line}\n" for line in lines))


def spent(_: int) -> tuple[int, float, float]:
    """The process, the most memory it had, in megabytes, and its processor time so far."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return os.getpid(), int(peak.split()[1]) / 1024, time.process_time()


def seen(fleet: Engine) -> dict[int, tuple[float, float]]:
    """Memory and processor time of each worker that answers; asked often enough for all to."""
    found = [each for _, each in fleet.map_values(spent, range(8 * fleet.workers))]
    return {each[0]: each[1:] for each in found if isinstance(each, tuple)}


def measured(engine: str, workers: int, source: Path, target: Path) -> Figures:
    """The engine's figures, from one batch."""
    began = time.perf_counter()
    with open_engine(engine, workers) as fleet:
        next(iter(fleet.map_values(spent, range(1))))
        start = time.perf_counter() - began
        before, own = seen(fleet), time.process_time()
        began = time.perf_counter()
        with open_output(str(target)) as file:
            report = answer_requests(read_lines(str(source)), fleet, file.write)
        batch = time.perf_counter() - began
        own, after = time.process_time() - own, seen(fleet)
    if report.lost:
        raise SystemExit(f"{engine}: {report.lost} requests are lost")
    others = after.keys() - {os.getpid()}
    return Figures(
        name=f"{engine}, {workers}",
        start=start,
        batch=batch,
        memory=max(memory for memory, _ in after.values()),
        driver=own,
        workers=sum(after[pid][1] - before.get(pid, (0.0, 0.0))[1] for pid in others),
    )


def table(found: list[Figures], requests: int) -> Iterator[str]:
    """One line an engine, beside the first."""
    one = found[0]
    names = ("speed", "work", "start", "even", "feeds", "MB a worker")
    yield f"{'engine, workers':16}" + "".join(f"{name:>12}" for name in names)
    for each in found:
        saved = (one.batch - each.batch) / requests
        figures = (
            f"{one.batch / each.batch:.2f}",
            f"{(each.driver + each.workers) / one.driver:.2f}",
            f"{each.start / (one.batch / requests):.0f}",
            f"{each.start / saved:.0f}" if saved > 0 else "-",
            f"{each.workers / each.driver:.0f}" if each.workers else "-",
            f"{each.memory:.0f}",
        )
        yield f"{each.name:16}" + "".join(f"{figure:>12}" for figure in figures)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--candidates", type=int, default=50)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "requests.jsonl")
        write_requests(source, requests=asked.requests, candidates=asked.candidates)
        found: list[Figures] = []
        for engine, workers in ENGINES:
            target = Path(place, f"{engine}-{workers}")
            found.append(measured(engine, workers, source, target))
        for line in table(found, asked.requests):
            print(line)
        outs = [Path(place, f"{engine}-{workers}") for engine, workers in ENGINES]
        contents = [out.read_bytes() for out in outs]
        print("same bytes:", all(each == contents[0] for each in contents))


if __name__ == "__main__":
    known = (str(Path(__file__).parent), os.environ.get("PYTHONPATH", ""))
    os.environ["PYTHONPATH"] = os.pathsep.join(known)  # of workers, which import `spent`
    import bench_batch

    bench_batch.main()

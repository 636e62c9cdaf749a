"""Many clients on one service: no error, how long they wait, and what HTTP costs.

    python -m bench.service_load --seconds 120 --workers 1,2 [--write]

32 clients in a closed loop ask a real `foveate serve` for contexts of 50 candidates. Beside it, in
the same run and with the same bodies: the library, called from as many processes as the service has
workers (before and after, averaged, because a machine is not always equally busy), and an endpoint
of FastAPI that reads JSON and writes it back. The clients are a process on the same machine; what
they cost is in the table.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

from bench.http_load import Seen, load, request
from bench.page import put_into
from bench.store_texts import LINES

CLIENTS, CANDIDATES, BODIES, TEXTS, BUDGET = 32, 50, 400, 2_000, 2_000
HOST = "127.0.0.1"
PAGE = Path("docs/service-load.md")
Address = tuple[str, int]


def bodies(count: int = BODIES, seed: int = 1) -> list[dict[str, Any]]:
    """Requests of 50 candidates each, of some 60 words, drawn from a corpus that they share."""
    dice = Random(seed)  # noqa: S311
    corpus = [_text(dice) for _ in range(TEXTS)]
    return [_body(dice, corpus) for _ in range(count)]


def _text(dice: Random) -> str:
    at = dice.randrange(len(LINES) - 4)
    return " ".join(LINES[at : at + 4])


def _body(dice: Random, corpus: Sequence[str]) -> dict[str, Any]:
    chosen = dice.sample(range(len(corpus)), CANDIDATES)
    words = dice.choice(LINES).split()[:8]
    candidates = [
        {
            "id": f"t{number}",
            "document_id": f"d{number // 10}",
            "source": f"d{number // 10}.md",
            "sequence": number % 10,
            "score": round(1 / (rank + 1), 6),
            "text": corpus[number],
        }
        for rank, number in enumerate(chosen)
    ]
    return {"query": " ".join(words), "candidates": candidates, "budget": BUDGET}


# --- the library -------------------------------------------------------------------------------


def call_library(requests: list[dict[str, Any]], seconds: float, say: Connection) -> None:
    """Assemble one after the other for so long; begins when it is told to."""
    from foveate import assemble

    def made(body: dict[str, Any]) -> None:
        assemble(body["query"], body["candidates"], budget=body["budget"])

    for body in requests:  # what a process learns of texts, it has learnt before the clock starts
        made(body)
    say.send("ready")
    say.recv()
    began, done = time.perf_counter(), 0
    while time.perf_counter() < began + seconds:
        made(requests[done % len(requests)])
        done += 1
    say.send(done / (time.perf_counter() - began))


def library(requests: list[dict[str, Any]], workers: int, seconds: float) -> float:
    """Contexts a second of so many processes at once."""
    context = multiprocessing.get_context("spawn")
    wires = []
    for number in range(workers):
        ours, theirs = context.Pipe()
        shifted = requests[number * 37 :] + requests[: number * 37]
        process = context.Process(target=call_library, args=(shifted, seconds, theirs))
        process.start()
        wires.append((process, ours))
    for _, wire in wires:
        wire.recv()
    for _, wire in wires:
        wire.send("go")
    rate = sum(wire.recv() for _, wire in wires)
    for process, _ in wires:
        process.join()
    return rate


# --- servers -----------------------------------------------------------------------------------


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server((HOST, 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


@contextmanager
def started(
    command: Sequence[str], address: Address, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A server, from when it takes connections to when it has stopped."""
    with (
        log.open("wb") as said,
        subprocess.Popen([sys.executable, *command], stdout=said, stderr=said) as process,
    ):
        try:
            while True:
                try:
                    socket.create_connection(address, timeout=1).close()
                    break
                except OSError:
                    if process.poll() is not None:
                        raise SystemExit(f"{command[:3]} ended: {log.read_text()}") from None
                    time.sleep(0.05)
            yield process
        finally:
            process.terminate()


@contextmanager
def service(folder: Path, workers: int) -> Iterator[Address]:
    """`foveate serve` as it comes, without a store, and without the wait before it stops."""
    port = free_port()
    file = folder / "serve.toml"
    file.write_text(f'store = ""\nport = {port}\nworkers = {workers}\ndrain = 0\n')
    with started(["-m", "foveate", "serve", "--settings", str(file)], (HOST, port), folder / "log"):
        yield HOST, port


ECHO = """
import sys
from typing import Any
import uvicorn
from fastapi import FastAPI

app = FastAPI()


@app.post("/echo")
async def echo(body: dict[str, Any]) -> dict[str, Any]:
    return body


if __name__ == "__main__":
    uvicorn.run(
        "echo_app:app", port=int(sys.argv[1]), workers=int(sys.argv[2]), access_log=False,
        log_level="warning",
    )
"""


@contextmanager
def echo(folder: Path, workers: int) -> Iterator[Address]:
    """FastAPI with one endpoint: JSON in, the same out."""
    port = free_port()
    file = folder / "echo_app.py"
    file.write_text(ECHO)
    with started([str(file), str(port), str(workers)], (HOST, port), folder / "log"):
        yield HOST, port


# --- the table ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was measured of one thing. Milliseconds; None where there is no such figure."""

    name: str
    rate: float
    p50: float | None = None
    p99: float | None = None
    errors: int | None = None
    clients: float | None = None


def row_of(name: str, seen: Seen) -> Row:
    """A server's row."""
    wrong = sum(n for status, n in seen.statuses.items() if status != 200) + seen.broken.total()
    return Row(
        name=name,
        rate=seen.rate,
        p50=1e3 * seen.at(0.5),
        p99=1e3 * seen.at(0.99),
        errors=wrong,
        clients=seen.spent / seen.took,
    )


def measured(workers: int, seconds: float, folder: Path) -> list[Row]:
    """The service, and what stands beside it."""
    made = bodies()
    texts = [json.dumps(body).encode() for body in made]
    beside = max(1.0, seconds / 8)
    before = library(made, workers, beside)
    with service(folder, workers) as address:
        sent = [request("POST", "/v1/assemble", text, host=HOST) for text in texts]
        load(address, sent, clients=CLIENTS, most=len(sent) * workers)  # as the library: warm
        seen = load(address, sent, clients=CLIENTS, seconds=seconds)
    after = library(made, workers, beside)
    with echo(folder, workers) as address:
        sent = [request("POST", "/echo", text, host=HOST) for text in texts]
        load(address, sent, clients=CLIENTS, most=100)
        echoed = load(address, sent, clients=CLIENTS, seconds=beside)
    if seen.statuses.keys() - {200} or seen.broken:
        print(f"not answered: {dict(seen.statuses)}, {dict(seen.broken)}")
    return [
        Row(name="the library", rate=(before + after) / 2),
        row_of("the service", seen),
        row_of("a bare echo", echoed),
    ]


def table(rows: Sequence[Row], workers: int) -> Iterator[str]:
    """In Markdown."""
    yield f"| {workers} at work | a second | of the library | p50 | p99 | errors | clients' share |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        figures = (
            f"{row.rate:,.0f}",
            f"{row.rate / rows[0].rate:.2f}",
            f"{row.p50:.0f} ms" if row.p50 is not None else "",
            f"{row.p99:.0f} ms" if row.p99 is not None else "",
            f"{row.errors}" if row.errors is not None else "",
            f"{row.clients:.0%} of a core" if row.clients is not None else "",
        )
        yield f"| {row.name} | {' | '.join(figures)} |"


def verdict(rows: Sequence[Row]) -> Iterator[str]:
    """What is asked for, and whether it holds."""
    calls, served, _ = rows
    assert served.p50 is not None
    assert served.p99 is not None
    held = {
        "no error": served.errors == 0,
        f"p99 is {served.p99 / served.p50:.1f} times p50 (asked: 10)": served.p99 < 10 * served.p50,
        f"{calls.rate / served.rate:.2f} times the library's time (asked: 2)": calls.rate
        < 2 * served.rate,
    }
    yield from (f"{'yes' if holds else 'NO'}: {what}" for what, holds in held.items())


def main() -> int:
    """Print the tables; 1 where something that is asked for does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {PAGE}")
    asked = parser.parse_args()
    machine = f"{os.cpu_count()} cores, {os.getloadavg()[0]:.1f} of them busy before"
    lines = [f"{asked.seconds:g} seconds, contexts of {BUDGET} tokens; {machine}."]
    held: list[str] = []
    for workers in map(int, asked.workers.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            rows = measured(workers, asked.seconds, Path(folder))
        said = list(verdict(rows))
        held += said
        lines += ["", *table(rows, workers), "", *(f"- {line}" for line in said)]
    text = "\n".join(lines)
    print(text)
    if asked.write:
        put_into(PAGE, "load", text)
    return int(any(line.startswith("NO") for line in held))


if __name__ == "__main__":
    sys.exit(main())

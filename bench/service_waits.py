"""What one user of the service waits for: the first request, the slider, a large document.

    make bench-waits

A service in a process of its own, with the offline embedder. `PUT`: a new document of 4 MB, three
times, as time and as processor time of the service. Slider: a headless browser on the playground,
50 candidates, 30 moves, each from the key to the new context on the page, and the service's
processor time for them. Starts: the first request of a process beside its second, three times.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from bench.service_load import bodies
from bench.store_texts import LINES
from browsing import WIDE, Visit, started
from http_wire import ask
from service_process import Service

SIZE, MOVES, CANDIDATES = 4_000_000, 30, 50
QUESTION = "How does a statement bind a name?"
SHOWN = "said => document.querySelector('#headline').textContent.includes(said)"


@contextmanager
def service(folder: Path) -> Iterator[Service]:
    """A service over a store of its own."""
    running = Service(folder, store=str(folder / "store"), embedder="wordllama")
    try:
        yield running
    finally:
        running.kill()


def send(to: Service, method: str, path: str, body: Any) -> float:
    """Seconds until the answer is there; it must be a good one."""
    began = time.perf_counter()
    answer = ask(to.address, method, path, body)
    assert answer.status == 200, answer.body[:500]
    return time.perf_counter() - began


def text_of(size: int, seed: int) -> str:
    """Paragraphs of sentences, the same for the same seed."""
    dice, parts, length = Random(seed), [], 0  # noqa: S311
    while length < size:
        parts.append(" ".join(dice.choices(LINES, k=6)))
        length += len(parts[-1]) + 2
    return "\n\n".join(parts)


def processor_seconds(process: int) -> float:
    """User and system time of a process until now."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def time_uploads(to: Service) -> Iterator[str]:
    """Three documents of 4 MB, each with other text."""
    for seed in range(3):
        text, before = text_of(SIZE, seed), processor_seconds(to.process.pid)
        took = send(to, "PUT", f"/v1/documents/large{seed}.md", {"text": text})
        busy = processor_seconds(to.process.pid) - before
        yield f"PUT of {SIZE / 1e6:.0f} MB: {took:.1f} s, {busy:.1f} s of processor time"


def time_slider(to: Service) -> str:
    """Each move of the playground's slider, as a user sees it, on 50 candidates."""
    for number in range(12):
        send(to, "PUT", f"/v1/documents/page{number}.md", {"text": text_of(9_000, 10 + number)})
    site = "http://{}:{}".format(*to.address)
    with started() as browser:
        page = browser.new_page(viewport={"width": WIDE[0], "height": WIDE[1]})
        page.goto(f"{site}/playground/")
        page.select_option("#limit", str(CANDIDATES))
        Visit(page=page, site=site).ask(QUESTION, budget=2_000)
        page.focus("#budget")
        waits, before = [], processor_seconds(to.process.pid)
        for _ in range(MOVES):
            began = time.perf_counter()
            page.keyboard.press("ArrowLeft")
            budget = f"{int(page.input_value('#tokens')):,}"
            page.wait_for_function(SHOWN, arg=f"of {budget} tokens", polling="raf")
            waits.append(time.perf_counter() - began)
    busy = (processor_seconds(to.process.pid) - before) / MOVES
    return (
        f"slider at {CANDIDATES} candidates: p50 {median(waits):.3f} s, most {max(waits):.3f} s; "
        f"{busy:.3f} s of the service's processor time a move"
    )


def time_starts(folder: Path) -> Iterator[str]:
    """The first request of a process beside its second, of other texts."""
    first, second = bodies(2)
    for start in range(3):
        with service(folder / f"start{start}") as running:
            times = [send(running, "POST", "/v1/assemble", one) for one in (first, second)]
        yield f"first request {times[0]:.3f} s, second {times[1]:.3f} s: {times[0] / times[1]:.1f}x"


def main() -> None:
    """Print each figure as it is there."""
    print(f"{os.cpu_count()} cores, {os.getloadavg()[0]:.1f} of them busy before")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with service(folder / "slider") as running:
            print(time_slider(running))
        with service(folder / "uploads") as running:
            for line in time_uploads(running):
                print(line)
        for line in time_starts(folder):
            print(line)


if __name__ == "__main__":
    main()

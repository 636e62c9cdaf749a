"""What watching costs: an assembly without an observer, with metrics, traces, both, in one run.

Each round does all ways once, in another order, and what counts is the ratio to none within the
round; so a busy machine blurs the figures and moves none of them. Processor time of the whole
process is measured, so that the thread which sends spans counts too: they are encoded for the
wire and then dropped. Calls of Python functions are counted once; they are the same everywhere.

    python -m bench.bench_watching [--rounds 60] [--size 50]
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from random import Random
from statistics import quantiles
from time import process_time_ns
from typing import Any

from foveate import Tracing, assemble
from foveate.core.candidates import candidates_from_items
from foveate.core.contracts import StepObserver as Observer
from foveate.core.types import Candidate
from foveate.pipeline.observers import combine_observers
from foveate.service.observe import logs
from foveate.service.observe.telemetry import StepObserver, Telemetry, TelemetryMiddleware
from foveate.service.settings import Settings

QUERY = "Which gate of the lock opens first?"
TEXT = """the lock keeper opens the lower gate first and the water level falls so that a boat
rises slowly past the upper paddle in winter and spring under the canal bridge of the toll house"""
WORDS = TEXT.split()
EACH = 4  # assemblies of a way in a round
REQUESTS = 400  # requests of a way in a round


def pool(size: int, seed: int = 7) -> tuple[Candidate, ...]:
    """Chunks of about 200 words in documents of ten, a tenth of them copies."""
    dice = Random(seed)  # noqa: S311
    rows: list[dict[str, object]] = []
    for number in range(size):
        sentences = (" ".join(dice.choices(WORDS, k=12)).capitalize() for _ in range(16))
        copy = rows and dice.random() < 0.1
        rows.append(
            {
                "id": f"c{number}",
                "source": f"d{number // 10}.md",
                "sequence": number % 10,
                "text": dice.choice(rows)["text"] if copy else ". ".join(sentences) + ".",
                "score": round(dice.random(), 3),
            }
        )
    return candidates_from_items(rows)


def provider() -> Any:
    """A tracer provider that encodes its spans as for a collector, and drops them."""
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import (
        BatchSpanProcessor,
        SpanExporter,
        SpanExportResult,
    )

    class Encoded(SpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            encode_spans(spans).SerializeToString()
            return SpanExportResult.SUCCESS

        def shutdown(self) -> None:
            pass

        def force_flush(self, timeout_millis: int = 0) -> bool:
            return True

    made = TracerProvider(shutdown_on_exit=False)
    made.add_span_processor(BatchSpanProcessor(Encoded(), schedule_delay_millis=200))
    return made


def ways(traces: Any, observed: Telemetry) -> dict[str, Observer | None]:
    """Who watches, by name."""
    steps = StepObserver(observed.metrics)
    return {
        "none": None,
        "somebody who does nothing": lambda _name: nullcontext(),
        "OpenTelemetry, not set up": Tracing(),
        "OpenTelemetry": Tracing(traces),
        "metrics": steps,
        "metrics and OpenTelemetry": combine_observers(steps, Tracing(traces)),
    }


def calls(work: Callable[[], object]) -> int:
    """Calls of Python functions."""
    count = 0

    def note(_frame: object, event: str, _what: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def measured(
    work: dict[str, Callable[[], object]], rounds: int, each: int
) -> dict[str, list[float]]:
    """Milliseconds of processor time a piece of work, by name, a figure a round."""
    dice, found = Random(1), {name: list[float]() for name in work}  # noqa: S311
    for do in work.values():
        do()
    for _ in range(rounds):
        for name in dice.sample(list(work), len(work)):
            begun = process_time_ns()
            for _ in range(each):
                work[name]()
            found[name].append((process_time_ns() - begun) / each / 1e6)
    return found


def report(found: dict[str, list[float]], base: str, count: dict[str, int]) -> None:
    """One line a way: its median, and the quartiles of its ratio to the base, round by round."""
    print(f"{'':28} {'ms':>8} {'ratio':>7} {'quartiles':>15} {'calls':>8}")
    for name, times in found.items():
        ratios = [own / other for own, other in zip(times, found[base], strict=True)]
        low, middle, high = quantiles(ratios, n=4)
        _, median, _ = quantiles(times, n=4)
        print(
            f"{name:28} {median:8.3f} {middle:7.3f} {low:7.3f} {high:7.3f} {count.get(name, 0):8,}"
        )


def assemblies(rounds: int, candidates: tuple[Candidate, ...], observers: dict[str, Any]) -> None:
    """The ways to watch an assembly, side by side."""

    def doing(watcher: Observer | None) -> Callable[[], object]:
        return lambda: assemble(QUERY, candidates, budget=2_000, observers=watcher)

    work = {name: doing(watcher) for name, watcher in observers.items()}
    found = measured(work, rounds, EACH)
    report(found, "none", {name: calls(do) for name, do in work.items()})


def requests(rounds: int, observed: Telemetry) -> None:
    """The layer around a request, with its log line, beside an application without it."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async def nothing(*_: Any) -> Any:
        return {"type": "http.request"}

    watched = TelemetryMiddleware(application, observed=observed)

    def doing(app: Any) -> Callable[[], object]:
        async def many() -> None:
            for _ in range(REQUESTS):
                scope = {"type": "http", "method": "POST", "path": "/v1/assemble", "headers": []}
                await app(scope, nothing, nothing)

        return lambda: asyncio.run(many())

    found = measured({"bare": doing(application), "watched": doing(watched)}, rounds, 1)
    more = [w - b for w, b in zip(found["watched"], found["bare"], strict=True)]
    low, middle, high = (1_000 * figure / REQUESTS for figure in quantiles(more, n=4))
    print(f"around a request, log line included: {middle:.0f} µs (quartiles {low:.0f}, {high:.0f})")


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--size", type=int, default=50, help="candidates")
    given = parser.parse_args()
    settings = Settings(store="", log_format="json")
    observed, traces = Telemetry(settings, ["default"]), provider()
    print(f"{given.size} candidates, budget 2,000, {given.rounds} rounds of {EACH} each")
    assemblies(given.rounds, pool(given.size), ways(traces, observed))
    logs.configure_logging(settings)
    with open("/dev/null", "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        handler = logging.getLogger().handlers[0]
        assert isinstance(handler, logging.StreamHandler)
        handler.setStream(nowhere)
        requests(max(given.rounds // 4, 8), observed)
    traces.shutdown()


if __name__ == "__main__":
    main()

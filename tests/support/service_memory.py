"""Large requests whose texts are all new: what a service holds along the way.

    python tests/support/service_memory.py [--requests 150] [--megabytes 7] [--most 400]

Nothing of such a request is worth keeping for the next one, so what the service holds must neither
grow with their number nor pass `--most` megabytes at the end.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.http_load import load, request

from service_process import HOST, Service, running

SHAPES = (1, 10, 100, 1_000)
"""Texts of a request, by turns: one as large as all of it, or many that share it."""
RECIPES = ("default", "summarise", "citations", "naive")
LOOKS = 15
GROWTH = 1.1


def text_of(number: int, characters: int) -> str:
    """So many characters, at least, that are in no text of another number."""
    found, length, line = [], 0, 0
    while length < characters:
        line += 1
        found.append(
            f"Gate {number} of lock {line} opens at {line % 24} hours, and keeper {number}-{line} "
            f"writes down how high the water stands. "
        )
        length += len(found[-1])
    return "".join(found)


def bodies(megabytes: float) -> Iterator[dict[str, Any]]:
    """Without end: requests for contexts, of so many megabytes each."""
    number = 0
    while True:
        for many, recipe in zip(SHAPES, RECIPES, strict=True):
            size = int(megabytes * 1_000_000) // many
            found = []
            for _ in range(many):
                number += 1
                found.append({"id": f"c{number}", "text": text_of(number, size), "score": 0.5})
            query = f"When does gate {number} open?"
            yield {"query": query, "candidates": found, "recipe": recipe, "budget": 2_000}


def held(service: Service, requests: int, megabytes: float, looks: int = LOOKS) -> list[int]:
    """Resident bytes before the first request, and at each of so many looks."""
    made, seen = bodies(megabytes), [service.memory()]
    statuses: set[int] = set()
    for number in range(requests):
        body = json.dumps(next(made)).encode()
        sent = [request("POST", "/v1/assemble", body, host=HOST)]
        found = load(service.address, sent, clients=1, most=1)
        assert not found.broken, found.broken
        statuses |= set(found.statuses)
        if (number + 1) % max(1, requests // looks) == 0:
            seen.append(service.memory())
    assert statuses <= {200, 422}, statuses  # 422: a text that no budget of this size shows
    return seen


def main() -> int:
    """Send them, and print what is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=150)
    parser.add_argument("--megabytes", type=float, default=7)
    parser.add_argument("--most", type=float, default=400, help="megabytes held at the end")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings: dict[str, Any] = {"store": "", "seconds": 600}
        with running(Path(folder) / "service", **settings) as service:
            seen = held(service, asked.requests, asked.megabytes)
    print("MB:", " ".join(f"{one / 1e6:.0f}" for one in seen))
    third = len(seen) // 3
    middle, end = (statistics.median(part) for part in (seen[third:-third], seen[-third:]))
    print(
        f"{end / middle - 1:+.1%} from the second third to the last; {seen[-1] / 1e6:.0f} MB held"
    )
    return int(end > GROWTH * middle or seen[-1] > asked.most * 1e6)


if __name__ == "__main__":
    sys.exit(main())

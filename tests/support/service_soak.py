"""An hour's requests, sent faster than in an hour: the memory of a service, before and after.

    python tests/support/service_soak.py --rate 10 --minutes 60 [--write]

Texts, questions and documents are new all the time, so that every memory is filled to its bound in
the first part, which is not judged. Said is how much more the service holds at the end than after
that part; more than a twentieth is a failure.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from bench.http_load import load, request
from bench.page import put_into
from bench.service_load import LINES, PAGE

from service_process import HOST, Service, running

CLIENTS, LOOKS, WARM = 8, 50, 0.3
GROWTH = 1.05


def requests(seed: int) -> Iterator[bytes]:
    """Without end: contexts of candidates and of the store, searches, writes, and what is wrong."""
    dice, number = Random(seed), 0
    while True:
        number += 1
        method, path, value = _drawn(dice, number)
        body = b"" if value is None else json.dumps(value).encode()
        yield request(method, path, body, host=HOST)


def _drawn(dice: Random, number: int) -> tuple[str, str, Any]:
    chance = dice.random()
    query = " ".join(dice.choice(LINES).split()[:6]) + f" {number}"
    name = f"/v1/documents/d{dice.randrange(300)}"
    if chance < 0.45:
        found = [
            {"id": f"{number}-{n}", "score": 1 / (n + 1), "text": f"{_text(dice)} {number}."}
            for n in range(20)
        ]
        return "POST", "/v1/assemble", {"query": query, "candidates": found, "budget": 600}
    if chance < 0.65:
        return "POST", "/v1/assemble", {"query": query, "budget": 600}
    if chance < 0.80:
        return "POST", "/v1/search", {"query": query, "limit": 20}
    if chance < 0.90:
        return "PUT", name, {"text": f"{_text(dice)} {number}.", "title": f"Page {number}"}
    if chance < 0.94:
        return "DELETE", name, None
    if chance < 0.97:
        return "GET", "/v1/documents?limit=50", None
    return "POST", "/v1/assemble", {"query": query, "candidates": [{"text": number}]}


def _text(dice: Random) -> str:
    at = dice.randrange(len(LINES) - 4)
    return " ".join(LINES[at : at + 4])


def soak(service: Service, most: int, seed: int = 1) -> list[int]:
    """So many requests; the resident bytes at each of fifty looks."""
    drawn, seen = requests(seed), []
    for _ in range(LOOKS):
        part = list(islice(drawn, most // LOOKS))
        found = load(service.address, part, clients=CLIENTS, most=len(part))
        wrong = {status for status in found.statuses if status not in (200, 204, 400, 422)}
        assert not wrong, f"answered with {wrong}"
        assert not found.broken, found.broken
        seen.append(service.memory())
    return seen


def main() -> int:
    """Soak, and say what is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=10, help="requests a second of that hour")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--write", action="store_true", help=f"put the figures into {PAGE}")
    asked = parser.parse_args()
    most = int(asked.rate * asked.minutes * 60)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        settings: dict[str, Any] = {
            "store": str(place / "store"), "embedder": "hashing", "cache": "memory:16",
        }  # fmt: skip
        with running(place / "service", **settings) as service:
            seen = soak(service, most)
    warm = seen[int(WARM * LOOKS) :]
    fifth = len(warm) // 5
    first, last = (statistics.median(part) for part in (warm[:fifth], warm[-fifth:]))
    said = (
        f"{most:,} requests, as many as {asked.minutes:g} minutes have at {asked.rate:g} a second: "
        f"{seen[0] / 1e6:.0f} MB at first, {first / 1e6:.0f} when warm, {last / 1e6:.0f} at the "
        f"end ({last / first - 1:+.1%}; {max(seen) / 1e6:.0f} at most)"
    )
    print(said)
    if asked.write:
        put_into(PAGE, "soak", said + ".")
    return int(last > GROWTH * first)


if __name__ == "__main__":
    sys.exit(main())

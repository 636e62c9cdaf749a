"""How long the server store takes, beside PostgreSQL and pgvector asked directly.

    python -m bench.bench_postgres --chunks 100000

A server of its own is started for it, with its settings as they come but for 1 GB of shared
buffers and no parallel workers, so that one session's time is all of it. Corpus, questions and
vectors are those of `bench_store.py`. Times are CPU milliseconds of this process and of its
session's server process together (`/proc/PID/schedstat`), so that a busy machine changes them
little; a ratio is ours beside the raw engine's on the same data.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import psycopg

from bench.store_texts import (
    DIMENSIONS,
    IN_DOCUMENT,
    QUERIES,
    Known,
    hundreds,
    pieces,
    questions,
    vectors,
)
from foveate.pipeline.assembler import Assembler
from foveate.stores.postgres.store import PostgresStore

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
from postgres_server import serving


class Clock:
    """CPU seconds of this process and of one process of the server."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._server = Path(f"/proc/{connection.info.backend_pid}/schedstat")

    def now(self) -> float:
        """Both together."""
        return time.process_time() + int(self._server.read_text().split()[0]) / 1e9

    def timed(self, calls: Sequence[Callable[[], object]]) -> tuple[float, float]:
        """Median and 95th percentile in milliseconds; the first is called once before."""
        calls[0]()
        took = []
        for call in calls:
            begun = self.now()
            call()
            took.append((self.now() - begun) * 1000)
        return float(np.percentile(took, 50)), float(np.percentile(took, 95))


def session(store: PostgresStore) -> psycopg.Connection[Any]:
    """The one connection of a pool of one."""
    with store._pool.connection() as connection:  # noqa: SLF001
        return connection


def ingest(store: PostgresStore, count: int, seed: int) -> dict[str, float]:
    """A hundred documents a transaction; chunks a second of CPU, and what the server's share is."""
    clock, here = Clock(session(store)), 0.0
    taken = 0.0
    for number, (some, rows) in enumerate(hundreds(count, seed)):
        begun, mine = clock.now(), time.process_time()
        with store.batch():
            for piece, row in zip(some, rows, strict=True):
                store.put(piece.document, piece.chunks, row)
        taken += clock.now() - begun
        here += time.process_time() - mine
        if number % 20 == 19:
            so_far = (number + 1) * 100 * IN_DOCUMENT
            print(f"{so_far:,} chunks, {so_far / taken:,.0f} a second", file=sys.stderr, flush=True)
    return {"chunks_a_second": count / taken, "share_of_server": 1 - here / taken}


def ingest_raw(url: str, count: int, seed: int) -> float:
    """The texts into a plain table with an index by place, by COPY; chunks a second of CPU."""
    with psycopg.connect(url) as raw:
        clock, taken = Clock(raw), 0.0
        raw.execute("CREATE TABLE raw (id int PRIMARY KEY, d text, s int, text text)")
        raw.execute("CREATE INDEX place ON raw (d, s)")
        everything = [
            (chunk.document_id, chunk.sequence, chunk.text)
            for piece in pieces(count, seed)
            for chunk in piece.chunks
        ]
        begun = clock.now()
        with raw.cursor().copy("COPY raw FROM STDIN") as copy:
            for number, row in enumerate(everything):
                copy.write_row((number, *row))
        taken = clock.now() - begun
    return count / taken


def measure(store: PostgresStore, url: str, count: int, seed: int) -> dict[str, Any]:
    """Searches, neighbours and contexts, ours and raw."""
    asked = questions(seed + 1)
    rows = vectors(np.random.default_rng(seed + 1), QUERIES)
    known = dict(zip(asked, rows, strict=True))
    random = Random(seed)  # noqa: S311
    places = [
        [(f"d{random.randrange(count // IN_DOCUMENT):07}", random.randrange(10)) for _ in range(50)]
        for _ in asked
    ]

    assembler = Assembler(store=store, embedder=Known(known))
    clock = Clock(session(store))
    ours = {
        "words": clock.timed([lambda q=q: store.search(q, None) for q in asked]),
        "vectors": clock.timed([lambda v=v: store.search("", v) for v in rows]),
        "search": clock.timed([lambda q=q: store.search(q, known[q]) for q in asked]),
        "neighbours": clock.timed([lambda p=p: store.neighbours(p, 1) for p in places]),
        "context": clock.timed([lambda q=q: assembler.assemble(q) for q in asked]),
    }
    return {**ours, **measure_raw(url, rows, places)}


def measure_raw(url: str, rows: Any, places: Sequence[Any]) -> dict[str, tuple[float, float]]:
    """The cosine of pgvector over the same halves, and a plain SELECT around the same places."""
    near = "SELECT chunk FROM bench.scan ORDER BY vector <=> %s::halfvec LIMIT 50"
    around = (
        "SELECT r.* FROM unnest(%s::text[], %s::int[]) AS p (d, s) "
        "JOIN raw AS r ON r.d = p.d AND r.s BETWEEN p.s - 1 AND p.s + 1"
    )
    scaled = np.rint(rows / np.abs(rows).max(axis=1, keepdims=True) * 127).astype(int).tolist()
    with psycopg.connect(url, autocommit=True) as raw:
        clock = Clock(raw)
        cursor = raw.cursor(binary=True)
        raw.execute("VACUUM ANALYZE raw")
        bound = [[[d for d, _ in some], [s for _, s in some]] for some in places]
        return {
            "raw vectors": clock.timed(
                [lambda v=v: cursor.execute(near, [str(v)]).fetchall() for v in scaled]
            ),
            "raw neighbours": clock.timed(
                [lambda b=b: cursor.execute(around, b).fetchall() for b in bound]
            ),
        }


def main() -> int:
    """Fill, measure, print a table and, last, everything as one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with serving(shared_buffers="1GB", max_parallel_workers_per_gather=0) as url:
        store = PostgresStore(
            f"{url}&schema=bench&pool=1", embedder_name="random-256", dimensions=DIMENSIONS
        )
        with closing(store):
            figures = ingest(store, asked.chunks, asked.seed)
            figures["raw"] = ingest_raw(url, asked.chunks, asked.seed)
            store.compact()
            sizes = {name: size / asked.chunks for name, size in store.stats().bytes.items()}
            times = measure(store, url, asked.chunks, asked.seed)
    for name, value in figures.items():
        print(f"ingest {name.replace('_', ' ')}: {value:,.2f}")
    print("bytes a chunk:", ", ".join(f"{name} {size:,.0f}" for name, size in sizes.items()))
    print(f"{'':12}{'p50 ms':>9}{'p95 ms':>9}{'raw p50':>9}{'ratio':>7}")
    for name, (median, high) in times.items():
        if name.startswith("raw "):
            continue
        raw = times.get(f"raw {name}", (0.0, 0.0))[0]
        beside = f"{raw:9.1f}{median / raw:7.2f}" if raw else ""
        print(f"{name:12}{median:9.1f}{high:9.1f}{beside}")
    print(json.dumps({"chunks": asked.chunks, "ingest": figures, "bytes": sizes, "cpu_ms": times}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How long the distributed store takes, in a folder or on an object store, exact and by index.

    python bench/bench_lance.py --chunks 100000

The corpus and the questions are those of bench_store.py. Times are wall milliseconds of one reader,
since the work is partly Lance's threads and partly waiting; CPU milliseconds stand beside them.
`exact` compares every vector, `index` asks IVF_RQ and compares what it names; recall is of the ten
best by vector. A part is written by one process; many may do so side by side.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bench.store_texts import DIMENSIONS, IN_DOCUMENT, pieces, questions, vectors
from foveate.stores.lance import LanceStore

PART = 10_000
"""Chunks in a part."""


def timed(calls: Sequence[Callable[[], object]]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds, and CPU; the first call is for warming up."""
    calls[0]()
    took, cpu = [], time.process_time()
    for call in calls:
        begun = time.perf_counter()
        call()
        took.append((time.perf_counter() - begun) * 1000)
    spent = (time.process_time() - cpu) * 1000 / len(calls)
    p50, p95 = np.percentile(took, [50, 95])
    return {"p50": float(p50), "p95": float(p95), "cpu": spent}


def ingest(url: str, count: int, seed: int) -> dict[str, float]:
    """Commits of ten thousand chunks each."""
    random = np.random.default_rng(seed)
    store = LanceStore(url, embedder_name="clustered-256", dimensions=DIMENSIONS)
    todo = pieces(count, seed)
    wall = cpu = 0.0
    while some := list(islice(todo, PART // IN_DOCUMENT)):
        made = vectors(random, len(some) * IN_DOCUMENT)
        made = made.reshape(len(some), IN_DOCUMENT, DIMENSIONS)
        begun, used = time.perf_counter(), time.process_time()
        with store.batch():
            for piece, own in zip(some, made, strict=True):
                store.put(piece.document, piece.chunks, own)
        wall += time.perf_counter() - begun
        cpu += time.process_time() - used
    begun = time.perf_counter()
    store.compact()
    compacted = time.perf_counter() - begun
    return {
        "chunks_a_second": count / wall,
        "chunks_a_cpu_second": count / cpu,
        "compact_seconds": compacted,
    }


def measure(url: str, count: int, asked: Sequence[str], rows: Any) -> dict[str, Any]:
    """Searches and neighbours with every vector compared, then by index, and its recall."""
    random = Random(1)  # noqa: S311
    places = [
        [(f"d{random.randrange(count // IN_DOCUMENT):07}", random.randrange(10)) for _ in range(50)]
        for _ in asked
    ]
    begun = time.perf_counter()
    with closing(LanceStore(url, create=False)) as store:
        store.search("", rows[0])
        found: dict[str, Any] = {"first_search_seconds": time.perf_counter() - begun}
        found["words cold"] = timed([lambda q=q: store.search(q, None) for q in asked])
        found["exact"] = timed(
            [lambda q=q, v=v: store.search(q, v) for q, v in zip(asked, rows, strict=True)]
        )
        found["neighbours"] = timed([lambda p=p: store.neighbours(p, 1) for p in places])
        sizes = store.stats().bytes
        found["bytes_a_chunk"] = {name: size / count for name, size in sizes.items()}
        best = [ids(store, vector) for vector in rows]
    with closing(LanceStore(url, create=False, exact=0)) as store:
        begun = time.perf_counter()
        store.compact()
        found["index_seconds"] = time.perf_counter() - begun
        found["index"] = timed(
            [lambda q=q, v=v: store.search(q, v) for q, v in zip(asked, rows, strict=True)]
        )
        found["index vectors"] = timed([lambda v=v: store.search("", v) for v in rows])
        hits = [len(ids(store, v) & b) / 10 for v, b in zip(rows, best, strict=True)]
        found["recall@10"] = float(np.mean(hits))
        found["index_bytes_a_chunk"] = store.stats().bytes["indexes"] / count
    return found


def ids(store: LanceStore, vector: Any) -> set[str]:
    """The ten best by vector alone."""
    return {c.id for c in store.search("", vector, limit=10, depth=50).candidates}


def main() -> int:
    """Fill, measure, print; last, everything as one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--url", help="where to keep the store; a new place")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = given.url or f"lance:{Path(folder) / 'store'}"
        figures = ingest(url, given.chunks, given.seed)
        asked = questions(given.seed + 1)
        rows = vectors(np.random.default_rng(given.seed + 1), len(asked))
        found = measure(url, given.chunks, asked, rows)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for name, value in {**figures, **found, "peak_megabytes": memory}.items():
        many = value if isinstance(value, dict) else {"": value}
        print(f"{name:22}" + "".join(f"{key:>10} {one:10,.2f}" for key, one in many.items()))
    print(json.dumps({"chunks": given.chunks, "ingest": figures, **found, "megabytes": memory}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

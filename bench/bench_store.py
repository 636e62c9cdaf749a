"""How long the embedded store takes, beside the raw engines in the same run.

    python -m bench.bench_store --chunks 100000

The corpus is that of `store_texts`; what an embedder costs is its own. Times are CPU milliseconds
of this process, so that a busy machine changes them little; a ratio is ours beside the raw
engine's. `first` asks every question for the first time since the store was opened, `warm` each of
them again. `context` is the whole way from a question to the text that is sent, by the default
recipe. Recall is of the first ten, against every row compared in whole numbers.
"""

from __future__ import annotations

import argparse
import json
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

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
from foveate.core.text.terms import query_terms
from foveate.pipeline.assembler import Assembler
from foveate.ports import Store
from foveate.stores import open_store
from foveate.stores.int8 import quantise
from foveate.stores.sql import write
from foveate.stores.sql.postings import PendingPostings
from foveate.stores.sqlite.store import SqliteStore

PARTS = {
    "terms": (write, "terms_to_index"),
    "postings": (PendingPostings, "flush"),
    "vectors": (write, "quantise_or_zeros"),
}
"""Part of ingest → where its work is done; the rest is rows, state root and commits."""


def timed(calls: Sequence[Callable[[], object]]) -> tuple[float, float]:
    """Median and 95th percentile in CPU milliseconds."""
    took = []
    for call in calls:
        begun = time.process_time()
        call()
        took.append((time.process_time() - begun) * 1000)
    return float(np.percentile(took, 50)), float(np.percentile(took, 95))


@contextmanager
def clocked(taken: dict[str, float]) -> Iterator[None]:
    """CPU seconds spent in each part, added up in `taken`."""

    def wrapped(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **options: Any) -> Any:
            begun = time.process_time()
            try:
                return work(*args, **options)
            finally:
                taken[name] = taken.get(name, 0.0) + time.process_time() - begun

        return run

    patches = [
        patch.object(module, name, wrapped(part, getattr(module, name)))
        for part, (module, name) in PARTS.items()
    ]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def ingest(folder: Path, count: int, seed: int) -> dict[str, float]:
    """Fill the store a hundred documents a transaction; chunks a second, shares of the parts."""
    taken, parts = 0.0, dict[str, float]()
    with closing(open_store(folder, embedder_name="random-256", dimensions=DIMENSIONS)) as store:
        assert isinstance(store, SqliteStore)
        with clocked(parts):
            for number, (some, rows) in enumerate(hundreds(count, seed)):
                begun = time.process_time()
                with store.batch():
                    for piece, row in zip(some, rows, strict=True):
                        store.put(piece.document, piece.chunks, row)
                taken += time.process_time() - begun
                if number % 100 == 99:
                    so_far = (number + 1) * 100 * IN_DOCUMENT
                    print(f"{so_far:,} chunks, {so_far / taken:,.0f} a second", file=sys.stderr)
    raw = ingest_raw(folder / "raw.db", count, seed)
    shares = {f"share_of_{name}": part / taken for name, part in parts.items()}
    rest = 1 - sum(shares.values())
    return {"chunks_a_second": count / taken, **shares, "share_of_rows": rest, "ratio": taken / raw}


def ingest_raw(path: Path, count: int, seed: int) -> float:
    """The same texts into a table and FTS5, which has the words only; CPU seconds."""
    taken = 0.0
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, d TEXT, s INTEGER, text TEXT)")
        raw.execute("CREATE INDEX place ON chunks (d, s)")
        raw.execute("CREATE VIRTUAL TABLE words USING fts5 (text, content='')")
        number = 0
        todo = pieces(count, seed)
        while some := [chunk for piece in islice(todo, 100) for chunk in piece.chunks]:
            begun = time.process_time()
            raw.execute("BEGIN")
            for chunk in some:
                row = (number, chunk.document_id, chunk.sequence, chunk.text)
                raw.execute("INSERT INTO chunks VALUES (?, ?, ?, ?)", row)
                raw.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (number, chunk.text))
                number += 1
            raw.execute("COMMIT")
            taken += time.process_time() - begun
    return taken


def measure(folder: Path, count: int, seed: int) -> dict[str, Any]:
    """Searches, neighbours and contexts, ours and raw; recall; what opening takes."""
    asked = questions(seed + 1)
    rows = vectors(np.random.default_rng(seed + 1), QUERIES)
    known = dict(zip(asked, rows, strict=True))
    random = Random(seed)  # noqa: S311
    places = [
        [(f"d{random.randrange(count // IN_DOCUMENT):07}", random.randrange(10)) for _ in range(50)]
        for _ in asked
    ]

    def search(store: Store) -> dict[str, list[Callable[[], object]]]:
        return {
            "search": [lambda q=q: store.search(q, known[q]) for q in asked],
            "neighbours": [lambda p=p: store.neighbours(p, 1) for p in places],
        }

    def context(store: Store) -> dict[str, list[Callable[[], object]]]:
        assembler = Assembler(store=store, embedder=Known(known))
        return {
            "context": [lambda q=q: assembler.assemble(q) for q in asked],
            "search of context": [lambda q=q: assembler.search(q) for q in asked],
        }

    def legs(store: Store) -> dict[str, list[Callable[[], object]]]:
        return {
            "vectors": [lambda v=v: store.search("", v) for v in rows],
            "words": [lambda q=q: store.search(q, None) for q in asked],
        }

    with closing(open_store(folder, create=False)) as store:  # makes vectors.bin where it is not
        store.search("", rows[0])
    begun = time.process_time()
    with closing(open_store(folder, create=False)) as store:
        store.search("", rows[0])
        figures: dict[str, Any] = {"open": ((time.process_time() - begun) * 1000,) * 2}
    for group in (legs, search, context):
        with closing(open_store(folder, create=False)) as store:
            store.search("", rows[0])
            for name, calls in group(store).items():
                figures[f"{name}, first"] = timed(calls)
                figures[name] = timed(calls)
    with closing(open_store(folder, create=False)) as store:
        assert isinstance(store, SqliteStore)
        store.search("", rows[0])  # reads the vectors
        matrix = store._scan.vectors  # type: ignore[union-attr]  # noqa: SLF001 (the same bytes)
        figures["recall@10"] = recall(store, np.asarray(matrix), rows)
        raw = measure_raw(folder / "raw.db", asked, rows, np.asarray(matrix), places)
    figures["memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {**figures, **raw}


def recall(store: SqliteStore, matrix: Any, rows: Any) -> float:
    """The share of the ten nearest, in whole numbers, that a search brings."""
    lengths = np.sqrt([float((row.astype(np.int64) ** 2).sum()) for row in matrix])
    found = 0
    for vector in rows:
        wide = quantise([vector], rows=1, dimensions=DIMENSIONS)[0].astype(np.int32)
        blocks = range(0, len(matrix), 65_536)
        dots = [matrix[at : at + 65_536].astype(np.int32) @ wide for at in blocks]
        best = np.argsort(-np.concatenate(dots) / lengths, kind="stable")[:10]
        names = {f"d{row // IN_DOCUMENT:07}-{row % IN_DOCUMENT}" for row in best.tolist()}
        found += len(names & {c.id for c in store.search("", vector, limit=10).candidates})
    return found / (10 * len(rows))


def measure_raw(
    path: Path, asked: Sequence[str], rows: Any, matrix: Any, places: Sequence[Any]
) -> dict[str, tuple[float, float]]:
    """FTS5's best fifty, the scores of all vectors, the rows around fifty places."""
    match = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 50"
    around = " OR ".join(["d = ? AND s BETWEEN ? AND ?"] * 50)
    near = f"SELECT * FROM chunks WHERE {around}"  # noqa: S608
    block = 1024

    def scan(vector: Any) -> object:
        wide = np.rint(vector / np.abs(vector).max() * 127).astype(np.float32)
        starts = range(0, len(matrix), block)
        scores = [matrix[at : at + block].astype(np.float32) @ wide for at in starts]
        return np.argpartition(-np.concatenate(scores), 50)[:50]

    with closing(sqlite3.connect(path)) as raw:
        wanted = [" OR ".join(f'"{term}"' for term in query_terms(query)) for query in asked]
        bound = [[v for d, s in some for v in (d, s - 1, s + 1)] for some in places]
        return {
            "raw words": timed([lambda q=q: raw.execute(match, (q,)).fetchall() for q in wanted]),
            "raw vectors": timed([lambda v=v: scan(v) for v in rows]),
            "raw neighbours": timed([lambda b=b: raw.execute(near, b).fetchall() for b in bound]),
        }


def main() -> int:
    """Fill, measure, print a table and, last, everything as one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keep the store there, and use it again")
    parser.add_argument("--fill", action="store_true", help="fill the folder and measure nothing")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary) / "store"
        filled = (folder / "raw.db").exists()
        figures: dict[str, Any] = {} if filled else ingest(folder, asked.chunks, asked.seed)
        times = {} if asked.fill else measure(folder, asked.chunks, asked.seed)
    for name, value in figures.items():
        print(f"ingest {name.replace('_', ' ')}: {value:,.2f}")
    print(f"{'CPU ms':18}{'p50':>9}{'p95':>9}{'raw p50':>9}{'ratio':>7}")
    for name, value in times.items():
        if isinstance(value, float):
            print(f"{name:18}{value:9.3f}")
        elif not name.startswith("raw "):
            raw = times.get(f"raw {name.partition(',')[0]}", (0.0, 0.0))[0]
            beside = f"{raw:9.1f}{value[0] / raw:7.2f}" if raw else ""
            print(f"{name:18}{value[0]:9.1f}{value[1]:9.1f}{beside}")
    print(json.dumps({"chunks": asked.chunks, "ingest": figures, "cpu_ms": times}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

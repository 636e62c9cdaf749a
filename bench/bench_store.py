"""How long the embedded store takes, beside the raw engines in the same run.

    python bench/bench_store.py --chunks 100000

The corpus is made from the Python language reference that comes with CPython: sentences that
follow one another, and rare names between them, the same for the same seed. Vectors are random:
what an embedder costs is its own. Times are CPU milliseconds of this process, so that a busy
machine changes them little; a ratio is ours beside the raw engine's. `words` asks every question
for the first time, `search` again, when its words are in memory; `context` is of the default
recipe, with texts that it has not seen.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from pydoc_data.topics import topics
from random import Random
from typing import Any

import numpy as np

from foveate.adapters.stores import open_store
from foveate.adapters.stores.sqlite import SqliteStore
from foveate.assembler import Assembler
from foveate.core.text.terms import document_terms, query_terms
from foveate.core.types import Chunk
from foveate.plan import plan
from foveate.ports import Document

DIMENSIONS, IN_DOCUMENT, SENTENCES, NAMES, QUERIES = 256, 10, 12, 4, 100
REFERENCE = re.sub(r"\s+", " ", " ".join(topics[name] for name in sorted(topics)))
LINES = [line for line in re.split(r"(?<=[.:]) ", REFERENCE) if 20 < len(line) < 400]


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A document and its chunks."""

    document: Document
    chunks: tuple[Chunk, ...]


def pieces(count: int, seed: int) -> Iterator[Piece]:
    """Documents of ten chunks of some 250 words."""
    random = Random(seed)  # noqa: S311
    for number in range(count // IN_DOCUMENT):
        texts = [_text(random) for _ in range(IN_DOCUMENT)]
        name = f"d{number:07}"
        document = Document(id=name, source=f"{name}.md", text="".join(texts))
        chunks = [
            Chunk(text=text, id=f"{name}-{i}", document_id=name, source=f"{name}.md", sequence=i)
            for i, text in enumerate(texts)
        ]
        yield Piece(document=document, chunks=tuple(chunks))


def _text(random: Random) -> str:
    at = random.randrange(len(LINES) - SENTENCES)
    # Names by rank, few of them often and most of them hardly ever.
    names = [f"name{int(random.paretovariate(0.6)) % 200_000}" for _ in range(NAMES)]
    return " ".join([*LINES[at : at + SENTENCES], *names]) + " "


def questions(seed: int) -> list[str]:
    """Eight words in a row of a sentence, and a name."""
    random = Random(seed)  # noqa: S311
    found = []
    while len(found) < QUERIES:
        words = random.choice(LINES).split()
        if len(words) >= 8:
            at = random.randrange(len(words) - 7)
            found.append(" ".join([*words[at : at + 8], f"name{random.randrange(1, 2000)}"]))
    return found


class Known:
    """An embedder that knows the vector of every question."""

    name, dimensions = "random-256", DIMENSIONS

    def __init__(self, vectors: dict[str, Any]) -> None:
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> Any:
        """Looked up."""
        return np.stack([self._vectors[text] for text in texts])


def timed(calls: Sequence[Callable[[], object]]) -> tuple[float, float]:
    """Median and 95th percentile in CPU milliseconds; the first call is for warming up."""
    calls[0]()
    took = []
    for call in calls:
        begun = time.process_time()
        call()
        took.append((time.process_time() - begun) * 1000)
    return float(np.percentile(took, 50)), float(np.percentile(took, 95))


def ingest(folder: Path, count: int, seed: int) -> dict[str, float]:
    """Fill the store a hundred documents a transaction; chunks a second, by part."""
    random = np.random.default_rng(seed)
    with closing(open_store(folder, embedder_name="random-256", dimensions=DIMENSIONS)) as store:
        assert isinstance(store, SqliteStore)
        taken, todo = 0.0, list(pieces(count, seed))
        for start in range(0, len(todo), 100):
            vectors = random.standard_normal((100, IN_DOCUMENT, DIMENSIONS), dtype=np.float32)
            begun = time.process_time()
            with store.batch():
                for piece, rows in zip(todo[start : start + 100], vectors, strict=False):
                    store.put(piece.document, piece.chunks, rows)
            taken += time.process_time() - begun
    begun = time.process_time()
    for piece in todo:
        for chunk in piece.chunks:
            document_terms(chunk.text)
    words = time.process_time() - begun
    raw = ingest_raw(folder / "raw.db", todo)
    return {"chunks_a_second": count / taken, "share_of_terms": words / taken, "ratio": taken / raw}


def ingest_raw(path: Path, todo: Sequence[Piece]) -> float:
    """The same texts into a table and FTS5, which has the words only."""
    begun = time.process_time()
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, d TEXT, s INTEGER, text TEXT)")
        raw.execute("CREATE INDEX place ON chunks (d, s)")
        raw.execute("CREATE VIRTUAL TABLE words USING fts5 (text, content='')")
        raw.execute("BEGIN")
        for number, chunk in enumerate(c for piece in todo for c in piece.chunks):
            row = (number, chunk.document_id, chunk.sequence, chunk.text)
            raw.execute("INSERT INTO chunks VALUES (?, ?, ?, ?)", row)
            raw.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (number, chunk.text))
        raw.execute("COMMIT")
    return time.process_time() - begun


def measure(folder: Path, count: int, seed: int) -> dict[str, tuple[float, float]]:
    """Searches, neighbours and contexts, ours and raw."""
    asked = questions(seed + 1)
    rows = np.random.default_rng(seed + 1).standard_normal((QUERIES, DIMENSIONS))
    vectors = dict(zip(asked, rows, strict=True))
    random = Random(seed)  # noqa: S311
    places = [
        [(f"d{random.randrange(count // IN_DOCUMENT):07}", random.randrange(10)) for _ in range(50)]
        for _ in asked
    ]
    with closing(open_store(folder, create=False)) as store:
        assembler = Assembler(store=store, embedder=Known(vectors), plan=plan(recipe="default"))
        ours = {
            "words": timed([lambda q=q: store.search(q, None) for q in asked]),
            "vectors": timed([lambda v=v: store.search("", v) for v in rows]),
            "search": timed([lambda q=q: store.search(q, vectors[q]) for q in asked]),
            "neighbours": timed([lambda p=p: store.neighbours(p, 1) for p in places]),
            "context": timed([lambda q=q: assembler.assemble(q) for q in asked]),
        }
        assert isinstance(store, SqliteStore)
        matrix = np.asarray(store._scan.vectors)  # noqa: SLF001 (the raw scan, of the same bytes)
    return {**ours, **measure_raw(folder / "raw.db", asked, rows, matrix, places)}


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
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary) / "store"
        filled = (folder / "raw.db").exists()
        figures: dict[str, Any] = {} if filled else ingest(folder, asked.chunks, asked.seed)
        times = measure(folder, asked.chunks, asked.seed)
    for name, value in figures.items():
        print(f"ingest {name.replace('_', ' ')}: {value:,.2f}")
    print(f"{'':12}{'p50 ms':>9}{'p95 ms':>9}{'raw p50':>9}{'ratio':>7}")
    for name, (median, high) in times.items():
        if name.startswith("raw "):
            continue
        raw = times.get(f"raw {name}", (0.0, 0.0))[0]
        beside = f"{raw:9.1f}{median / raw:7.2f}" if raw else ""
        print(f"{name:12}{median:9.1f}{high:9.1f}{beside}")
    print(json.dumps({"chunks": asked.chunks, "ingest": figures, "cpu_ms": times}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

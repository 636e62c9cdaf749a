"""Vectors as int8, and the array that a search scans: row ids, audiences, lengths, vectors.

The truth is in SQLite; the array is derived, kept in memory and in one memory-mapped file. It
carries the number and the hash chain of the write it belongs to, and a digest of its own bytes: a
torn, stale or foreign file is not used. An older state of this very store is brought up to date
(row ids are never used again, so the set of ids says what is gone and what is new).
"""

from __future__ import annotations

import os
import sqlite3
import struct
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blake3 import blake3

from foveate.adapters.stores.int8 import norms

FILE = "vectors.bin"
_HEADER = struct.Struct("<8sQ32sQQ32s")
_MAGIC = b"FOVEVEC1"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scan:
    """What a search scans, row by row, ids ascending; numpy arrays of one length."""

    generation: int
    version: bytes
    ids: Any  # int64: chunk row ids
    audiences: Any  # int32
    terms: Any  # int32: BM25's document length
    norms: Any  # int32: the squared length of each vector
    vectors: Any  # int8, (rows, dimensions)
    inverse: Any  # float32: one by the length of each vector, 0 where it has none; not in the file
    words: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    """Postings read in this state, kept by `lexical.postings`; not in the file."""
    views: dict[tuple[int, ...], Any] = field(default_factory=dict)
    """What sets of audiences may read, kept by `readable.view_of`; not in the file."""
    held: dict[str, Any] = field(default_factory=dict)
    """Which rows approximate indexes speak for, kept by `nearby.held_by`; not in the file."""


def current(connection: sqlite3.Connection, folder: Path, known: Scan | None) -> Scan:
    """The array of the state that this read transaction sees."""
    facts = dict(connection.execute("SELECT key, value FROM meta"))
    generation, version = facts["generation"], facts["version"]
    path, dimensions = folder / FILE, facts["dimensions"]
    if known is None:
        known = load(path, dimensions)
    if known is not None and (known.generation, known.version) == (generation, version):
        return known
    usable = known if known is not None and ancestor(connection, known) else None
    scan, added = refresh(connection, usable, generation, version, dimensions)
    # Written again only when much has changed: a store that grows row by row is not rewritten
    # row by row, and whoever opens it later adds the rest for himself.
    if usable is None or added * 20 > len(scan.ids):
        save(path, scan)
    return scan


def ancestor(connection: sqlite3.Connection, scan: Scan) -> bool:
    """Whether the array is of a state that this very store has been in lately."""
    query = "SELECT 1 FROM history WHERE generation = ? AND version = ?"
    return connection.execute(query, (scan.generation, scan.version)).fetchone() is not None


def refresh(
    connection: sqlite3.Connection,
    old: Scan | None,
    generation: int,
    version: bytes,
    dimensions: int,
) -> tuple[Scan, int]:
    """The array of this state, from an older one or from nothing; how many rows were read."""
    import numpy as np

    last = int(old.ids[-1]) if old is not None and len(old.ids) else 0
    query = "SELECT chunk, audience, terms, vector FROM scan WHERE chunk > ? ORDER BY chunk"
    rows = connection.execute(query, (last,)).fetchall()
    data = b"".join(row[3] for row in rows)
    vectors = np.frombuffer(data, dtype=np.int8).reshape(len(rows), dimensions)
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    audiences = np.array([row[1] for row in rows], dtype=np.int32)
    terms = np.array([row[2] for row in rows], dtype=np.int32)
    squares = norms(vectors)
    if old is not None:
        live = connection.execute("SELECT chunk FROM scan WHERE chunk <= ? ORDER BY chunk", (last,))
        kept = np.isin(old.ids, np.fromiter((row[0] for row in live), dtype=np.int64))
        ids = np.concatenate([old.ids[kept], ids])
        audiences = np.concatenate([old.audiences[kept], audiences])
        terms = np.concatenate([old.terms[kept], terms])
        squares = np.concatenate([old.norms[kept], squares])
        vectors = np.concatenate([old.vectors[kept], vectors])
    return made(generation, version, ids, audiences, terms, squares, vectors), len(rows)


def made(generation: int, version: bytes, *arrays: Any) -> Scan:
    """A scan of these arrays, in the order of `parts`."""
    import numpy as np

    ids, audiences, terms, squares, vectors = arrays
    lengths = np.sqrt(squares, dtype=np.float64)
    inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return Scan(
        generation=generation,
        version=version,
        ids=ids,
        audiences=audiences,
        terms=terms,
        norms=squares,
        vectors=vectors,
        inverse=inverse.astype(np.float32),
    )


def parts(scan: Scan) -> tuple[Any, ...]:
    """The arrays, in the order in which they stand in the file."""
    return (scan.ids, scan.audiences, scan.terms, scan.norms, scan.vectors)


def save(path: Path, scan: Scan) -> None:
    """Written aside and renamed; best effort: without the file the next reader reads SQLite."""
    digest = blake3()
    for part in parts(scan):
        digest.update(part.tobytes())
    rows, dimensions = scan.vectors.shape
    header = (_MAGIC, scan.generation, scan.version, rows, dimensions, digest.digest())
    aside = path.with_name(f"store.db.{os.getpid()}.{id(scan)}.vectors")
    with suppress(OSError):
        try:
            with aside.open("wb") as file:
                file.write(_HEADER.pack(*header))
                for part in parts(scan):
                    file.write(part.tobytes())
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)


def load(path: Path, dimensions: int) -> Scan | None:
    """The array in the file, or None where there is none that can be trusted."""
    import numpy as np

    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError):
        return None
    if len(data) < _HEADER.size:
        return None
    magic, generation, version, rows, width, digest = _HEADER.unpack(bytes(data[: _HEADER.size]))
    body = data[_HEADER.size :]
    if (magic, width, len(body)) != (_MAGIC, dimensions, rows * (20 + dimensions)):
        return None
    if blake3(body.data, max_threads=blake3.AUTO).digest() != digest:
        return None
    at = rows * 8
    ids = body[:at].view("<i8")
    narrow = body[at : at + 12 * rows].view("<i4").reshape(3, rows)
    vectors = body[at + 12 * rows :].view(np.int8).reshape(rows, dimensions)
    return made(generation, version, ids, *narrow, vectors)

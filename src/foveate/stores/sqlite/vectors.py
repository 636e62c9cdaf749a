"""The rows that a search scans, derived from SQLite: row ids, audiences, lengths, int8 vectors.

The memory-mapped file has the version of its write and its own digest, so that a torn one is not
used. Any other version is brought up to date by its row ids, and built again where the sum over the
rows is then another than the store's.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import numpy as np
from blake3 import blake3

from foveate.stores.atomic_write import atomic_write
from foveate.stores.checksums import MASK, damage, sum_of_vectors
from foveate.stores.int8 import ScannedRows, cache_for, inverse_norms, squared_norms

FILE = "vectors.bin"
_HEADER = struct.Struct("<8s16sQQQ32s")
_SUM = struct.Struct("<Q")
_MAGIC = b"FOVEVEC3"
_WHAT = "the rows that a search scans are not as they were written"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scan(ScannedRows):
    """The rows of one state of the store; what is not an array of rows is not in the file."""

    version: bytes
    checksum: int
    """The sum over the rows."""


def load_current_scan(
    connection: Connection, folder: Path, known: Scan | None, facts: Mapping[str, Any]
) -> Scan:
    """The array of the state that this read transaction sees, of which these are the facts."""
    path, dimensions = folder / FILE, facts["dimensions"]
    if known is None:
        known = load_scan(path, dimensions)
    wanted = facts["version"], facts["scan"]
    if known is not None and (known.version, known.checksum) == wanted:
        return known
    scan, added = refresh_scan(connection, known, facts)
    if scan.checksum != facts["scan"] and known is not None:
        known, (scan, added) = None, refresh_scan(connection, None, facts)
    if scan.checksum != facts["scan"]:
        raise damage(_WHAT)
    # Written again only when much has changed: a store that grows row by row is not rewritten
    # row by row, and whoever opens it later adds the rest for himself.
    if known is None or added * 20 > len(scan.ids):
        save_scan(path, scan)
    return scan


def refresh_scan(
    connection: Connection, old: Scan | None, facts: Mapping[str, Any]
) -> tuple[Scan, int]:
    """The array of this state, from an older one or from nothing; how many rows were read."""
    last = int(old.ids[-1]) if old is not None and len(old.ids) else 0
    arrays = rows_of(connection, "chunk > ?", last, facts["dimensions"])
    added = len(arrays[0])
    checksum = summed(arrays)
    if old is not None:
        live = connection.execute("SELECT chunk FROM scan WHERE chunk <= ? ORDER BY chunk", (last,))
        kept = np.isin(old.ids, np.fromiter((row[0] for row in live), dtype=np.int64))
        gone = summed([part[~kept] for part in scan_arrays(old)])
        checksum = (checksum + old.checksum - gone) & MASK
        arrays = [
            np.concatenate([before[kept], new])
            for before, new in zip(scan_arrays(old), arrays, strict=True)
        ]
    return build_scan(facts["version"], *arrays, checksum=checksum), added


def rows_of(connection: Connection, condition: str, bound: int, dimensions: int) -> list[Any]:
    """Rows of the database as arrays, in the order of `scan_arrays`."""
    query = (
        "SELECT chunk, audience, terms, CAST(vector AS BLOB) FROM scan "
        f"WHERE {condition} ORDER BY chunk"
    )
    rows = connection.execute(query, (bound,)).fetchall()
    try:
        vectors = np.frombuffer(b"".join(row[3] for row in rows), dtype=np.int8)
        vectors = vectors.reshape(len(rows), dimensions)
        ids = np.array([row[0] for row in rows], dtype=np.int64)
        figures = np.array([row[1:3] for row in rows], dtype=np.int64).reshape(len(rows), 2)
    except (TypeError, ValueError, OverflowError):
        raise damage(_WHAT) from None
    if len(rows) and not -1 < figures.min() <= figures.max() < 1 << 31:
        raise damage(_WHAT)
    audiences, terms = figures.T.astype(np.int32)
    return [ids, audiences, terms, squared_norms(vectors), vectors]


def summed(arrays: Sequence[Any]) -> int:
    """The sum over rows, given in the order of `scan_arrays`; lengths follow from the vectors."""
    ids, audiences, terms, _, vectors = arrays
    return sum_of_vectors(ids, audiences, terms, vectors)


def build_scan(version: bytes, *arrays: Any, checksum: int = 0) -> Scan:
    """A scan of these arrays, in the order of `scan_arrays`; `checksum`: the sum over the rows."""
    ids, audiences, terms, squares, vectors = arrays
    return Scan(
        version=version,
        checksum=checksum,
        ids=ids,
        audiences=audiences,
        terms=terms,
        norms=squares,
        vectors=vectors,
        inverse=inverse_norms(squares),
        cache=cache_for(len(ids)),
    )


def scan_arrays(scan: Scan) -> tuple[Any, ...]:
    """The arrays in the order of the file."""
    return (scan.ids, scan.audiences, scan.terms, scan.norms, scan.vectors)


def save_scan(path: Path, scan: Scan) -> None:
    """Written aside and renamed; best effort: without the file the next reader reads SQLite."""
    digest = blake3(_SUM.pack(scan.checksum))
    for part in scan_arrays(scan):
        digest.update(part.tobytes())
    rows, width = scan.vectors.shape
    state = (_MAGIC, scan.version, scan.checksum)
    header = (*state, rows, width, digest.digest())
    with suppress(OSError), atomic_write(path) as file:
        file.write(_HEADER.pack(*header))
        for part in scan_arrays(scan):
            file.write(part.tobytes())


def load_scan(path: Path, dimensions: int) -> Scan | None:
    """The rows in the file, or None if it cannot be trusted."""
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError):
        return None
    if len(data) < _HEADER.size:
        return None
    header = _HEADER.unpack(bytes(data[: _HEADER.size]))
    magic, version, checksum, rows, width, digest = header
    body = data[_HEADER.size :]
    if (magic, width, len(body)) != (_MAGIC, dimensions, rows * (20 + dimensions)):
        return None
    begun = blake3(_SUM.pack(checksum), max_threads=blake3.AUTO)
    if begun.update(body.data).digest() != digest:
        return None
    at = rows * 8
    ids = body[:at].view("<i8")
    narrow = body[at : at + 12 * rows].view("<i4").reshape(3, rows)
    vectors = body[at + 12 * rows :].view(np.int8).reshape(rows, dimensions)
    return build_scan(version, ids, *narrow, vectors, checksum=checksum)

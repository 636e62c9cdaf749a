"""The rows that a search scans, derived from SQLite: row ids, audiences, lengths, int8 vectors.

The memory-mapped file has the version of its write and its own digest, so that a torn one is not
used. Any other version is brought up to date by its row ids, and built again where the sum over the
rows is then another than the store's.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from blake3 import blake3

from foveate.stores.atomic_write import atomic_write
from foveate.stores.checksums import MASK, damage
from foveate.stores.int8 import ScannedRows, inverse_norms
from foveate.stores.sql.tables import load_facts
from foveate.stores.sql.write import row_sums
from foveate.stores.sqlite.database import SqliteDatabase

FILE = "vectors.bin"
_HEADER = struct.Struct("<8sQQQQ32s")
_SUM = struct.Struct("<Q")
_MAGIC = b"FOVEVEC4"
_WHAT = "the rows that a search scans are not as they were written"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scan(ScannedRows):
    """The rows of one state of the store; what is not an array of rows is not in the file."""

    version: int
    """The facts' `writes`."""
    checksum: int
    """The sum over the rows."""


def load_current_scan(
    database: SqliteDatabase, folder: Path | None, known: Scan | None = None
) -> Scan:
    """The array of the state that this read transaction sees; None reads the database alone."""
    version = load_facts(database).writes
    if known is None and folder is not None:
        known = load_scan(folder / FILE, database.dimensions)
    if known is not None and known.version == version:
        return known
    wanted = sum(row[0] for row in database.rows("SELECT scan FROM {s}.audiences")) & MASK
    scan, added = refresh_scan(database, known, version)
    if scan.checksum != wanted and known is not None:
        known, (scan, added) = None, refresh_scan(database, None, version)
    if scan.checksum != wanted:
        raise damage(_WHAT)
    # Written again only when much has changed: a store that grows row by row is not rewritten
    # row by row, and whoever opens it later adds the rest for himself.
    if folder is not None and (known is None or added * 20 > len(scan.ids)):
        save_scan(folder / FILE, scan)
    return scan


def refresh_scan(database: SqliteDatabase, old: Scan | None, version: int) -> tuple[Scan, int]:
    """The array of this state, from an older one or from nothing; how many rows were read."""
    last = int(old.ids[-1]) if old is not None and len(old.ids) else 0
    arrays = _read_rows(database, last)
    added = len(arrays[0])
    checksum = _sum(arrays)
    if old is not None:
        live = database.rows("SELECT chunk FROM {s}.scan WHERE chunk <= %s", (last,))
        kept = np.isin(old.ids, np.fromiter((row[0] for row in live), dtype=np.int64))
        checksum += old.checksum - _sum([part[~kept] for part in scan_arrays(old)])
        arrays = [
            np.concatenate([before[kept], new])
            for before, new in zip(scan_arrays(old), arrays, strict=True)
        ]
    return build_scan(version, *arrays, checksum=checksum & MASK), added


def _read_rows(database: SqliteDatabase, last: int) -> list[Any]:
    """Rows behind this one as arrays, in the order of `scan_arrays`."""
    query = (
        "SELECT chunk, audience, terms, norm, CAST(vector AS BLOB) FROM {s}.scan "
        "WHERE chunk > %s ORDER BY chunk"
    )
    rows = database.rows(query, (last,))
    try:
        vectors = np.frombuffer(b"".join(row[4] for row in rows), dtype=np.int8)
        vectors = vectors.reshape(len(rows), database.dimensions)
        ids = np.array([row[0] for row in rows], dtype=np.int64)
        figures = np.array([row[1:4] for row in rows], dtype=np.int64).reshape(len(rows), 3)
    except (TypeError, ValueError, OverflowError):
        raise damage(_WHAT) from None
    if len(rows) and not -1 < figures.min() <= figures.max() < 1 << 31:
        raise damage(_WHAT)
    return [ids, *figures.T.astype(np.int32), vectors]


def _sum(arrays: Sequence[Any]) -> int:
    """The sum over rows, given in the order of `scan_arrays`."""
    ids, _, *figures = arrays
    return sum(row_sums(ids, *figures))


def build_scan(version: int, *arrays: Any, checksum: int = 0) -> Scan:
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

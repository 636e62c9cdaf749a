"""Approximate vector indexes of an embedded store, each with the rows of one audience.

The database has the digest of each file, so that no torn or foreign one is used. Row ids are never
used again: rows that an index lacks are compared exactly, rows that are gone are skipped. Scores
are exact, the selection is not, and the result names the index.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import numpy as np
from blake3 import blake3

from foveate.core.errors import ExternalError, MissingExtra
from foveate.stores.lexical import View
from foveate.stores.sqlite.schema import update_facts
from foveate.stores.vectors import Scan

MIN_ROWS = 1_000_000
"""Rows of an audience from which on an index is built: up to there, all are compared at once."""
_META_PREFIX = "nearby "
_OVERSAMPLING = 4
"""So many times the rows that are wanted are looked for."""
_MAX_LOOKED_FOR = 4_000
"""Beyond so many to be looked for, the rows that a filter wants are compared instead."""
_CONNECTIVITY, _EXPANSION = 16, 64
_BLOCK = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRecord:
    """What the database knows of an index: rows with ids up to `last`, the digest of its file."""

    last: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VectorIndex:
    """One audience's index of rows, under their ids."""

    audience: int
    record: IndexRecord
    index: Any
    data: Any
    """The file's bytes, which the index reads as it needs them."""

    @property
    def version(self) -> str:
        """Its name in a manifest: library, method, digest."""
        return f"usearch hnsw {self.record.digest[:16]}"


def index_path(folder: Path, audience: int) -> Path:
    """The index's file."""
    return folder / f"nearby-{audience}.bin"


def load_records(facts: Mapping[str, Any]) -> dict[int, IndexRecord]:
    """Audience → its index, as far as one was built; `facts`: of the store."""
    return {
        int(key.removeprefix(_META_PREFIX)): IndexRecord(**json.loads(value))
        for key, value in facts.items()
        if key.startswith(_META_PREFIX)
    }


def save_record(connection: Connection, audience: int, built: IndexRecord) -> None:
    """Record an index whose file is complete."""
    value = json.dumps({"last": built.last, "digest": built.digest})
    update_facts(connection, {f"{_META_PREFIX}{audience}": value})


def load_index(
    folder: Path, audience: int, known: IndexRecord, dimensions: int
) -> VectorIndex | None:
    """The mapped index, or None if the file is not the one that was built or cannot be read."""
    try:
        from usearch.index import Index
    except ImportError:
        return None
    data = _map_if_intact(index_path(folder, audience), known.digest)
    if data is None:
        return None
    try:
        index = Index.restore(memoryview(data), view=True)
    except (RuntimeError, ValueError, TypeError):  # of another version of the library
        return None
    if index is None or index.ndim != dimensions:
        return None
    return VectorIndex(audience=audience, record=known, index=index, data=data)


def _map_if_intact(path: Path, digest: str) -> Any:
    """The bytes of the very file that was built, mapped; None for any other."""
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError):
        return None
    same = blake3(data.data, max_threads=blake3.AUTO).hexdigest() == digest
    return data if same else None


def build_indexes(folder: Path, scan: Scan, least: int) -> Iterator[tuple[int, IndexRecord]]:
    """Write a reproducible index for every audience of `least` rows; raises `MissingExtra`."""
    try:
        from usearch.index import Index
    except ImportError:
        raise MissingExtra("usearch", "ann") from None
    audiences, counts = np.unique(scan.audiences[scan.norms > 0], return_counts=True)
    for audience in audiences[counts >= least].tolist():
        rows = np.flatnonzero((scan.audiences == audience) & (scan.norms > 0))
        index = Index(
            ndim=scan.vectors.shape[1],
            metric="cos",
            dtype="i8",
            connectivity=_CONNECTIVITY,
            expansion_add=_EXPANSION,
        )
        for start in range(0, len(rows), _BLOCK):
            some = rows[start : start + _BLOCK]
            index.add(scan.ids[some].astype(np.uint64), scan.vectors[some], threads=1)
        digest = _save_index(index, index_path(folder, audience))
        yield audience, IndexRecord(last=int(scan.ids[rows[-1]]), digest=digest)


def _save_index(index: Any, path: Path) -> str:
    """Written aside and renamed; the digest of the file."""
    aside = path.with_name(f"store.db.{os.getpid()}.{id(index)}.vectors")
    try:
        index.save(str(aside))
        digest = blake3(max_threads=blake3.AUTO).update_mmap(aside).hexdigest()
        aside.replace(path)
    except RuntimeError as error:
        raise ExternalError(f"store: the index cannot be written: {error}") from None
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
    return digest


def rows_in_index(scan: Scan, nearby: VectorIndex) -> Any:
    """The rows of the index as booleans by position, cached with the scan."""
    known = scan.index_rows.get(nearby.record.digest)
    if known is None:
        known = (scan.audiences == nearby.audience) & (scan.ids <= nearby.record.last)
        scan.index_rows[nearby.record.digest] = known
    return known


def search_index(scan: Scan, nearby: VectorIndex, aim: Any, wanted: Any, depth: int) -> Any:
    """Positions, ascending, of wanted rows that are near; None if too few rows are wanted."""
    held = rows_in_index(scan, nearby)
    mine = int(np.count_nonzero(held & wanted)) if wanted is not None else int(held.sum())
    looked_for = _OVERSAMPLING * depth * len(nearby.index) // max(mine, 1)
    while looked_for <= _MAX_LOOKED_FOR:
        nearby.index.expansion_search = max(looked_for, 64)
        keys = nearby.index.search(aim, looked_for, threads=1).keys.astype(np.int64)
        found = np.searchsorted(scan.ids, keys)
        found = found[scan.ids.take(found, mode="clip") == keys]
        found = found if wanted is None else found[wanted[found]]
        if len(found) >= min(depth, mine):
            return np.sort(found)
        looked_for *= 2
    return None


class LoadedIndexes:
    """The indexes of a store as they were last loaded."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder, self._dimensions = folder, dimensions
        self._indexes: dict[tuple[int, str], VectorIndex | None] = {}

    def indexes_for_view(self, facts: Mapping[str, Any], view: View) -> list[VectorIndex]:
        """Those whose rows all may be read, in the order of their digests."""
        found = load_records(facts)
        current = {(audience, one.digest): one for audience, one in found.items()}
        self._indexes = {key: one for key, one in self._indexes.items() if key in current}
        for (audience, digest), one in current.items():
            if audience in view.audiences and (audience, digest) not in self._indexes:
                loaded = load_index(self._folder, audience, one, self._dimensions)
                self._indexes[audience, digest] = loaded
        usable = [n for (a, _), n in self._indexes.items() if n is not None and a in view.audiences]
        return sorted(usable, key=lambda nearby: nearby.record.digest)

    def clear(self) -> None:
        """Close the files."""
        self._indexes = {}


def check_index_files(folder: Path, facts: Mapping[str, Any], scan: Scan) -> Iterator[str]:
    """Findings for the files of indexes, for `check`."""
    for audience, one in load_records(facts).items():
        path = index_path(folder, audience)
        if not path.exists():
            continue
        if _map_if_intact(path, one.digest) is None:
            yield f"{path.name} is not the one that was built; it is not used, delete it"
            continue
        nearby = load_index(folder, audience, one, scan.vectors.shape[1])
        if nearby is None:
            continue  # nothing here can read it, so nothing uses it
        held = (scan.audiences == audience) & (scan.ids <= one.last) & (scan.norms > 0)
        for start in range(0, len(rows := np.flatnonzero(held)), _BLOCK):
            some = rows[start : start + _BLOCK]
            keys = scan.ids[some].astype(np.uint64)
            there = nearby.index.contains(keys)
            same = there.all() and np.array_equal(
                np.asarray(nearby.index.get(keys)), scan.vectors[some]
            )
            if not same:
                yield f"{path.name} says other things than the rows; delete it"
                break

"""The rows of a version in memory, ordered by key, and which version is the latest.

A file is read once; after deletions only its keys are read again. Above `exact` rows the vectors
stay in the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from foveate.stores.int8 import ScannedRows, cache_for, inverse_norms
from foveate.stores.lance import files
from foveate.stores.lance.files import Snapshot, load_snapshot
from foveate.stores.lance.location import Location, convert_engine_errors
from foveate.stores.lance.schema import LOCAL_BITS
from foveate.stores.lexical import View, view_for_audiences

_COLUMNS = ("key", "audience", "terms", "norm")


class FileRows(NamedTuple):
    """The chunks of one file, numpy arrays of one length. `vectors` is None where left out."""

    keys: Any  # int64, ascending
    audiences: Any  # int64
    terms: Any  # int32
    norms: Any  # int32
    vectors: Any  # int8, (rows, dimensions)

    def select(self, kept: Any) -> FileRows:
        """Those rows alone (booleans, or a slice, which copies nothing)."""
        return FileRows(*(None if column is None else column[kept] for column in self))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scan(ScannedRows):
    """All chunks of a version, ordered by key, with `audiences` as positions in `numbers`.

    `vectors` is None if they stay in the store. `fragments`: segment → the fragment of its chunks.
    """

    numbers: Any  # int64, ascending
    fragments: Mapping[int, int]

    def view(self, audiences: Sequence[int]) -> View:
        """What these audiences may read."""
        mine = np.flatnonzero(np.isin(self.numbers, np.array(audiences, dtype=np.int64)))
        return view_for_audiences(self, mine.tolist())

    def addresses(self, positions: Any) -> Any:
        """Lance's row addresses: the file, and the place in it, which is the key's low part."""
        keys = self.ids[positions]
        segments, local = keys >> LOCAL_BITS, keys & ((1 << LOCAL_BITS) - 1)
        distinct, at = np.unique(segments, return_inverse=True)
        files = np.array([self.fragments[int(one)] for one in distinct], dtype=np.int64)
        return (files[at] << 32) | local if len(keys) else keys

    def positions(self, keys: Any) -> tuple[Any, Any]:
        """The positions of these keys, and which keys exist (booleans)."""
        if not len(self.ids):
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), bool)
        at = np.searchsorted(self.ids, keys)
        return at, self.ids.take(at, mode="clip") == keys


class ScanReader:
    """Makes a version's scan, and keeps what it read of each file for the next one."""

    def __init__(self, dimensions: int, exact: int) -> None:
        self.exact = exact
        self._dimensions = dimensions
        self._rows_by_file: dict[str, tuple[str, FileRows]] = {}
        self._with_vectors = True

    def clear(self) -> None:
        """Forget all rows."""
        self._rows_by_file = {}

    def scan(self, snapshot: Snapshot) -> Scan:
        """All rows of this version."""
        chunks = sum(audience.chunks for audience in snapshot.head.audiences.values())
        with_vectors = chunks <= self.exact
        if with_vectors != self._with_vectors:
            self._rows_by_file, self._with_vectors = {}, with_vectors
        files = {
            number: fragment
            for number in sorted(snapshot.head.segments)
            if (fragment := snapshot.fragment(number, "chunks")) is not None
        }
        self._rows_by_file = {
            name: rows for name, rows in self._rows_by_file.items() if name in snapshot.files
        }
        rows = [self._load_rows(fragment) for fragment in files.values()]
        joined = FileRows(
            keys=_concatenate([one.keys for one in rows], np.int64),
            audiences=_concatenate([one.audiences for one in rows], np.int64),
            terms=_concatenate([one.terms for one in rows], np.int32),
            norms=_concatenate([one.norms for one in rows], np.int32),
            vectors=_concatenate([one.vectors for one in rows], np.int8, (0, self._dimensions))
            if with_vectors
            else None,
        )
        self._share_arrays(joined, files.values())
        numbers = np.array(sorted(snapshot.head.audiences), dtype=np.int64)
        return Scan(
            ids=joined.keys,
            audiences=np.searchsorted(numbers, joined.audiences).astype(np.int32),
            numbers=numbers,
            terms=joined.terms,
            norms=joined.norms,
            inverse=inverse_norms(joined.norms),
            vectors=joined.vectors,
            fragments={number: fragment.fragment_id for number, fragment in files.items()},
            cache=cache_for(len(joined.keys)),
        )

    def _share_arrays(self, joined: FileRows, fragments: Iterable[Any]) -> None:
        """Make the rows of each file views of the joined arrays, so that memory holds them once."""
        start = 0
        for fragment in fragments:
            name = fragment.data_files()[0].path
            deleted, rows = self._rows_by_file[name]
            end = start + len(rows.keys)
            self._rows_by_file[name] = deleted, joined.select(slice(start, end))
            start = end

    def _load_rows(self, fragment: Any) -> FileRows:
        name, deleted = fragment.data_files()[0].path, str(fragment.deletion_file())
        known = self._rows_by_file.get(name)
        if known is None:
            known = deleted, self._read_fragment(fragment)
        elif known[0] != deleted:
            live = fragment.to_table(columns=["key"]).column(0).to_numpy()
            known = deleted, known[1].select(_isin_sorted(known[1].keys, live))
        self._rows_by_file[name] = known
        return known[1]

    def _read_fragment(self, fragment: Any) -> FileRows:
        with_vectors = self._with_vectors and self._dimensions > 0
        columns = [*_COLUMNS, "vector"] if with_vectors else [*_COLUMNS]
        found = fragment.to_table(columns=columns)
        vectors = None
        if self._with_vectors:
            vectors = np.zeros((found.num_rows, self._dimensions), dtype=np.int8)
        if with_vectors:
            vectors = vectors_from_column(found.column("vector"), self._dimensions)
        return FileRows(
            keys=found.column("key").to_numpy(),
            audiences=found.column("audience").to_numpy(),
            terms=found.column("terms").to_numpy().astype(np.int32),
            norms=found.column("norm").to_numpy(),
            vectors=vectors,
        )


def vectors_from_column(column: Any, dimensions: int) -> Any:
    """An Arrow column of half floats as int8 rows."""
    parts = [
        chunk.flatten().to_numpy(zero_copy_only=False).astype(np.int8) for chunk in column.chunks
    ]
    return _concatenate(parts, np.int8).reshape(-1, dimensions)


def _concatenate(parts: Sequence[Any], kind: Any, shape: tuple[int, ...] = (0,)) -> Any:
    if not parts:
        return np.zeros(shape, kind)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _isin_sorted(keys: Any, live: Any) -> Any:
    at = np.searchsorted(live, keys)
    return live.take(at, mode="clip") == keys if len(live) else np.zeros(len(keys), bool)


class Versions:
    """Looks each time whether there is a newer one: a read sees what was acknowledged before it."""

    def __init__(self, place: Location, dataset: Any, reader: ScanReader) -> None:
        self.reader = reader
        self._place, self._dataset = place, dataset
        self._lock = RLock()
        self._snapshot: Snapshot | None = None
        self._verified: dict[str, str] = {}
        self._scan: tuple[int, Scan] | None = None

    def current(self, *, verify: bool = True) -> Snapshot:
        """The latest version; raises where its files are not as they were written."""
        with self._lock, convert_engine_errors(self._place):
            latest = self._dataset.latest_version
            if self._snapshot is None or self._snapshot.version != latest:
                self._dataset = self._dataset.checkout_version(latest)
                now = load_snapshot(self._dataset)
                if not verify:
                    return now
                self._verified = files.verify(self._place, now, self._verified)
                self._snapshot = now
            return self._snapshot

    def current_scan(self) -> tuple[Snapshot, Scan]:
        """The latest version, and its rows in memory."""
        with self._lock, convert_engine_errors(self._place):
            now = self.current()
            if self._scan is None or self._scan[0] != now.version:
                self._scan = now.version, self.reader.scan(now)
            return now, self._scan[1]

    def clear(self) -> None:
        """Forget what is in memory."""
        with self._lock:
            self._scan = self._snapshot = None
            self.reader.clear()

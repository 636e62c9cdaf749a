"""What is known of texts by their content hash: token counts and readings. A memory, no content.

It is a table of its own that only grows, so that it never stands in the way of a transaction; of
two rows for one text the later one counts. Losing it costs work and changes no answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from threading import RLock
from typing import Any

from foveate.stores.lance import schema
from foveate.stores.lance.commit import iter_batches
from foveate.stores.lance.engine_errors import import_lance
from foveate.stores.lance.labels import in_condition, quote_literal
from foveate.stores.lance.location import Location
from foveate.stores.request_checks import is_encodable

_MAX_LISTED_HASHES = 1_000
"""Beyond so many hashes all rows of their space are read, which is cheaper than a long list."""
_FILES_TO_MERGE = 32
"""Small files are joined when there are so many."""
_TIERS = (1 << 5, 1 << 10, 1 << 15, 1 << 20)
"""Files between two of these are of one size, and joined they are of the next: so a row is written
anew a few times on its way, however many come."""


class TextMemory:
    """`space` tells whose knowledge it is: a tokenizer's fingerprint, a version of readings."""

    def __init__(self, place: Location) -> None:
        self._place = place
        self._dataset: Any = None
        self._lock = RLock()

    def get(self, space: str, hashes: Sequence[str]) -> dict[str, bytes]:
        """What is known of these texts."""
        if not hashes or not is_encodable(space):
            return {}
        with self._lock:
            dataset = self._current_dataset(make=False)
        if dataset is None:
            return {}
        wanted = set(hashes)
        found: dict[str, tuple[int, bytes]] = {}
        for some in (
            iter_batches(sorted(wanted), _MAX_LISTED_HASHES)
            if len(wanted) <= 4 * _MAX_LISTED_HASHES
            else [()]
        ):
            condition = f"space = {quote_literal(space)}"
            if some:
                condition += f" AND {in_condition('hash', some)}"
            columns = ["hash", "data", "moment"]
            rows = dataset.scanner(columns=columns, filter=condition).to_table()
            for name, data, at in zip(*(rows.column(c).to_pylist() for c in columns), strict=True):
                if name in wanted and at >= found.get(name, (0, b""))[0]:
                    found[name] = at, data
        return {name: data for name, (_, data) in found.items()}

    def add(self, spaces: Mapping[str, Mapping[str, bytes]]) -> None:
        """Keep these; one commit, which cannot meet another's."""
        rows = [
            (space, *item)
            for space, many in spaces.items()
            for item in many.items()
            if is_encodable(space + item[0])
        ]
        if not rows:
            return
        table = _build_table(rows)
        with self._lock:
            self._dataset = import_lance().write_dataset(
                table,
                self._current_dataset(make=True),
                mode="append",
                storage_options=self._place.storage_options(),
            )
            self._join_small()

    def bytes(self) -> int:
        """Of the files of its latest version."""
        with self._lock:
            dataset = self._current_dataset(make=False)
        files = (one for f in dataset.get_fragments() for one in f.data_files()) if dataset else ()
        return sum(one.file_size_bytes or 0 for one in files)

    def _join_small(self) -> None:
        rows = [one.physical_rows for one in self._dataset.get_fragments()]
        for least, most in pairwise((0, *_TIERS)):
            if sum(least <= number < most for number in rows) >= _FILES_TO_MERGE:
                self._dataset.optimize.compact_files(target_rows_per_fragment=most)
                return

    def compact(self, keep: timedelta) -> None:
        """Join small files; versions younger than `keep` stay."""
        with self._lock:
            dataset = self._current_dataset(make=False)
            if dataset is not None:
                dataset.optimize.compact_files()
                dataset.cleanup_old_versions(older_than=keep)

    def _current_dataset(self, *, make: bool) -> Any:
        if self._dataset is None:
            self._dataset = schema.open_table(self._place, schema.TEXT_MEMORY_TABLE)
        else:
            # Another object, since a reader may be at work with the one before.
            latest = self._dataset.latest_version
            if latest != self._dataset.version:
                self._dataset = self._dataset.checkout_version(latest)
        if self._dataset is None and make:
            first = _build_table([])
            self._dataset = schema.create_table(
                self._place, schema.TEXT_MEMORY_TABLE, first.schema, first
            )
        return self._dataset


def _build_table(rows: Sequence[tuple[str, str, bytes]]) -> Any:
    import pyarrow as pa

    moment = time.time_ns()
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    types = (pa.string(), pa.string(), pa.binary())
    arrays = [pa.array(list(c), kind) for c, kind in zip(columns, types, strict=True)]
    arrays.append(pa.array([moment] * len(rows), pa.int64()))
    return pa.table(arrays, names=["space", "hash", "data", "moment"])

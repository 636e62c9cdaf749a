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

from foveate.adapters.stores.asked import encodable
from foveate.adapters.stores.lance import schema
from foveate.adapters.stores.lance.commit import sliced
from foveate.adapters.stores.lance.guard import engine
from foveate.adapters.stores.lance.labels import among, literal
from foveate.adapters.stores.lance.place import Place

_MANY = 1_000
"""Beyond so many hashes all rows of their space are read, which is cheaper than a long list."""
_FILES = 32
"""Small files are joined when there are so many."""
_TIERS = (1 << 5, 1 << 10, 1 << 15, 1 << 20)
"""Files between two of these are of one size, and joined they are of the next: so a row is written
anew a few times on its way, however many come."""


class Known:
    """`space` tells whose knowledge it is: a tokenizer's fingerprint, a version of readings."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._dataset: Any = None
        self._lock = RLock()

    def get(self, space: str, hashes: Sequence[str]) -> dict[str, bytes]:
        """What is known of these texts."""
        if not hashes or not encodable(space):
            return {}
        with self._lock:
            dataset = self._current(make=False)
        if dataset is None:
            return {}
        wanted = set(hashes)
        found: dict[str, tuple[int, bytes]] = {}
        for some in sliced(sorted(wanted), _MANY) if len(wanted) <= 4 * _MANY else [()]:
            condition = f"space = {literal(space)}"
            if some:
                condition += f" AND {among('hash', some)}"
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
            if encodable(space + item[0])
        ]
        if not rows:
            return
        table = _table(rows)
        with self._lock:
            self._dataset = engine().write_dataset(
                table,
                self._current(make=True),
                mode="append",
                storage_options=self._place.storage(),
            )
            self._join_small()

    def bytes(self) -> int:
        """Of the files of its latest version."""
        with self._lock:
            dataset = self._current(make=False)
        files = (one for f in dataset.get_fragments() for one in f.data_files()) if dataset else ()
        return sum(one.file_size_bytes or 0 for one in files)

    def _join_small(self) -> None:
        rows = [one.physical_rows for one in self._dataset.get_fragments()]
        for least, most in pairwise((0, *_TIERS)):
            if sum(least <= number < most for number in rows) >= _FILES:
                self._dataset.optimize.compact_files(target_rows_per_fragment=most)
                return

    def compact(self, keep: timedelta) -> None:
        """Join small files; versions younger than `keep` stay."""
        with self._lock:
            dataset = self._current(make=False)
            if dataset is not None:
                dataset.optimize.compact_files()
                dataset.cleanup_old_versions(older_than=keep)

    def _current(self, *, make: bool) -> Any:
        if self._dataset is None:
            self._dataset = schema.opened(self._place, schema.KNOWN)
        else:
            # Another object, since a reader may be at work with the one before.
            latest = self._dataset.latest_version
            if latest != self._dataset.version:
                self._dataset = self._dataset.checkout_version(latest)
        if self._dataset is None and make:
            first = _table([])
            self._dataset = schema.made(self._place, schema.KNOWN, first.schema, first)
        return self._dataset


def _table(rows: Sequence[tuple[str, str, bytes]]) -> Any:
    import pyarrow as pa

    moment = time.time_ns()
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    types = (pa.string(), pa.string(), pa.binary())
    arrays = [pa.array(list(c), kind) for c, kind in zip(columns, types, strict=True)]
    arrays.append(pa.array([moment] * len(rows), pa.int64()))
    return pa.table(arrays, names=["space", "hash", "data", "moment"])

"""Originals of shortened tool results, by handle: bounded, per tenant, and gone after a while.

A handle is the beginning of the text's content hash, and never names two texts. One tenant never
reads what another kept, nor takes its room; a text that was kept for principals is read by those
who have all of them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from time import time
from typing import Any, TypeAlias

from foveate.core.checks import check_principals
from foveate.core.compact.shorten import result_handle
from foveate.core.errors import BadInput, BadOption, ExternalError
from foveate.core.seal import content_hash

Row: TypeAlias = tuple[Any, ...]

MEMORY = "memory:"
LIMIT = 256_000_000
"""Bytes of text that a store keeps; the oldest of the tenants that have most leave first."""
SEARCHED = 8_000_000
"""Bytes of the newest texts that a search looks through."""
DAYS = 30.0
"""Days after which a text that was not kept again is gone."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS originals (
    tenant TEXT NOT NULL,
    handle TEXT NOT NULL,
    principals TEXT NOT NULL,
    hash TEXT NOT NULL,
    text BLOB NOT NULL,
    kept REAL NOT NULL,
    PRIMARY KEY (tenant, handle, principals)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS originals_by_age ON originals (kept);
"""
_KEEP = """
INSERT INTO originals VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET kept = excluded.kept
WHERE hash = excluded.hash"""
_OVER = """
DELETE FROM originals WHERE (tenant, handle, principals) IN (SELECT tenant, handle, principals FROM
(SELECT tenant, handle, principals, sum(length(text)) OVER (PARTITION BY tenant ORDER BY kept DESC,
handle DESC, principals) AS size FROM originals) WHERE size > ?)"""
"""What of a tenant is older than its newest texts that have room together."""


class OriginalStore:
    """Originals in a file, or in memory for `memory:`; safe for threads and processes.

    `limit`: bytes of all texts together. `days`: how long a text is kept. `clock` gives seconds.

    >>> store = OriginalStore()
    >>> store.keep({"ignored": "All that the tool said."}, tenant="a")
    ['...']
    """

    def __init__(
        self,
        path: str | Path = MEMORY,
        *,
        limit: int = LIMIT,
        days: float = DAYS,
        clock: Callable[[], float] = time,
    ) -> None:
        if limit < 1 or days <= 0:
            raise BadOption(f"originals: limit {limit} and days {days} must be more than 0")
        self._limit, self._seconds, self._clock = limit, days * 86_400, clock
        self._lock = Lock()
        name = ":memory:" if str(path) == MEMORY else str(path)
        try:
            self._db = sqlite3.connect(name, timeout=10, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.executescript(_SCHEMA)
        except sqlite3.Error as error:
            raise ExternalError(f"originals: {path} cannot be opened: {error}") from error

    def keep(
        self, texts: Mapping[str, str], *, tenant: str = "", principals: Iterable[str] = ()
    ) -> list[str]:
        """Keep the texts (`Compacted.originals`) and give their handles, for these readers."""
        allowed = json.dumps(sorted(set(check_principals(principals))))
        now = self._clock()
        rows = [
            (tenant, result_handle(text), allowed, content_hash(text), text.encode(), now)
            for text in texts.values()
        ]
        with self._lock, _failures(), self._db:
            for row in rows:
                kept = self._db.execute(f"{_KEEP} RETURNING hash", row).fetchone()
                if kept is None:
                    raise BadInput(f"the handle {row[1]} names another text", field="texts")
            self._prune(now)
        return [row[1] for row in rows]

    def get(self, handle: str, *, tenant: str = "", principals: Iterable[str] = ()) -> str:
        """The text; raises `BadInput` where this reader has none of that handle."""
        readers = set(check_principals(principals))
        query = "SELECT principals, hash, text FROM originals WHERE tenant = ? AND handle = ?"
        with self._lock, _failures(), closing(self._db.cursor()) as cursor:
            rows = cursor.execute(
                f"{query} AND kept >= ?", (tenant, handle, self._clock() - self._seconds)
            ).fetchall()
        texts = {_checked(handle, digest, data) for _, digest, data in _readable(rows, readers)}
        if len(texts) > 1:
            raise BadInput(f"the handle {handle} names two texts", field="handle")
        for text in texts:
            return text
        raise unknown_handle(handle)

    def texts(self, *, tenant: str = "", principals: Iterable[str] = ()) -> dict[str, str]:
        """By handle, the newest texts that this reader may read, up to `SEARCHED` bytes."""
        readers = set(check_principals(principals))
        found, size = dict[str, str](), 0
        with self._lock, _failures(), closing(self._db.cursor()) as cursor:
            rows = cursor.execute(
                "SELECT principals, hash, text, handle FROM originals WHERE tenant = ? AND "
                "kept >= ? ORDER BY kept DESC, handle",
                (tenant, self._clock() - self._seconds),
            )
            for _, digest, data, handle in _readable(rows, readers):
                size += len(data)
                if size > SEARCHED:
                    break
                found[handle] = _checked(handle, digest, data)
        return found

    def _prune(self, now: float) -> None:
        self._db.execute("DELETE FROM originals WHERE kept < ?", (now - self._seconds,))
        sizes = self._db.execute("SELECT sum(length(text)) FROM originals GROUP BY tenant")
        if (share := _share([size for (size,) in sizes], self._limit)) is not None:
            self._db.execute(_OVER, (share,))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()


def _share(sizes: Iterable[int], limit: int) -> int | None:
    """What each tenant may keep, so that those with less lose nothing; None where all fits."""
    waiting = sorted(sizes)
    for n, size in enumerate(waiting):
        if size > (share := limit // (len(waiting) - n)):
            return share
        limit -= size
    return None


def _readable(rows: Iterable[Row], readers: set[str]) -> Iterator[Row]:
    """The rows that were kept for these readers."""
    return (row for row in rows if set(json.loads(row[0])) <= readers)


def _checked(handle: str, digest: str, data: object) -> str:
    """The text as it was kept."""
    text = data.decode(errors="replace") if isinstance(data, bytes) else str(data)
    if content_hash(text) != digest:
        raise ExternalError(f"originals: the text of {handle} is damaged")
    return text


@contextmanager
def _failures() -> Iterator[None]:
    """What the engine raises, as ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise ExternalError(f"originals: {error}") from error


def unknown_handle(handle: str) -> BadInput:
    """The error for a handle that nothing is kept under, whoever wrote it."""
    shown = handle[:40]
    return BadInput(
        f"no original has the handle {shown!r}; it was not kept here, or it is gone", field="handle"
    )

"""Originals of shortened tool results, by handle: bounded, per tenant, and gone after a while.

A handle is the beginning of the text's content hash. One tenant never reads what another kept, and
a text that was kept for principals is read by those who have all of them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from time import time

from foveate.core.checks import check_principals
from foveate.core.compact.shorten import result_handle
from foveate.core.errors import BadInput, BadOption, ExternalError
from foveate.core.seal import content_hash

MEMORY = "memory:"
LIMIT = 256_000_000
"""Bytes of text that a store keeps; the oldest leave first."""
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
            self._db.executemany("INSERT OR REPLACE INTO originals VALUES (?, ?, ?, ?, ?, ?)", rows)
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
        for allowed, digest, data in rows:
            known = set(json.loads(allowed))
            if known <= readers:
                text = data.decode(errors="replace") if isinstance(data, bytes) else str(data)
                if content_hash(text) != digest:
                    raise ExternalError(f"originals: the text of {handle} is damaged")
                return text
        raise unknown_handle(handle)

    def _prune(self, now: float) -> None:
        self._db.execute("DELETE FROM originals WHERE kept < ?", (now - self._seconds,))
        (size,) = self._db.execute(
            "SELECT coalesce(sum(length(text)), 0) FROM originals"
        ).fetchone()
        if size <= self._limit:
            return
        # What is older than the newest texts that have room together goes.
        self._db.execute(
            "DELETE FROM originals WHERE (tenant, handle, principals) IN (SELECT tenant, handle, "
            "principals FROM (SELECT tenant, handle, principals, sum(length(text)) OVER (ORDER BY "
            "kept DESC, handle DESC, tenant, principals) AS size FROM originals) WHERE size > ?)",
            (self._limit,),
        )

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()


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

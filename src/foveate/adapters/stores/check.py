"""Whether a store is whole: all that is derived is worked out again and compared. Only reads.

Rules: one read transaction, so a writer may go on; everything that is wrong is a finding with the
part it is in, and the rest is looked at all the same; a part has at most 100.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from foveate.adapters.stores import audit, nearby, schema, vectors
from foveate.adapters.stores.guard import damaged, guard
from foveate.adapters.stores.report import Finding, Report
from foveate.core.state import EMPTY, combine, root, shift

_MOST = 100


Part: TypeAlias = Callable[[], Iterator[str]]


def check(folder: Path | str) -> Report:
    """Check the store in `folder`; raises `BadInput` where there is none of this version."""
    folder = Path(folder)
    with guard():
        try:
            found = schema.connect(folder, embedder="", dimensions=0, create=False)
            with closing(found) as connection:
                connection.execute("BEGIN")
                return _checked(connection, folder)
        except sqlite3.DatabaseError as error:
            if not damaged(error):
                raise
            return Report(findings=(Finding(part="file", what=str(error)),))


def _checked(connection: sqlite3.Connection, folder: Path) -> Report:
    states: dict[int, bytes] = {}
    parts: dict[str, Part] = {
        "file": lambda: _integrity(connection),
        "rows": lambda: audit.rows(connection),
        "words": lambda: audit.words(connection),
        "vectors": lambda: _vectors(connection, folder),
        "readings": lambda: audit.readings(connection),
        "state": lambda: _state(connection, states),
    }
    findings = [
        Finding(part=name, what=what) for name, part in parts.items() for what in _readable(part)
    ]
    facts = dict(connection.execute("SELECT key, value FROM meta"))
    return Report(
        documents=connection.execute("SELECT count(*) FROM documents").fetchone()[0],
        chunks=connection.execute("SELECT count(*) FROM chunks").fetchone()[0],
        state_root=root(combine(states.values()), embedder=facts["embedder"]),
        findings=tuple(findings),
    )


def _readable(part: Part) -> Iterator[str]:
    """The part's findings; that it cannot be read is one."""
    try:
        yield from islice(part(), _MOST)
    except sqlite3.DatabaseError as error:
        if not damaged(error):
            raise
        yield f"cannot be read to its end: {error}"
    except (TypeError, ValueError) as error:
        yield f"holds a value that nobody put there: {error}"


def _integrity(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield line


def _vectors(connection: sqlite3.Connection, folder: Path) -> Iterator[str]:
    import numpy as np

    facts = dict(connection.execute("SELECT key, value FROM meta"))
    query = "SELECT chunk FROM scan WHERE length(vector) <> ?"
    wrong = connection.execute(query, (facts["dimensions"],)).fetchall()
    for (chunk,) in wrong:
        yield f"row {chunk}: its vector has not {facts['dimensions']} dimensions"
    if wrong:
        return
    generation, version = facts["generation"], facts["version"]
    live, _ = vectors.refresh(connection, None, generation, version, facts["dimensions"])
    yield from nearby.wrong(folder, connection, live)
    path = folder / vectors.FILE
    if not path.exists():
        return
    kept = vectors.load(path, facts["dimensions"])
    if kept is None:
        yield f"{vectors.FILE} is damaged; it is not used, and the next search writes it anew"
        return
    if not vectors.ancestor(connection, kept):
        return  # of a state that is not this store's: it is not used either
    both = np.intersect1d(kept.ids, live.ids)
    mine, theirs = np.searchsorted(kept.ids, both), np.searchsorted(live.ids, both)
    same: list[Any] = [
        np.array_equal(a[mine], b[theirs])
        for a, b in zip(vectors.parts(kept), vectors.parts(live), strict=True)
    ]
    if not all(same) or (kept.generation == generation and len(kept.ids) != len(live.ids)):
        yield f"{vectors.FILE} says other things than the rows; delete it"


def _state(connection: sqlite3.Connection, states: dict[int, bytes]) -> Iterator[str]:
    """Every audience's state and figures from scratch; leaves the states in `states`."""
    figures: dict[int, list[int]] = {}
    for document, members in audit.members(connection):
        for audience, encoded in members:
            states[audience] = shift(states.get(audience, EMPTY), added=[encoded])
            figures.setdefault(audience, [0, 0])[1] += 1
        figures[document][0] += 1
        figures[document][1] -= 1
    query = "SELECT id, principals, state, documents, chunks FROM audiences ORDER BY id"
    for audience, principals, state, *counted in connection.execute(query):
        if state != states.get(audience, EMPTY):
            yield f"the state of what {principals} may read is not that of the rows"
        if counted != (expected := figures.get(audience, [0, 0])):
            yield f"what {principals} may read is counted as {counted}, not {expected}"
    facts = dict(connection.execute("SELECT key, value FROM meta"))
    query = "SELECT generation, version FROM history ORDER BY generation DESC LIMIT 1"
    last = connection.execute(query).fetchone() or (0, bytes(32))
    if last != (facts["generation"], facts["version"]):
        yield f"the last write noted is number {last[0]}, the store's is {facts['generation']}"

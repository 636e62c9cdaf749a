"""The check of an embedded store: all that is derived is computed again in one read transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from sqlite3 import Connection
from typing import Any, TypeAlias

from foveate.core.errors import ExternalError
from foveate.core.state import EMPTY_STATE, combine_states, state_hash, update_state
from foveate.stores import vectors
from foveate.stores.report import Finding, Report
from foveate.stores.sqlite import audit, schema, vector_index
from foveate.stores.sqlite.schema import load_unverified_facts
from foveate.stores.sqlite.transactions import convert_engine_errors, is_damaged

_MAX_FINDINGS = 100


PartCheck: TypeAlias = Callable[[], Iterator[str]]


def check(folder: Path | str) -> Report:
    """Check the store in `folder`; raises `BadInput` where there is none of this version."""
    folder = Path(folder)
    with convert_engine_errors():
        try:
            with closing(schema.connect_existing(folder, write=False)) as connection:
                schema.refuse_older(connection, folder)
                connection.execute("BEGIN")
                return _check_connection(connection, folder)
        except sqlite3.DatabaseError as error:
            if not is_damaged(error):
                raise
            return Report(findings=(Finding(part="file", what=str(error)),))


def _check_connection(connection: Connection, folder: Path) -> Report:
    states: dict[int, bytes] = {}
    parts: dict[str, PartCheck] = {
        "file": lambda: _check_integrity(connection),
        "rows": lambda: audit.check_rows(connection),
        "words": lambda: audit.check_postings(connection),
        "vectors": lambda: _check_vectors(connection, folder),
        "readings": lambda: audit.check_analyses(connection),
        "state": lambda: _check_state(connection, states),
        "checksums": lambda: audit.checksums(connection),
    }
    findings = [
        Finding(part=name, what=what)
        for name, part in parts.items()
        for what in _iter_findings(part)
    ]
    return Report(
        documents=connection.execute("SELECT count(*) FROM documents").fetchone()[0],
        chunks=connection.execute("SELECT count(*) FROM chunks").fetchone()[0],
        state_root=state_hash(
            combine_states(states.values()),
            embedder=str(load_unverified_facts(connection).get("embedder")),
        ),
        findings=tuple(findings),
    )


def _iter_findings(part: PartCheck) -> Iterator[str]:
    """The part's findings; that it cannot be read is one."""
    try:
        yield from islice(part(), _MAX_FINDINGS)
    except sqlite3.DatabaseError as error:
        if not is_damaged(error):
            raise
        yield f"cannot be read to its end: {error}"
    except ExternalError as error:
        yield str(error)
    except Exception as error:  # noqa: BLE001 (what a damaged value leads to is not foreseen)
        yield f"holds a value that nobody put there: {error}"


def _check_integrity(connection: Connection) -> Iterator[str]:
    for (line,) in connection.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield line


def _check_vectors(connection: Connection, folder: Path) -> Iterator[str]:
    import numpy as np

    facts = load_unverified_facts(connection)
    query = "SELECT chunk FROM scan WHERE length(vector) <> ?"
    wrong = connection.execute(query, (facts["dimensions"],)).fetchall()
    for (chunk,) in wrong:
        yield f"row {chunk}: its vector has not {facts['dimensions']} dimensions"
    if wrong:
        return
    live, _ = vectors.refresh_scan(connection, None, facts)
    if live.checksum != facts["scan"]:
        yield "the rows that a search scans are not those that were written"
    yield from vector_index.check_index_files(folder, facts, live)
    path = folder / vectors.FILE
    if not path.exists():
        return
    kept = vectors.load_scan(path, facts["dimensions"])
    if kept is None:
        yield f"{vectors.FILE} is damaged; it is not used, and the next search writes it anew"
        return
    if not vectors.is_earlier_state(connection, kept):
        return  # of a state that is not this store's: it is not used either
    both = np.intersect1d(kept.ids, live.ids)
    mine, theirs = np.searchsorted(kept.ids, both), np.searchsorted(live.ids, both)
    same: list[Any] = [
        np.array_equal(a[mine], b[theirs])
        for a, b in zip(vectors.scan_arrays(kept), vectors.scan_arrays(live), strict=True)
    ]
    if not all(same) or (kept.generation == live.generation and len(kept.ids) != len(live.ids)):
        yield f"{vectors.FILE} says other things than the rows; delete it"


def _check_state(connection: Connection, states: dict[int, bytes]) -> Iterator[str]:
    """Every audience's state and figures from scratch; leaves the states in `states`."""
    figures: dict[int, list[int]] = {}
    for document, members in audit.iter_state_members(connection):
        for audience, encoded in members:
            states[audience] = update_state(states.get(audience, EMPTY_STATE), added=[encoded])
            figures.setdefault(audience, [0, 0])[1] += 1
        figures[document][0] += 1
        figures[document][1] -= 1
    query = "SELECT id, principals, state, documents, chunks FROM audiences ORDER BY id"
    for audience, principals, state, *counted in connection.execute(query):
        if state != states.get(audience, EMPTY_STATE):
            yield f"the state of what {principals} may read is not that of the rows"
        if counted != (expected := figures.get(audience, [0, 0])):
            yield f"what {principals} may read is counted as {counted}, not {expected}"
    facts = load_unverified_facts(connection)
    query = "SELECT generation, version FROM history ORDER BY generation DESC LIMIT 1"
    last = connection.execute(query).fetchone() or (0, bytes(32))
    if last != (facts["generation"], facts["version"]):
        yield f"the last write noted is number {last[0]}, the store's is {facts['generation']}"

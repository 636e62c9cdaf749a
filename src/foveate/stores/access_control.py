"""The rows in memory that a reader may read, and the statistics that BM25 takes from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from foveate.core.state import combine_states
from foveate.stores.int8 import ScannedRows
from foveate.stores.scoring import damping
from foveate.stores.sqlite import contents
from foveate.stores.vectors import Scan

_MAX_VIEWS = 16
"""Views, of 9 bytes a row each; and readers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """The rows of some audiences. `mask`: booleans by position, None where all are."""

    audiences: tuple[int, ...]
    mask: Any
    row_count: int
    term_count: int
    damping: Any
    """By position, float64: what BM25 adds to a term's occurrences."""


def of(connection: Connection, scan: Scan, principals: Iterable[str]) -> tuple[View, bytes]:
    """What these principals may read, and the lattice hash of it."""
    names = tuple(sorted(set(principals)))
    known = scan.readers.pop(names, None)
    if known is None:
        found = contents.readable_audiences(connection, names)
        known = tuple(row[0] for row in found), combine_states(row[2] for row in found)
    scan.readers[names] = known
    for old in list(scan.readers)[:-_MAX_VIEWS]:
        scan.readers.pop(old, None)
    return view_for_audiences(scan, known[0]), known[1]


def view_for_audiences(scan: ScannedRows, ids: Iterable[int]) -> View:
    """What these audiences may read."""
    allowed = tuple(sorted(ids))
    # Taken out and put in again: the front is what was not asked for longest.
    view: View = scan.views.pop(allowed, None) or build_view(scan, allowed)
    scan.views[allowed] = view
    for old in list(scan.views)[:-_MAX_VIEWS]:
        scan.views.pop(old, None)
    return view


def build_view(scan: ScannedRows, allowed: tuple[int, ...]) -> View:
    """The view of these audiences."""
    import numpy as np

    mask = np.isin(scan.audiences, np.array(allowed, dtype=np.int32))
    rows = int(np.count_nonzero(mask))
    words = int(scan.terms[mask].sum(dtype=np.int64))
    return View(
        audiences=allowed,
        mask=None if rows == len(mask) else mask,
        row_count=rows,
        term_count=words,
        damping=damping(scan.terms, total=rows, words=max(words, 1)),
    )

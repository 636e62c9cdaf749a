"""The rows that a reader may read, and exact BM25 with statistics of these rows alone.

FTS5's `bm25()` takes its statistics over all rows, which would reveal documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foveate.stores.int8 import ScannedRows
from foveate.stores.scoring import bm25, damping


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """The rows of some audiences. `mask`: booleans by position, None where all are."""

    audiences: tuple[int, ...]
    mask: Any
    row_count: int
    damping: Any
    """By position, float64: what BM25 adds to a term's occurrences."""


def view_for_audiences(scan: ScannedRows, ids: Iterable[int]) -> View:
    """What these audiences may read."""
    allowed = tuple(sorted(ids))
    view: View | None = scan.cache.get(allowed)
    if view is None:
        view = build_view(scan, allowed)
        scan.cache.put(allowed, view)
    return view


def build_view(scan: ScannedRows, allowed: tuple[int, ...]) -> View:
    """The view of these audiences."""
    mask = np.isin(scan.audiences, np.array(allowed, dtype=np.int32))
    rows = int(np.count_nonzero(mask))
    words = int(scan.terms[mask].sum(dtype=np.int64))
    return View(
        audiences=allowed,
        mask=None if rows == len(mask) else mask,
        row_count=rows,
        damping=damping(scan.terms, total=rows, words=max(words, 1)),
    )


def read_through_cache(
    scan: ScannedRows, terms: Sequence[str], read: Callable[[list[str]], list[tuple[Any, Any]]]
) -> dict[str, tuple[Any, Any]]:
    """The terms' postings, of which only those that are not in memory are read."""
    found: dict[str, Any] = {term: scan.cache.get(term) for term in terms}
    missing = [term for term in terms if found[term] is None]
    for term, postings in zip(missing, read(missing) if missing else [], strict=True):
        found[term] = postings
        scan.cache.put(term, postings)
    return found


def view_scores(found: Mapping[str, tuple[Any, Any]], view: View) -> Any:
    """BM25 of every row, float64, with the view's statistics; 0 for rows that may not be read."""
    return bm25(
        [*found.values()],
        view.damping.take,
        rows=len(view.damping),
        total=view.row_count,
        readable=view.mask,
    )

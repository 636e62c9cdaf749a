"""From scores to an order: what every store does alike once its engine has scored. Pure.

Rules: each leg is ordered by score, then by the content key (source, sequence, byte offset, id),
which also decides who stands at the end of a leg; the fused order is by RRF, then by the same key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from foveate.core.errors import BadOption
from foveate.core.fuse import rrf

SortKey: TypeAlias = tuple[str, int, int, str, int]
"""Source, sequence, byte offset, chunk id; the position last, which never gets to decide."""

_RUN = 128  # scores, of many, of which only the best is looked at first


def check_limits(limit: int, depth: int) -> None:
    """Raise `BadOption` where a search asks for no rows."""
    if limit < 1 or depth < 1:
        raise BadOption(f"search: limit is {limit} and depth {depth}; both must be 1 or more")


def best_rows(rows: Any, scores: Any, depth: int) -> Any:
    """The rows with the `depth` best scores, and all that tie with the last of them."""
    return rows[best_positions(scores, depth)]


def best_positions(scores: Any, depth: int) -> Any:
    """Positions, ascending, of the `depth` best scores and of all that tie with the last of them.

    >>> import numpy as np
    >>> best_positions(np.array([1.0, 3.0, 2.0, 2.0]), 2).tolist()
    [1, 2, 3]
    """
    import numpy as np

    return np.flatnonzero(scores >= score_threshold(scores, depth))


def best_matches(scores: Any, wanted: Any, depth: int) -> Any:
    """Positions, ascending, of the best scores above 0 among the wanted rows.

    `scores` None: no words were asked for. `wanted`: booleans by position, or None for all.
    """
    import numpy as np

    if scores is None:
        return np.empty(0, dtype=np.int64)
    if wanted is not None:
        scores = np.where(wanted, scores, 0.0)
    rows = best_positions(scores, depth)
    if len(rows) and not scores[rows].all():
        return np.flatnonzero(scores)
    return rows


def score_threshold(scores: Any, depth: int) -> Any:
    """The `depth`-th best score, or the lowest where there are fewer."""
    import numpy as np

    if len(scores) <= depth:
        return scores.min(initial=np.inf)
    if len(scores) > 4 * _RUN * depth:
        # The best of each run: the depth-th best of those is no better than the one looked for.
        runs = np.maximum.reduceat(scores, np.arange(0, len(scores), _RUN))
        scores = scores[scores >= np.partition(runs, len(runs) - depth)[len(runs) - depth]]
    return np.partition(scores, len(scores) - depth)[len(scores) - depth]


def best_keys(rows: Any, keys: Mapping[int, SortKey], scores: Any, depth: int) -> list[SortKey]:
    """The keys of the `depth` best rows; `scores`: one a row."""
    first = sorted(
        (-score, keys[row]) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
    )
    return [key for _, key in first[:depth]]


def fuse(semantic: list[SortKey], lexical: list[SortKey], limit: int) -> list[tuple[int, float]]:
    """Both legs as one: (position, fused score), best first."""
    return [(key[-1], score) for key, score in rrf((semantic, lexical))[:limit]]

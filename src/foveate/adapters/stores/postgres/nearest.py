"""The rows nearest to a vector, on the server: by comparing all, or through the index.

By comparing all: every row that may be read and that the filter lets through, by exact cosine.
Through the index (HNSW): candidates alone, more than are wanted; their cosines are exact, but
one that the index missed is missed. It is one index over all rows, so which ones it names can
depend on rows that may not be read; whether it is asked does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foveate.adapters.stores.postgres import halves
from foveate.adapters.stores.postgres.flow import Ask, Flow
from foveate.adapters.stores.postgres.names import Names
from foveate.adapters.stores.postgres.tables import INDEX

SELECTIVE = 10
"""The index is used where at least one matches in so many rows that may be read."""
_WIDE = 4
"""It is asked for so many times the rows that are wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What may be found, and how many are wanted; `condition` is empty without a filter."""

    names: Names
    audiences: list[int]
    condition: str
    bound: list[Any]
    depth: int

    @property
    def filtered(self) -> str:
        """FROM and WHERE of what the filter lets through; binds audiences and `bound`."""
        return self.names.sql(
            "FROM {s}.chunks AS c JOIN {s}.documents AS d ON d.id = c.document "
            "WHERE c.audience = ANY(%s::integer[]) AND {condition}",
            condition=self.condition,
        )

    def scanned(self) -> tuple[str, list[Any]]:
        """The same over `scan AS s`, and what is bound."""
        allowed = "s.audience = ANY(%s::integer[])"
        if not self.condition:
            return allowed, [self.audiences]
        chosen = f"{allowed} AND s.chunk IN (SELECT c.id {self.filtered})"
        return chosen, [self.audiences, self.audiences, *self.bound]


def indexed(names: Names) -> Ask:
    """Whether the index is there and ready, and how many chunks there are."""
    query = names.sql(
        "SELECT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid), "
        "coalesce(sum(chunks), 0)::bigint FROM {s}.audiences"
    )
    return Ask(query, [names.table(INDEX)])


def rows(scope: Scope, query: Any, *, by_index: bool) -> Flow[dict[int, float]]:
    """Row id → cosine of the `depth` nearest, and of all that tie with the last of them."""
    depth = scope.depth
    if by_index:
        found = yield from _by_index(scope, query)
        if len(found) >= depth:
            return found
    cosine, numbers = halves.cosine(scope.names, query)
    chosen, bound = scope.scanned()
    scored = scope.names.sql(
        "SELECT s.chunk, {cosine} AS cosine FROM {s}.scan AS s WHERE {chosen}",
        cosine=cosine,
        chosen=chosen,
    )
    best = f"{scored} ORDER BY cosine DESC LIMIT %s"
    (found_,) = yield [Ask(best, [*numbers, *bound, depth + 1])]
    if len(found_) > depth and found_[depth][1] == found_[depth - 1][1]:
        ties = f"SELECT chunk, cosine FROM ({scored}) AS scored WHERE cosine >= %s::float8"
        (found_,) = yield [Ask(ties, [*numbers, *bound, found_[depth][1]])]
        return dict(found_)
    return dict(found_[:depth])


def _by_index(scope: Scope, query: Any) -> Flow[dict[int, float]]:
    cosine, numbers = halves.cosine(scope.names, query)
    chosen, bound = scope.scanned()
    wide = scope.depth * _WIDE
    sql = scope.names.sql(
        "WITH near AS MATERIALIZED (SELECT s.chunk FROM {s}.scan AS s WHERE {chosen} "
        "ORDER BY s.vector OPERATOR({v}.<=>) %s::{v}.halfvec LIMIT %s) "
        "SELECT s.chunk, {cosine} AS cosine FROM near JOIN {s}.scan AS s ON s.chunk = near.chunk "
        "ORDER BY cosine DESC, s.chunk LIMIT %s",
        chosen=chosen,
        cosine=cosine,
    )
    (vector,) = halves.texts(query[None])
    search = (
        "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), "
        "set_config('hnsw.ef_search', %s, true)"
    )
    (_, found) = yield [
        Ask(search, [str(min(max(wide, 100), 1000))]),
        Ask(sql, [*bound, vector, wide, *numbers, scope.depth]),
    ]
    return dict(found)

"""The rows nearest to a vector, on the server: by comparing all, or through the index.

By comparing all: every row that may be read and that the filter lets through, by exact cosine.
Through the index (HNSW): candidates alone, more than are wanted; their cosines are exact, but
one that the index missed is missed. It is one index over all rows, so which ones it names can
depend on rows that may not be read; whether it is asked does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foveate.stores.postgres import half_vectors
from foveate.stores.postgres.names import Names
from foveate.stores.postgres.statements import Statement, StatementFlow
from foveate.stores.postgres.tables import VECTOR_INDEX

INDEX_SELECTIVITY = 10
"""The index is used where at least one matches in so many rows that may be read."""
_OVERSAMPLING = 4
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
    def from_clause(self) -> str:
        """FROM and WHERE of what the filter lets through; binds audiences and `bound`."""
        return self.names.sql(
            "FROM {s}.chunks AS c JOIN {s}.documents AS d ON d.id = c.document "
            "WHERE c.audience = ANY(%s::integer[]) AND {condition}",
            condition=self.condition,
        )

    @property
    def matching(self) -> tuple[str, list[Any]] | None:
        """`filtered` and what is bound; None without a filter."""
        return (self.from_clause, [self.audiences, *self.bound]) if self.condition else None

    @property
    def matching_again(self) -> tuple[str, list[Any]] | None:
        """The same out of what is kept of filters a second time."""
        sql = self.names.sql(
            "FROM {s}.filters AS c JOIN {s}.filters AS d ON d.id = c.id "
            "WHERE c.audience = ANY(%s::integer[]) AND {condition}",
            condition=self.condition,
        )
        return (sql, [self.audiences, *self.bound]) if self.condition else None

    def scan_condition(self) -> tuple[str, list[Any]]:
        """The same over `scan AS s`, and what is bound."""
        allowed = "s.audience = ANY(%s::integer[])"
        if not self.condition:
            return allowed, [self.audiences]
        chosen = f"{allowed} AND s.chunk IN (SELECT c.id {self.from_clause})"
        return chosen, [self.audiences, self.audiences, *self.bound]


def index_status_statement(names: Names) -> Statement:
    """Whether the index is there and ready, and how many chunks there are."""
    query = names.sql(
        "SELECT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid), "
        "coalesce(sum(chunks), 0)::bigint FROM {s}.audiences"
    )
    return Statement(query, [names.table(VECTOR_INDEX)])


def nearest_rows(scope: Scope, query: Any, *, by_index: bool) -> StatementFlow[dict[int, float]]:
    """Row id → cosine of the `depth` nearest, and of all that tie with the last of them."""
    depth = scope.depth
    if by_index:
        found = yield from _nearest_by_index(scope, query)
        if len(found) >= depth:
            return found
    cosine, numbers = half_vectors.cosine_expression(scope.names, query)
    chosen, bound = scope.scan_condition()
    scored = scope.names.sql(
        "SELECT s.chunk, {cosine} AS cosine FROM {s}.scan AS s WHERE {chosen}",
        cosine=cosine,
        chosen=chosen,
    )
    best = f"{scored} ORDER BY cosine DESC LIMIT %s"
    (found_,) = yield [Statement(best, [*numbers, *bound, depth + 1])]
    if len(found_) > depth and found_[depth][1] == found_[depth - 1][1]:
        ties = f"SELECT chunk, cosine FROM ({scored}) AS scored WHERE cosine >= %s::float8"
        (found_,) = yield [Statement(ties, [*numbers, *bound, found_[depth][1]])]
        return dict(found_)
    return dict(found_[:depth])


def _nearest_by_index(scope: Scope, query: Any) -> StatementFlow[dict[int, float]]:
    cosine, numbers = half_vectors.cosine_expression(scope.names, query)
    chosen, bound = scope.scan_condition()
    wide = scope.depth * _OVERSAMPLING
    sql = scope.names.sql(
        "WITH near AS MATERIALIZED (SELECT s.chunk FROM {s}.scan AS s WHERE {chosen} "
        "ORDER BY s.vector OPERATOR({v}.<=>) %s::{v}.halfvec LIMIT %s) "
        "SELECT s.chunk, {cosine} AS cosine FROM near JOIN {s}.scan AS s ON s.chunk = near.chunk "
        "ORDER BY cosine DESC, s.chunk LIMIT %s",
        chosen=chosen,
        cosine=cosine,
    )
    (vector,) = half_vectors.format_vectors(query[None])
    search = (
        "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), "
        "set_config('hnsw.ef_search', %s, true)"
    )
    (_, found) = yield [
        Statement(search, [str(min(max(wide, 100), 1000))]),
        Statement(sql, [*bound, vector, wide, *numbers, scope.depth]),
    ]
    return dict(found)

"""The audiences of a store: who may read, held to checksums and a second key, and how much."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from foveate.core.state import combine_states, state_hash
from foveate.stores.checksums import checksum, damage, intact, second_key
from foveate.stores.rows import parse_principals
from foveate.stores.sql.database import PUBLIC_AUDIENCE, Database, Rows, Statement
from foveate.stores.totals import Totals

NEW_AUDIENCE = -1
"""In the place of the checksum of an audience that this very write has made."""
AUDIENCE_DAMAGE = "who may read is not as it was written"

DELETE_UNUSED = (
    "DELETE FROM {s}.counts WHERE hash NOT IN (SELECT content_hash FROM {s}.chunks)",
    f"DELETE FROM {{s}}.audiences WHERE id <> {PUBLIC_AUDIENCE} AND documents = 0 AND chunks = 0",
    "DELETE FROM {s}.members WHERE audience NOT IN (SELECT id FROM {s}.audiences)",
)
"""Statements that forget token counts and readers of documents that are gone."""


def member_rows(database: Database, audience: int, principals: str) -> Rows:
    """The rows of `members` of an audience of these principals (sorted JSON)."""
    names = database.member_names(parse_principals(principals))
    rows = [(name, second_key(name), audience) for name in names]
    return [(*row, checksum(row)) for row in rows]


def readers_query(database: Database, principals: Iterable[str]) -> tuple[str, list[Any]]:
    """A query for the ids of the audiences of these principals, and what is bound to it."""
    named, bound = database.named("principal", "key", database.member_names(principals))
    query = f"(SELECT {PUBLIC_AUDIENCE} UNION SELECT audience FROM {{s}}.members WHERE {named})"
    return database.sql(query), bound


def readers_statements(database: Database, principals: Iterable[str]) -> list[Statement]:
    """What `readers_from_rows` reads."""
    named, bound = database.named("principal", "key", database.member_names(principals))
    readers, _ = readers_query(database, principals)
    audiences = f"SELECT {database.audience_columns} FROM {{s}}.audiences WHERE id IN {{readers}}"
    members = f"SELECT principal, key, audience, checksum FROM {{s}}.members WHERE {named}"
    return [
        database.statement(f"{audiences} ORDER BY id", bound, readers=readers),
        database.statement(members, bound),
    ]


def readers_from_rows(database: Database, rows: Sequence[Rows], principals: Iterable[str]) -> Rows:
    """The audiences of these principals, by row id; raises where one is not as it was written."""
    audiences, members = rows
    names = set(database.member_names(principals))
    own = {PUBLIC_AUDIENCE}
    for name, _, audience, _ in intact(members, AUDIENCE_DAMAGE):
        if name not in names:
            raise damage(AUDIENCE_DAMAGE)
        own.add(audience)
    if {row[0] for row in audiences} != own:
        raise damage(AUDIENCE_DAMAGE)
    return _unchanged(audiences)


def _unchanged(audiences: Rows) -> Rows:
    """The same; raises where one is not as it was written."""
    if any(checksum(row[:-1]) != row[-1] for row in audiences):
        raise damage(AUDIENCE_DAMAGE)
    return audiences


def load_audiences(database: Database, principals: Iterable[str] | None) -> Rows:
    """The audiences of these principals, by row id; None is all."""
    if principals is not None:
        found = database.run(*readers_statements(database, principals))
        return readers_from_rows(database, found, principals)
    query = f"SELECT {database.audience_columns} FROM {{s}}.audiences ORDER BY id"
    audiences, counted = database.run(
        database.statement(query),
        database.statement("SELECT count(*) FROM {audiences_again}"),
    )
    if counted != [(len(audiences),)]:
        raise damage(AUDIENCE_DAMAGE)
    return _unchanged(audiences)


def compute_state_root(database: Database, audiences: Rows) -> str:
    """Hash of what these audiences may read and of the embedder's name."""
    return state_hash(combine_states(row[2] for row in audiences), embedder=database.embedder)


class AudienceTotals(Totals[int]):
    """The totals of the audiences that a write touches, by row id."""

    def __init__(self, rows: Iterable[Sequence[Any]] = ()) -> None:
        super().__init__()
        self.ids: dict[str, int] = {}
        for row in rows:
            self.add(row)

    def add(self, row: Sequence[Any]) -> None:
        """Take in an audience as it is stored; raises where it is not as it was written."""
        number, principals, state, *figures, noted = row
        if noted != NEW_AUDIENCE:
            _unchanged([tuple(row)])
        self.ids[principals] = number
        self.states[number] = state
        self.figures[number] = [int(figure) for figure in figures]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """All audiences as they are now, without their checksums."""
        for principals, number in self.ids.items():
            yield (number, principals, self.states[number], *self.figures[number])

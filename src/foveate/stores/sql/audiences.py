"""The audiences of a store: who may read, held to checksums and a second key, and how much."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from secrets import randbits
from typing import Any

from foveate.core.state import EMPTY_STATE, combine_states, state_hash
from foveate.stores.checksums import MASK, checksum, damage, intact, second_key
from foveate.stores.rows import parse_principals
from foveate.stores.sql.database import PUBLIC_AUDIENCE, Database, Rows, Statement, upsert
from foveate.stores.sql.tables import AUDIENCE_COLUMNS
from foveate.stores.totals import SCAN, Totals

AUDIENCE_DAMAGE = "who may read is not as it was written"

DELETE_UNUSED = (
    "DELETE FROM {s}.counts WHERE hash NOT IN (SELECT content_hash FROM {s}.chunks)",
    f"DELETE FROM {{s}}.audiences WHERE id <> {PUBLIC_AUDIENCE} AND documents = 0 AND chunks = 0",
    "DELETE FROM {s}.members WHERE audience NOT IN (SELECT id FROM {s}.audiences)",
    (
        "DELETE FROM {s}.terms WHERE NOT EXISTS (SELECT 1 FROM {s}.postings AS p "
        "WHERE p.term = terms.term AND p.audience = terms.audience)"
    ),
)
"""Statements that forget token counts, readers and terms of documents that are gone."""


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
    audiences = f"SELECT {AUDIENCE_COLUMNS} FROM {{s}}.audiences WHERE id IN {{readers}}"
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
    return list(intact(audiences, AUDIENCE_DAMAGE))


def load_audiences(database: Database, principals: Iterable[str] | None) -> Rows:
    """The audiences of these principals, by row id; None is all."""
    if principals is not None:
        found = database.run(*readers_statements(database, principals))
        return readers_from_rows(database, found, principals)
    audiences, counted = database.run(
        database.statement(f"SELECT {AUDIENCE_COLUMNS} FROM {{s}}.audiences ORDER BY id"),
        database.statement("SELECT count(*) FROM {audiences_again}"),
    )
    if counted != [(len(audiences),)]:
        raise damage(AUDIENCE_DAMAGE)
    return list(intact(audiences, AUDIENCE_DAMAGE))


def compute_state_root(database: Database, audiences: Rows) -> str:
    """Hash of what these audiences may read and of the embedder's name."""
    return state_hash(combine_states(row[2] for row in audiences), embedder=database.embedder)


class AudienceTotals(Totals[int]):
    """The totals of the audiences that a write touches, by row id.

    `stored`: those that are there, as rows of `AUDIENCE_COLUMNS`. `next_id`: that of a new one.
    """

    def __init__(self, stored: Rows, next_id: int) -> None:
        super().__init__(width=4)
        self._next = next_id
        self._ids: dict[str, int] = {}
        self._new: list[tuple[int, str]] = []
        for number, principals, state, *figures, _, _ in intact(stored, AUDIENCE_DAMAGE):
            self._ids[principals] = number
            self.states[number], self.figures[number] = state, list(figures)

    def audience(self, principals: str) -> int:
        """The row id of this set of principals (sorted JSON), which may be new."""
        if principals not in self._ids:
            self._new.append((self._next, principals))
            self._ids[principals] = self._next
            self.states[self._next], self.figures[self._next] = EMPTY_STATE, [0] * self.width
            self._next += 1
        return self._ids[principals]

    def statements(self, database: Database) -> list[Statement]:
        """What writes them as they are now, with the members of new ones."""
        members = [row for each in self._new for row in member_rows(database, *each)]
        changed = ("state", "documents", "chunks", "words", "scan", "writes", "checksum")
        return [
            database.insert("audiences", list(self._rows()), upsert("id", *changed)),
            database.insert("members", members),
        ]

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        for principals, number in sorted(self._ids.items(), key=lambda item: item[1]):
            figures = self.figures[number]
            figures[SCAN] &= MASK
            row = (number, principals, self.states[number], *figures, randbits(62))
            yield (number, second_key(principals), *row[1:], checksum(row))

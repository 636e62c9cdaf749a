"""The audiences of a store: who may read, held to checksums and a second list, and how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from foveate.core.state import combine_states, state_hash
from foveate.stores.checksums import checksum, damage
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


def readers_query(database: Database, principals: Iterable[str]) -> tuple[str, list[Any]]:
    """A query for the ids of the audiences of these principals, and what is bound to it."""
    named, bound = database.texts_among(database.member_names(principals))
    query = f"(SELECT {PUBLIC_AUDIENCE} UNION SELECT audience FROM {{members}} "
    return database.sql(f"{query}WHERE principal {named})"), bound


def readers_statements(database: Database, principals: Iterable[str]) -> list[Statement]:
    """What `readers_from_rows` reads."""
    named, bound = database.texts_among(database.member_names(principals))
    readers, _ = readers_query(database, principals)
    audiences = f"SELECT {database.audience_columns} FROM {{s}}.audiences WHERE id IN {{readers}}"
    members, again = (
        database.statement(f"SELECT audience FROM {copy} WHERE principal {named}", bound)
        for copy in ("{members}", "{members_again}")
    )
    return [
        database.statement(f"{audiences} ORDER BY id", bound, readers=readers),
        members,
        again,
    ]


def readers_from_rows(rows: Sequence[Rows], principals: Iterable[str]) -> Rows:
    """The audiences of these principals, by row id; raises where one is not as it was written."""
    audiences, members, again = rows
    mine = set(principals)
    if Counter(members) != Counter(again) or len(audiences) != len(set(members)) + 1:
        raise damage(AUDIENCE_DAMAGE)
    for row in audiences:
        refuse_changed(row)
        if row[0] != PUBLIC_AUDIENCE and mine.isdisjoint(parse_principals(row[1])):
            raise damage(AUDIENCE_DAMAGE)
    return audiences


def refuse_changed(audience: Sequence[Any]) -> None:
    """Raise where an audience is not as it was written."""
    if checksum(audience[:-1]) != audience[-1]:
        raise damage(AUDIENCE_DAMAGE)


def load_audiences(database: Database, principals: Iterable[str] | None) -> Rows:
    """The audiences of these principals, by row id; None is all."""
    if principals is not None:
        found = database.run(*readers_statements(database, principals))
        return readers_from_rows(found, principals)
    query = f"SELECT {database.audience_columns} FROM {{s}}.audiences ORDER BY id"
    audiences, counted = database.run(
        database.statement(query),
        database.statement("SELECT count(*) FROM {audiences_again}"),
    )
    if counted != [(len(audiences),)]:
        raise damage(AUDIENCE_DAMAGE)
    for row in audiences:
        refuse_changed(row)
    return audiences


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
            refuse_changed(row)
        self.ids[principals] = number
        self.states[number] = state
        self.figures[number] = [int(figure) for figure in figures]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """All audiences as they are now, without their checksums."""
        for principals, number in self.ids.items():
            yield (number, principals, self.states[number], *self.figures[number])

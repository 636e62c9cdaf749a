"""The head of a store: who may read how much of it, and which files are a segment. Pure values.

It is one small file of the table that every write replaces: the one thing that two writers cannot
both do.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from blake3 import blake3

from foveate.core.errors import BadInput, ExternalError
from foveate.core.state import EMPTY_STATE, combine_states, update_state
from foveate.stores.checksums import damage
from foveate.stores.rows import parse_principals

PUBLIC_AUDIENCE = 0
"""The audience of what everybody may read."""

_FIGURES = struct.Struct("<qq")
_MAX_RECENT = 256
"""So many transactions are remembered, for writers to whom the answer was lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """One set of principals (sorted JSON), its lattice hash, and how much it may read."""

    principals: str
    state: bytes = EMPTY_STATE
    documents: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """What was written together. `files`: kind → name of its data file; `rows`: chunks in it."""

    files: Mapping[str, str]
    rows: int
    digests: Mapping[str, str] = field(default_factory=dict)
    """Kind → digest of its file, and of which of its rows are gone (`files.py`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Audiences and segments, by their numbers.

    `committed`: segments that came as parts of other writers, each with the second in which it was
    written; they stay when the segment is gone, until such a part is too old. `recent`: the latest
    transactions by their numbers, oldest first.
    """

    audiences: Mapping[int, Audience] = field(default_factory=dict)
    segments: Mapping[int, Segment] = field(default_factory=dict)
    committed: Mapping[int, int] = field(default_factory=dict)
    recent: tuple[int, ...] = ()

    def audiences_for(self, principals: Iterable[str]) -> list[int]:
        """The audiences that these principals belong to, the public one included; sorted."""
        mine = set(principals)
        return sorted(
            number
            for number, audience in self.audiences.items()
            if number == PUBLIC_AUDIENCE or mine & set(parse_principals(audience.principals))
        )

    def state(self, audiences: Iterable[int] | None = None) -> bytes:
        """The lattice hash of what these audiences read; None is everything."""
        wanted = self.audiences if audiences is None else audiences
        return combine_states(self.audiences[number].state for number in wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an audience gains or loses: a lattice hash of the members, and how many they are."""

    state: bytes = EMPTY_STATE
    documents: int = 0
    chunks: int = 0


def audience_number(principals: str) -> int:
    """The number of a set of principals (sorted JSON): its hash, so that nobody hands it out."""
    if principals == "[]":
        return PUBLIC_AUDIENCE
    return int.from_bytes(blake3(principals.encode()).digest(8), "little") >> 1


def changes_by_audience(members: Iterable[tuple[int, int, list[bytes]]]) -> dict[int, Change]:
    """(audience, documents, encoded members) → what each audience gains."""
    found: dict[int, Change] = {}
    for audience, documents, encoded in members:
        before = found.get(audience, Change())
        found[audience] = Change(
            state=update_state(before.state, added=encoded),
            documents=before.documents + documents,
            chunks=before.chunks + len(encoded) - documents,
        )
    return found


def apply_change(head: Head, principals: str, change: Change, *, sign: int) -> Head:
    """The head after an audience gained (`sign` 1) or lost (-1) members."""
    number = audience_number(principals)
    before = head.audiences.get(number, Audience(principals=principals))
    if before.principals != principals:
        raise BadInput(
            f"the principals {principals} have the hash of {before.principals}; rename one",
            field="principals",
        )
    after = Audience(
        principals=principals,
        state=combine_states([before.state, change.state if sign > 0 else _negate(change.state)]),
        documents=before.documents + sign * change.documents,
        chunks=before.chunks + sign * change.chunks,
    )
    audiences = {**head.audiences, number: after}
    if not after.documents and not after.chunks:
        del audiences[number]
    return replace(head, audiences=audiences)


def record_transaction(head: Head, number: int, sent: Mapping[int, int], *, since: int) -> Head:
    """The head after this transaction; of the parts that were `sent`, those since then stay."""
    known = {**head.committed, **sent}
    return replace(
        head,
        committed={segment: written for segment, written in known.items() if written >= since},
        recent=(*head.recent, number)[-_MAX_RECENT:],
    )


def _negate(state: bytes) -> bytes:
    import numpy as np

    return (-np.frombuffer(state, dtype="<u2")).astype("<u2").tobytes()


def table_from_head(head: Head) -> Any:
    """The head as rows: a key and bytes each."""
    import pyarrow as pa

    rows = [
        (
            f"audience:{number}",
            a.state + _FIGURES.pack(a.documents, a.chunks) + a.principals.encode(),
        )
        for number, a in sorted(head.audiences.items())
    ]
    rows += [
        (
            f"segment:{number}",
            json.dumps(
                {"files": dict(s.files), "rows": s.rows, "digests": dict(s.digests)}
            ).encode(),
        )
        for number, s in sorted(head.segments.items())
    ]
    if head.committed:
        pairs = sorted(head.committed.items())
        rows.append(("committed", b"".join(_FIGURES.pack(*pair) for pair in pairs)))
    if head.recent:
        rows.append(("recent", struct.pack(f"<{len(head.recent)}q", *head.recent)))
    # Never without a row, so that there always is a file to replace.
    rows = [("head", _digest(rows)), *rows]
    schema = pa.schema([("head_key", pa.string()), ("head_value", pa.binary())])
    keys, values = zip(*rows, strict=True)
    return pa.table([pa.array(keys), pa.array(values, pa.binary())], schema=schema)


def _digest(rows: Iterable[tuple[str, bytes]]) -> bytes:
    """Of the head's other rows, whatever their order."""
    digest = blake3()
    for key, value in sorted(rows):
        digest.update(f"{len(key)} {len(value)} {key}".encode() + value)
    return digest.digest()


def head_from_rows(rows: Iterable[tuple[str, bytes]]) -> Head:
    """The head that these rows are; raises `ExternalError` for what nobody wrote."""
    audiences: dict[int, Audience] = {}
    segments: dict[int, Segment] = {}
    committed: dict[int, int] = {}
    recent: tuple[int, ...] = ()
    given = list(rows)
    if dict(given).get("head") != _digest([row for row in given if row[0] != "head"]):
        raise damage("its head is not as it was written")
    for key, value in given:
        kind, _, number = key.partition(":")
        if kind == "audience":
            end = len(EMPTY_STATE) + _FIGURES.size
            documents, chunks = _FIGURES.unpack(value[len(EMPTY_STATE) : end])
            audiences[int(number)] = Audience(
                principals=value[end:].decode(),
                state=value[: len(EMPTY_STATE)],
                documents=documents,
                chunks=chunks,
            )
        elif kind == "segment":
            record = json.loads(value)
            segments[int(number)] = Segment(**record)
        elif key == "committed":
            committed = dict(_FIGURES.iter_unpack(value))
        elif key == "recent":
            recent = struct.unpack(f"<{len(value) // 8}q", value)
        elif key != "head":
            raise ExternalError(f"store: its head has a row {key!r} that this version cannot read")
    return Head(audiences=audiences, segments=segments, committed=committed, recent=recent)

"""What must leave a session: what its reader may no longer read, what is gone, what has changed.

The trace says that something left, never what: who may not read a chunk must not learn its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from foveate.core.candidates import readable
from foveate.core.talk.session import Held, Past, Session
from foveate.core.types import Inputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What stays: `held` in its order, `past`; and the turns that may not be shown any more."""

    held: tuple[Held, ...]
    past: tuple[Past, ...]
    turns: frozenset[int]


def withdrawn(session: Session, inputs: Inputs, current: Mapping[str, str] | None) -> Left:
    """The session's blocks that may still be sent, and the turns that may not.

    `current`: chunk id → content hash, of what the reader may read now among what was sent; None:
    nobody looked. Then, where the store's state is another one, only what was found again stays.
    """
    may = _Reader(session, inputs, current)
    kept = [h for h in session.held if all(map(may.read, _records(h, session.step)))]
    gone = [r for h in session.held for r in _records(h, session.step) if h not in kept]
    past = tuple(record for record in session.past if may.read(record))
    gone += [record for record in session.past if record not in past]
    same = set(session.principals) == set(inputs.principals)
    if not same:
        # Who else merged into a block is no longer known to be readable.
        kept = [replace(h, block=replace(h.block, corroborating=())) for h in kept]
    turns = frozenset(_turns(session, gone, same_reader=same))
    return Left(held=tuple(kept), past=past, turns=turns)


def _records(held: Held, until: int) -> list[Past]:
    """What is remembered of a block's chunks."""
    return [
        Past(
            chunk_id=chunk.id,
            document_id=chunk.document_id,
            sequence=chunk.sequence,
            content_hash=chunk.content_hash,
            principals=chunk.principals,
            since=held.since,
            until=until,
        )
        for chunk in held.chunks
    ]


class _Reader:
    """Who asks now, and what is known of what may be read."""

    def __init__(self, session: Session, inputs: Inputs, current: Mapping[str, str] | None) -> None:
        self.allowed = frozenset(inputs.principals)
        self.found = {c.chunk.id: c.chunk for c in inputs.candidates}
        self.moved = inputs.state_root != session.state_root
        self.current = current

    def read(self, record: Past) -> bool:
        """Whether the chunk is there as it was, for this reader, as far as anybody looked."""
        if not readable(record.principals, self.allowed):
            return False
        again = self.found.get(record.chunk_id)
        if again is not None:
            same = (record.content_hash, record.principals)
            return (again.content_hash, again.principals) == same
        if self.current is not None:
            return self.current.get(record.chunk_id) == record.content_hash
        return not self.moved


def _turns(session: Session, gone: list[Past], *, same_reader: bool) -> Iterator[int]:
    """Turns that rest on what is gone: those that cite it.

    For another reader, all answers that were given while it stood in the documents.
    """
    ids = {record.chunk_id for record in gone}
    for n, turn in enumerate(session.turns):
        cites = any(entry.chunk_id in ids for entry in turn.cited)
        rests = turn.role == "assistant" and any(
            record.since <= session.at[n] <= record.until for record in gone
        )
        if cites or (rests and not same_reader):
            yield n


def remembered(session: Session, left: Left, held: Sequence[Held]) -> tuple[Past, ...]:
    """What stood in the documents and does not after this turn; nothing of what was withdrawn."""
    here = {chunk.id for h in held for chunk in h.chunks}
    went = [
        record
        for h in left.held
        for record in _records(h, session.step)
        if record.chunk_id not in here
    ]
    return (*left.past, *went)

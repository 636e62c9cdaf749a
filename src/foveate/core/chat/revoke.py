"""What must leave a session: what its reader may no longer read, what is gone, what has changed.

The trace says that something left, never what: who may not read a chunk must not learn its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from foveate.core.candidates import is_readable
from foveate.core.chat.session import PastChunk, SentBlock, Session
from foveate.core.chat.turns import SYSTEM_ROLES
from foveate.core.request import Inputs
from foveate.core.types import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class RevocationResult:
    """What stays: `held` in its order, `past`; and the turns that may not be shown any more."""

    held: tuple[SentBlock, ...]
    past: tuple[PastChunk, ...]
    turns: frozenset[int]


def revoke(session: Session, inputs: Inputs, current: Mapping[str, str] | None) -> RevocationResult:
    """The session's blocks that may still be sent, and the turns that may not.

    `current`: chunk id → content hash, of what the reader may read now among what was sent; None:
    nobody looked. Then, where the store's state is another one, only what was found again stays.
    """
    may = _ReaderAccess(session, inputs, current)
    kept: list[SentBlock] = []
    past: list[PastChunk] = []
    gone: list[PastChunk] = []
    for held in session.held:
        if may.is_sendable(held):
            kept.append(may.restrict_copies(held))
        else:
            gone += [past_chunk_from_chunk(chunk, held.since) for chunk in held.chunks]
    for record in session.past:
        (past if may.is_readable(record) else gone).append(record)
    stays = [past_chunk_from_chunk(chunk, held.since) for held in kept for chunk in held.chunks]
    turns = frozenset(_revoked_turns(session, gone, [*stays, *past], same_reader=may.same))
    if may.same:
        past += gone  # answers that name none of it stay, and must not outlive it elsewhere
    return RevocationResult(held=tuple(kept), past=_earliest_records(past), turns=turns)


def past_chunk_from_chunk(chunk: Chunk, since: int) -> PastChunk:
    """What is remembered of a chunk that was sent, or of one whose copy was."""
    return PastChunk(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        sequence=chunk.sequence,
        content_hash=chunk.content_hash,
        principals=chunk.principals,
        since=since,
    )


def _earliest_records(records: Sequence[PastChunk]) -> tuple[PastChunk, ...]:
    """Each once, with the turn in which it first stood there."""
    first: dict[PastChunk, PastChunk] = {}
    for record in records:
        same = replace(record, since=0)
        if same not in first or record.since < first[same].since:
            first[same] = record
    return tuple(first.values())


class _ReaderAccess:
    """Who asks now, and what is known of what may be read."""

    def __init__(self, session: Session, inputs: Inputs, current: Mapping[str, str] | None) -> None:
        self.allowed = frozenset(inputs.principals)
        self.found = {c.chunk.id: c.chunk for c in inputs.candidates}
        self.moved = inputs.state_root != session.state_root
        self.same = set(session.principals) == set(inputs.principals)
        self.current = current

    def is_readable(self, record: PastChunk) -> bool:
        """Whether the chunk is there as it was, for this reader, as far as anybody looked."""
        if not is_readable(record.principals, self.allowed):
            return False
        again = self.found.get(record.chunk_id)
        if again is not None:
            same = (record.content_hash, record.principals)
            return (again.content_hash, again.principals) == same
        if self.current is not None:
            return self.current.get(record.chunk_id) == record.content_hash
        return not self.moved

    def is_sendable(self, held: SentBlock) -> bool:
        """Whether a block may be sent; one whose chunks nobody knows only where nothing changed."""
        if not held.chunks or len(held.chunks) < len(held.block.chunk_ids):
            unchanged = self.same and not self.moved and self.current is None
            return unchanged and all(
                self.is_readable(past_chunk_from_chunk(c, held.since)) for c in held.chunks
            )
        return all(
            self.is_readable(past_chunk_from_chunk(chunk, held.since)) for chunk in held.chunks
        )

    def restrict_copies(self, held: SentBlock) -> SentBlock:
        """The block with those of its copies that may be named: a copy is asked about as well."""
        if not held.block.corroborating:
            return held
        copies = tuple(record for record in held.copies if self.is_readable(record))
        known = {record.chunk_id for record in copies}
        named = tuple(s for s in held.block.corroborating if s.chunk_id in known)
        return replace(held, block=replace(held.block, corroborating=named), copies=copies)


def _revoked_turns(
    session: Session, gone: Sequence[PastChunk], stays: Sequence[PastChunk], *, same_reader: bool
) -> Iterator[int]:
    """Turns that rest on what is gone: those that cite it, and not a version of it that `stays`.

    For another reader all that was said since it first stood there, whoever said it: an answer may
    repeat an earlier one, and a question what an answer told.
    """
    ids = {record.chunk_id for record in gone}
    newer: dict[str, int] = {}
    for record in stays:
        newer[record.chunk_id] = min(record.since, newer.get(record.chunk_id, record.since))
    first = min((record.since for record in gone), default=None)
    for n, turn in enumerate(session.turns):
        cited = {entry.chunk_id for entry in turn.cited} & ids
        cites = any(session.at[n] < newer.get(own, session.step + 1) for own in cited)
        since = first is not None and session.at[n] >= first and turn.role not in SYSTEM_ROLES
        if cites or (since and not same_reader):
            yield n


def collect_past_chunks(left: RevocationResult, held: Sequence[SentBlock]) -> tuple[PastChunk, ...]:
    """What stood in the documents and does not after this turn; of what left, see `withdrawn`."""
    here = {chunk.id for h in held for chunk in h.chunks}
    went = [
        past_chunk_from_chunk(chunk, h.since)
        for h in left.held
        for chunk in h.chunks
        if chunk.id not in here
    ]
    return _earliest_records((*left.past, *went))

"""What must leave a session: what its reader may no longer read, what is gone, what has changed.

The trace says that something left, never what: who may not read a chunk must not learn its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from foveate.core.candidates import readable
from foveate.core.talk.session import Held, Session
from foveate.core.types import Inputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What stays: `held` in its order, and the turns that may not be shown any more."""

    held: tuple[Held, ...]
    turns: frozenset[int]


def withdrawn(session: Session, inputs: Inputs, current: Mapping[str, str] | None) -> Left:
    """The session's blocks that may still be sent, and the turns that may not.

    `current`: chunk id → content hash, of what the reader may read now among what was sent; None:
    nobody looked. Then, where the store's state is another one, only what was found again stays.
    """
    kept = [held for held in session.held if _stays(held, session, inputs, current)]
    gone = [held for held in session.held if held not in kept]
    same_reader = set(session.principals) == set(inputs.principals)
    if not same_reader:
        # Who else merged into a block is no longer known to be readable.
        kept = [replace(h, block=replace(h.block, corroborating=())) for h in kept]
    return Left(held=tuple(kept), turns=_turns(session, gone, same_reader=same_reader))


def _stays(held: Held, session: Session, inputs: Inputs, current: Mapping[str, str] | None) -> bool:
    allowed = frozenset(inputs.principals)
    found = {c.chunk.id: c.chunk for c in inputs.candidates}
    moved = inputs.state_root != session.state_root
    for chunk in held.chunks:
        if not readable(chunk.principals, allowed):
            return False
        again = found.get(chunk.id)
        if again is not None:
            if again.content_hash != chunk.content_hash or again.principals != chunk.principals:
                return False
        elif current is not None:
            if current.get(chunk.id) != chunk.content_hash:
                return False
        elif moved:
            return False
    return True


def _turns(session: Session, gone: list[Held], *, same_reader: bool) -> frozenset[int]:
    """Turns that rest on what is gone: those that cite it.

    For another reader, all answers that were given while it stood in the documents.
    """
    if not gone:
        return frozenset()
    ids = {chunk.id for held in gone for chunk in held.chunks}
    since = min(held.since for held in gone)
    return frozenset(
        n
        for n, turn in enumerate(session.turns)
        if any(entry.chunk_id in ids for entry in turn.cited)
        or (not same_reader and turn.role == "assistant" and session.at[n] >= since)
    )

"""A session as plain JSON and back, equal to what it was (SPEC W4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from foveate.core.candidates import chunk_from_record, chunk_to_json
from foveate.core.chat.session import Session
from foveate.core.chat.turns import read_turns
from foveate.core.errors import BadInput
from foveate.core.typed import read_value
from foveate.core.types import Chunk

KIND = "foveate-session"
VERSION = 2
PLAIN_FIELDS = ("markers", "state_root", "recipe", "tokenizer")


def session_to_json(session: Session) -> dict[str, Any]:
    """The session for `json.dumps`."""
    return {
        "kind": KIND,
        "version": VERSION,
        **{name: getattr(session, name) for name in PLAIN_FIELDS},
        "turns": [_without_defaults(turn) for turn in session.turns],
        "carried": [asdict(entry) for entry in session.carried],
        "held": [
            {
                **_without_defaults(held),
                "block": _without_defaults(held.block),
                "chunks": [chunk_to_json(chunk) for chunk in held.chunks],
            }
            for held in session.held
        ],
        "segments": list(session.segments),
        "pieces": [list(piece) for piece in session.pieces],
        "principals": list(session.principals),
        "reuse": asdict(session.reuse),
    }


def session_from_json(record: Any) -> Session:
    """And back; raises `BadInput` for what is no session, or one that is damaged."""
    if not isinstance(record, Mapping) or record.get("kind") != KIND:
        raise BadInput("this is not a session; give what was written of one", field="session")
    if record.get("version") != VERSION:
        raise BadInput(
            f"has version {record.get('version')!r}, this one reads {VERSION}; begin a new session",
            field="session",
        )
    try:
        session: Session = read_value(Session, record, readers={Chunk: chunk_from_record})
        _check_session(session)
    except (BadInput, TypeError, AttributeError) as error:
        raise BadInput(f"is damaged ({error}); begin a new one", field="session") from None
    return session


def _check_session(session: Session) -> None:
    read_turns(session.turns)
    if session.markers < max((held.block.marker for held in session.held), default=0):
        raise BadInput("a block's marker is above markers")
    if not all(held.name_parts for held in session.held):
        raise BadInput("a block's name has no parts")


def _without_defaults(value: Any) -> dict[str, Any]:
    record = {one.name: getattr(value, one.name) for one in fields(value)}
    plain = {one.name: one.default for one in fields(value)}
    changed = {name: entry for name, entry in record.items() if entry != plain[name]}
    return {name: entry if name == "message" else asdict(value)[name]
            for name, entry in changed.items()}  # fmt: skip

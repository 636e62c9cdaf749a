"""A session as plain JSON and back, equal to what it was (SPEC W4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from foveate.core.candidates import chunk_from_record, chunk_to_json
from foveate.core.chat.session import Session
from foveate.core.errors import BadInput
from foveate.core.typed import read_value
from foveate.core.types import Chunk

KIND = "foveate-session"
VERSION = 1

PLAIN_FIELDS = ("step", "markers", "state_root", "recipe", "tokenizer", "ledger")


def session_to_json(session: Session) -> dict[str, Any]:
    """The session for `json.dumps`; a turn that was sent as it is stands there once."""
    return {
        "kind": KIND,
        "version": VERSION,
        **{name: getattr(session, name) for name in PLAIN_FIELDS},
        "turns": [_without_defaults(turn) for turn in session.turns],
        "at": list(session.at),
        "shown": [
            True if shown == turn else None if shown is None else _without_defaults(shown)
            for turn, shown in zip(session.turns, session.shown, strict=True)
        ],
        "held": [
            {
                "block": _without_defaults(held.block),
                "chunks": [chunk_to_json(chunk) for chunk in held.chunks],
                "since": held.since,
                "copies": [asdict(record) for record in held.copies],
                **({"name_parts": held.name_parts} if held.name_parts > 1 else {}),
            }
            for held in session.held
        ],
        "past": [asdict(record) for record in session.past],
        "segments": list(session.segments),
        "pieces": [list(piece) for piece in session.pieces],
        "principals": list(session.principals),
        "reuse": asdict(session.reuse),
        **({"summary": asdict(session.summary)} if session.summary is not None else {}),
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
        session: Session = read_value(
            Session, _with_shown_turns(record), readers={Chunk: chunk_from_record}
        )
        _check_session(session)
    except (BadInput, TypeError, AttributeError) as error:
        raise BadInput(f"is damaged ({error}); begin a new one", field="session") from None
    return session


def _with_shown_turns(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with each turn that was sent as it is in its place under `shown`."""
    turns, shown = record.get("turns"), record.get("shown")
    if not isinstance(turns, list) or not isinstance(shown, list) or len(turns) != len(shown):
        raise BadInput("must be a list, with one entry a turn", field="shown")
    pairs = zip(turns, shown, strict=True)
    return {**record, "shown": [turn if one is True else one for turn, one in pairs]}


def _check_session(session: Session) -> None:
    if len(session.at) != len(session.turns):
        raise BadInput("at and turns differ")
    if session.markers < max((held.block.marker for held in session.held), default=0):
        raise BadInput("a block's marker is above markers")
    if not all(held.name_parts for held in session.held):
        raise BadInput("a block's name has no parts")
    if session.summary is not None and session.summary.turns > len(session.turns):
        raise BadInput("the summary is of more turns than there are")


def _without_defaults(value: Any) -> dict[str, Any]:
    record = asdict(value)
    plain = {f.name: f.default for f in fields(value)}
    return {name: entry for name, entry in record.items() if entry != plain[name]}

"""A session as plain JSON and back, equal to what it was (SPEC W4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from foveate.core.candidates import chunk_from_record, chunk_to_json
from foveate.core.chat.history_fit import Summary
from foveate.core.chat.session import PastChunk, Reuse, SentBlock, Session
from foveate.core.chat.turns import ToolCall, ToolResult, Turn, TurnCitation
from foveate.core.chat.typed_json import check_types
from foveate.core.errors import BadInput
from foveate.core.types import Block, Source

KIND = "foveate-session"
VERSION = 1

PLAIN_FIELDS = ("step", "markers", "state_root", "recipe", "tokenizer")


def session_to_json(session: Session) -> dict[str, Any]:
    """The session for `json.dumps`; a turn that was sent as it is stands there once."""
    return {
        "kind": KIND,
        "version": VERSION,
        **{name: getattr(session, name) for name in PLAIN_FIELDS},
        "turns": [_turn_to_json(turn) for turn in session.turns],
        "at": list(session.at),
        "shown": [
            True if shown == turn else None if shown is None else _turn_to_json(shown)
            for turn, shown in zip(session.turns, session.shown, strict=True)
        ],
        "held": [
            {
                "block": _without_defaults(held.block),
                "chunks": [chunk_to_json(chunk) for chunk in held.chunks],
                "since": held.since,
                "copies": [asdict(record) for record in held.copies],
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
        turns = tuple(map(_turn_from_json, _require_list(record, "turns")))
        session = Session(
            **{name: record[name] for name in PLAIN_FIELDS},
            turns=turns,
            at=_require_list(record, "at"),
            shown=tuple(
                turn if shown is True else None if shown is None else _turn_from_json(shown)
                for turn, shown in zip(turns, _require_list(record, "shown"), strict=True)
            ),
            held=tuple(map(_sent_block_from_json, _require_list(record, "held"))),
            past=tuple(map(_past_chunk_from_json, _require_list(record, "past"))),
            segments=_require_list(record, "segments"),
            pieces=tuple(tuple(piece) for piece in _require_list(record, "pieces")),
            principals=_require_list(record, "principals"),
            reuse=Reuse(**record["reuse"]),
            summary=_summary_from_json(record["summary"]) if "summary" in record else None,
        )
    except BadInput:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise BadInput(f"is damaged ({what}); begin a new one", field="session") from None
    _check_session(session)
    return session


def _check_session(session: Session) -> None:
    """Refuse fields of a wrong type, and fields that contradict each other."""
    check_types("", session, Session)
    what = ""
    if len(session.at) != len(session.turns):
        what = "at and turns differ"
    elif session.markers < max((held.block.marker for held in session.held), default=0):
        what = "a block's marker is above markers"
    elif session.summary is not None and session.summary.turns > len(session.turns):
        what = "the summary is of more turns than there are"
    if what:
        raise BadInput(f"is damaged ({what}); begin a new one", field="session")


def _require_list(record: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    """A list that must be there; a text is none."""
    found = record[name]
    if not isinstance(found, list | tuple):
        raise BadInput(f"must be a list, not {type(found).__name__}", field=name)
    return tuple(found)


def _optional_list(record: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    """A list, where it is there."""
    return _require_list(record, name) if name in record else ()


def _without_defaults(value: Any) -> dict[str, Any]:
    """The fields of a value that are not as they are when nobody sets them."""
    record = asdict(value)
    plain = {f.name: f.default for f in fields(value)}
    return {name: entry for name, entry in record.items() if entry != plain[name]}


def _turn_to_json(turn: Turn) -> dict[str, Any]:
    return _without_defaults(turn)


def _turn_from_json(record: Mapping[str, Any]) -> Turn:
    parts = {
        "calls": tuple(ToolCall(**call) for call in _optional_list(record, "calls")),
        "results": tuple(ToolResult(**result) for result in _optional_list(record, "results")),
        "cited": tuple(TurnCitation(**entry) for entry in _optional_list(record, "cited")),
    }
    return Turn(**{**record, **parts})


def _sent_block_from_json(record: Mapping[str, Any]) -> SentBlock:
    block = dict(record["block"])
    for name in ("pages", "chunk_ids"):
        block[name] = _optional_list(block, name)
    for name in ("metadata", "document_spans"):
        block[name] = tuple(tuple(entry) for entry in _optional_list(block, name))
    block["corroborating"] = tuple(
        Source(**entry) for entry in _optional_list(block, "corroborating")
    )
    block["span"] = _optional_list(block, "span") or (0, 0)
    return SentBlock(
        block=Block(**block),
        chunks=tuple(chunk_from_record(chunk) for chunk in _require_list(record, "chunks")),
        since=record["since"],
        copies=tuple(map(_past_chunk_from_json, _optional_list(record, "copies"))),
    )


def _summary_from_json(record: Mapping[str, Any]) -> Summary:
    return Summary(**{**record, "unread": _require_list(record, "unread")})


def _past_chunk_from_json(record: Mapping[str, Any]) -> PastChunk:
    return PastChunk(**{**record, "principals": _require_list(record, "principals")})

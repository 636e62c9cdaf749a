"""A session as plain JSON and back, equal to what it was (SPEC W4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from foveate.core.candidates import chunk_from_record, chunk_to_json
from foveate.core.chat.history_fit import Summary
from foveate.core.chat.session import PastChunk, Reuse, SentBlock, Session
from foveate.core.chat.turns import ToolCall, ToolResult, Turn, TurnCitation
from foveate.core.checks import check_integer, check_text
from foveate.core.errors import BadInput
from foveate.core.types import Block, Chunk, Source

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
    found = record[name]
    if not isinstance(found, list | tuple):
        raise BadInput(f"must be a list, not {type(found).__name__}", field=name)
    return tuple(found)


def _optional_list(record: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    return _require_list(record, name) if name in record else ()


def _without_defaults(value: Any) -> dict[str, Any]:
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


def check_types(name: str, value: Any, kind: Any) -> None:
    """Raise `BadInput` naming the field that is not of its type; whole numbers count something."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is str:
        check_text(name, value)
    elif kind is int:
        check_integer(name, value)
    elif kind in (bool, float):
        if type(value) is not kind and not (kind is float and type(value) is int):
            raise _type_error(name, kind.__name__, value)
    elif is_dataclass(kind):
        _check_fields(name, value, kind)
    else:
        _check_composite(name, value, origin, parts)


def _check_composite(name: str, value: Any, origin: Any, parts: Sequence[Any]) -> None:
    if origin is tuple:
        _check_tuple(name, value, parts)
    elif origin in (Union, UnionType):
        if not (value is None and NoneType in parts):
            (other,) = (part for part in parts if part is not NoneType)
            check_types(name, value, other)
    elif origin is Literal:
        if not any(value is part or (type(value) is str and value == part) for part in parts):
            raise BadInput(f"must be one of {parts}, not {value!r}", field=name)
    else:
        raise TypeError(f"no rule for the type of {name}")


def _check_tuple(name: str, value: Any, parts: Sequence[Any]) -> None:
    if not isinstance(value, tuple):
        raise _type_error(name, "list", value)
    several = len(parts) == 2 and parts[1] is ...
    kinds = [parts[0]] * len(value) if several else list(parts)
    if len(kinds) != len(value):
        raise _type_error(name, f"list of {len(kinds)}", value)
    for n, (entry, kind) in enumerate(zip(value, kinds, strict=True)):
        check_types(f"{name}[{n}]", entry, kind)


def _check_fields(name: str, value: Any, kind: Any) -> None:
    if not isinstance(value, kind):
        raise _type_error(name, kind.__name__, value)
    if kind is Chunk:
        return  # it has looked at its own fields
    for field, known in _field_types(kind):
        check_types(f"{name}.{field}" if name else field, getattr(value, field), known)


@cache
def _field_types(kind: Any) -> list[tuple[str, Any]]:
    hints = get_type_hints(kind)
    return [(field.name, hints[field.name]) for field in fields(kind)]


def _type_error(name: str, kind: str, value: Any) -> BadInput:
    return BadInput(f"must be a {kind}, not {type(value).__name__}", field=name)

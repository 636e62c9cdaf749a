"""What is brought beside a golden set, as JSON Lines: answers that were given, agents' sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput
from foveate.evals.diagnosis.verdict import AgentTurn, RecordedAnswers


def read_answers(path: Path) -> dict[str, RecordedAnswers]:
    """`{"id", "answer", "baseline"}` a line: answered as assembled, and joined by score."""
    return {
        name: RecordedAnswers(
            answer=_get_text(record, "answer", line),
            baseline=_get_text(record, "baseline", line)
            if record.get("baseline") is not None
            else None,
        )
        for line, name, record in _read_records(path)
    }


def read_sessions(path: Path) -> dict[str, tuple[AgentTurn, ...]]:
    """`{"id", "turns": [{"tokens", "chunk_ids"}]}` a line: what an agent had in front of it."""
    return {name: _parse_turns(record, line) for line, name, record in _read_records(path)}


def _read_records(path: Path) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror or error}") from error
    for number, raw in enumerate(lines, 1):
        if raw.strip():
            yield number, *_parse_record(raw, number)


def _parse_record(raw: bytes, number: int) -> tuple[str, Mapping[str, Any]]:
    try:
        record = parse_json(raw.decode())
    except UnicodeDecodeError:
        raise BadInput("not UTF-8", line=number) from None
    except BadInput as error:
        raise BadInput(str(error), line=number) from None
    if not isinstance(record, Mapping):
        raise BadInput("must be an object with an id", line=number)
    return _get_text(record, "id", number), record


def _get_text(record: Mapping[str, Any], key: str, number: int) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise BadInput(f"{key} must be a string", line=number, field=key)
    return value


def _parse_turns(record: Mapping[str, Any], number: int) -> tuple[AgentTurn, ...]:
    turns = record.get("turns")
    if not isinstance(turns, list) or not all(isinstance(turn, Mapping) for turn in turns):
        raise BadInput("turns must be a list of objects", line=number, field="turns")
    found = []
    for turn in turns:
        tokens, ids = turn.get("tokens", 0), turn.get("chunk_ids", [])
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
            raise BadInput("tokens must be a whole number", line=number, field="turns")
        if not isinstance(ids, list) or not all(isinstance(name, str) for name in ids):
            raise BadInput("chunk_ids must be a list of strings", line=number, field="turns")
        found.append(AgentTurn(tokens=tokens, chunk_ids=tuple(ids)))
    return tuple(found)

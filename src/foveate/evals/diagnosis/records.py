"""What is known of questions besides the golden set: recorded answers, and sessions of agents."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput, name_in_errors
from foveate.core.typed import read_value
from foveate.pipeline.text_files import read_lines

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswers:
    """Recorded answers to the assembled context, and to one joined by score."""

    answer: str
    baseline: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTurn:
    """One iteration of an agent: tokens it sent, chunks it had in front of it."""

    tokens: int = 0
    chunk_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSession:
    """What an agent did for one question."""

    turns: tuple[AgentTurn, ...]


def read_records(path: Path | None, kind: type[T], ids: Collection[str]) -> dict[str, T]:
    """A file's values of this kind by their `id`, one JSON object a line; none without a file.

    Raises `BadInput` if none of its ids is among `ids`, those of the cases.
    """
    found: dict[str, T] = {}
    for number, line in read_lines(str(path)) if path is not None else ():
        with name_in_errors(f"{path}: line {number}"):
            record = parse_json(line)
            value = read_value(kind, record)
            found[read_value(str, record.get("id"), "id")] = value
    if found and not any(name in ids for name in found):
        why = f"none of its ids is a case's, such as {next(iter(found))!r}; use those of --dataset"
        raise BadInput(f"{path}: {why}")
    return found

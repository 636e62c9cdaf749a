"""What a model said, one line of JSON a call, so that a call that was paid for is never made twice.

Rules: a line is found under a hash of the very request: model, messages, limit or gold answer. So
a change of our own code or recipes asks anew only what it asks differently, and two recipes that
make the same context share an answer. What failed is not kept: the next run asks it again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from foveate.core.errors import BadInput
from foveate.core.manifest import digest
from foveate.evals.rows import open_for_append
from foveate.ports import Message

_FIRST_BYTES = b'{"key": '


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """One call. `text` of an answer, `mean` of a gold answer's probability (None: cannot be had).

    `read`, `wrote`: tokens as the model counts them, 0 where it does not say.
    """

    key: str
    kind: str
    text: str = ""
    mean: float | None = None
    read: int = 0
    wrote: int = 0


def call_key(kind: str, model: str, sent: Sequence[Message], detail: int | str) -> str:
    """`detail`: the limit of an answer, the gold answer of a probability."""
    return digest(json.dumps([kind, model, list(sent), detail], ensure_ascii=False))


def load_calls(path: Path) -> dict[str, LoggedCall]:
    """The file's calls by their keys; raises `BadInput` where it is something else."""
    if not path.exists():
        return {}
    data, found = path.read_bytes(), {}
    for line in data.split(b"\n"):
        try:
            said = _call_from_record(json.loads(line))
        except (ValueError, KeyError, TypeError):
            continue  # a run was killed while it wrote
        found[said.key] = said
    if data.strip() and not found and not data.startswith(_FIRST_BYTES):
        raise BadInput(f"{path}: holds no answers of a model; name another folder")
    return found


def _call_from_record(record: Mapping[str, Any]) -> LoggedCall:
    return LoggedCall(**{one.name: record[one.name] for one in fields(LoggedCall)})


def append_call(path: Path, said: LoggedCall) -> None:
    """Append it, at once."""
    with open_for_append(path) as file:
        file.write(json.dumps(asdict(said), ensure_ascii=False).encode() + b"\n")

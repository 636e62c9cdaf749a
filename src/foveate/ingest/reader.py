"""The reading process itself, `python -m foveate.ingest.reader LIMITS`: files in, answers out.

A question is a line of JSON (`name`, `size`) and that many bytes; an answer is one line of JSON.
It ends when nobody asks any more. Where the system can, it is given no more memory than the limit
says, and an alarm ends it even where nobody is left who would.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import IO

from foveate.adapters.loaders.limits import Limits
from foveate.core.errors import BadRequest
from foveate.ingest.answers import Answer, answer_of
from foveate.ingest.load import read_here

_GRACE = 5  # seconds in which whoever asked may end us first


def main() -> None:
    """Answer until the questions end."""
    limits = Limits(**json.loads(sys.argv[1]))
    questions, answers = sys.stdin.buffer, _own_output()
    _bound_memory(limits.memory_bytes)
    while line := questions.readline():
        asked = json.loads(line)
        data = questions.read(asked["size"])
        _alarm(limits.seconds + _GRACE)
        answer = _answer(data, Path(asked["name"]), limits)
        _alarm(0)
        del data
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def _answer(data: bytes, path: Path, limits: Limits) -> Answer:
    try:
        return answer_of(read_here(data, path, limits))
    except BadRequest as error:
        return {"refused": str(error)}


def _own_output() -> IO[bytes]:
    """The answers' own channel: what a library prints goes to stderr."""
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return own


def _bound_memory(most: int) -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ImportError, ValueError, OSError):
        return  # Windows, or a system that grants less already


def _alarm(seconds: int) -> None:
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


if __name__ == "__main__":
    main()

"""The sandboxed reader, `python -m foveate.ingest.reader LIMITS`.

A request is a line of JSON (`name`, `size`, `options`) and that many bytes; an answer is a line of
JSON. It ends with its input. Where the system allows, its memory is limited and an
alarm ends it.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

from foveate.batch.engines.process import redirect_stdout
from foveate.core.errors import InvalidRequest
from foveate.ingest.load import load_in_process
from foveate.ingest.loaders.limits import Limits, ReadOptions
from foveate.ingest.sandbox import ReaderAnswer, answer_from_parts

_GRACE_SECONDS = 5  # seconds in which whoever asked may end us first


def main() -> None:
    """Answer until the questions end."""
    limits = Limits(**json.loads(sys.argv[1]))
    questions, answers = sys.stdin.buffer, redirect_stdout()
    _limit_memory(limits.memory_bytes)
    while line := questions.readline():
        asked = json.loads(line)
        data = questions.read(asked["size"])
        _set_alarm(limits.seconds + _GRACE_SECONDS)
        answer = _load_answer(data, asked, limits)
        _set_alarm(0)
        del data
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def _load_answer(data: bytes, asked: dict[str, Any], limits: Limits) -> ReaderAnswer:
    options = ReadOptions(**asked["options"])
    try:
        return answer_from_parts(load_in_process(data, Path(asked["name"]), limits, options))
    except InvalidRequest as error:
        return {"refused": str(error)}


def _limit_memory(most: int) -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ImportError, ValueError, OSError):
        return  # Windows, or a system that grants less already


def _set_alarm(seconds: int) -> None:
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


if __name__ == "__main__":
    main()

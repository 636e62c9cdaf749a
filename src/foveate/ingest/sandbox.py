"""A process of our own that reads the files which a parser could hang, blow up or crash on.

It is started when the first such file comes and goes on to the next; after a file that took too
long it is ended, after a crash it is gone, and in both cases the next file gets a new one. A
pool of `concurrent.futures` cannot do that: one of its tasks cannot be ended, and one crash
breaks the pool. Bytes go in and JSON comes out (`answers`): nothing that it says is executed.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Timer
from typing import IO, Any, Self

from foveate.core.errors import BadInput
from foveate.ingest.document_json import ReaderAnswer, parts_from_answer
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.process import format_exit, start_process, wait_for_exit
from foveate.ports import LoadedDocument

__all__ = ["Sandbox"]


class Sandbox:
    """Reads files in another process, at most one at a time. Use it as a context manager."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_process()

    def load(self, data: bytes, path: Path) -> Sequence[LoadedDocument | BadInput]:
        """The file's documents. Raises `BadInput`, also where the reader had to be ended."""
        process = self._process = self._process or _start_reader(self.limits)
        overtime: list[bool] = []

        def end() -> None:
            overtime.append(True)
            process.kill()

        timer = Timer(self.limits.seconds, end)
        timer.daemon = True
        timer.start()
        try:
            line = _send_file(process, data, path)
        except BaseException:  # Ctrl-C: half a question is in the pipe
            process.kill()
            self._end_process()
            raise
        finally:
            timer.cancel()
        if line.endswith(b"\n") and not overtime:
            return _parse_answer(line)
        code = self._end_process()
        if overtime:
            raise BadInput(f"takes longer than {self.limits.seconds} seconds (limit `seconds`)")
        raise BadInput(
            f"its reader broke down ({format_exit(code)}); the file is damaged or hostile"
        )

    def _end_process(self) -> int:
        """Let the process go; how it ended."""
        process, self._process = self._process, None
        if process is None:
            return 0
        return wait_for_exit(process)


def _start_reader(limits: Limits) -> subprocess.Popen[bytes]:
    return start_process("foveate.ingest.reader", json.dumps(asdict(limits)))


def _send_file(process: subprocess.Popen[bytes], data: bytes, path: Path) -> bytes:
    """The line that answers; empty or without its end where the process ended before it."""
    question = json.dumps({"name": path.name, "size": len(data)}).encode() + b"\n"
    to, back = _require_pipe(process.stdin), _require_pipe(process.stdout)
    with contextlib.suppress(BrokenPipeError):
        to.write(question)
        to.write(data)
        to.flush()
    return bytes(back.readline())


def _parse_answer(line: bytes) -> list[LoadedDocument | BadInput]:
    """The documents; whoever took the reader over can say nothing else. Raises `BadInput`."""
    try:
        answer: ReaderAnswer = json.loads(line)
        return parts_from_answer(answer)
    except BadInput:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise BadInput("its reader gave no answer; the file is damaged or hostile") from None


def _require_pipe(pipe: IO[bytes] | None) -> Any:
    assert pipe is not None
    return pipe

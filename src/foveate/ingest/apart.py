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

from foveate.adapters.loaders.limits import Limits
from foveate.core.errors import BadInput
from foveate.ingest.answers import Answer, parts_of
from foveate.ingest.process import cause, left, started
from foveate.ports import Loaded

__all__ = ["Apart"]


class Apart:
    """Reads files in another process, at most one at a time. Use it as a context manager."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def load(self, data: bytes, path: Path) -> Sequence[Loaded | BadInput]:
        """The file's documents. Raises `BadInput`, also where the reader had to be ended."""
        process = self._process = self._process or _started(self.limits)
        overtime: list[bool] = []

        def end() -> None:
            overtime.append(True)
            process.kill()

        timer = Timer(self.limits.seconds, end)
        timer.daemon = True
        timer.start()
        try:
            line = _asked(process, data, path)
        except BaseException:  # Ctrl-C: half a question is in the pipe
            process.kill()
            self._end()
            raise
        finally:
            timer.cancel()
        if line.endswith(b"\n") and not overtime:
            return _understood(line)
        code = self._end()
        if overtime:
            raise BadInput(f"takes longer than {self.limits.seconds} seconds (limit `seconds`)")
        raise BadInput(f"its reader broke down ({cause(code)}); the file is damaged or hostile")

    def _end(self) -> int:
        """Let the process go; how it ended."""
        process, self._process = self._process, None
        if process is None:
            return 0
        return left(process)


def _started(limits: Limits) -> subprocess.Popen[bytes]:
    return started("foveate.ingest.reader", json.dumps(asdict(limits)))


def _asked(process: subprocess.Popen[bytes], data: bytes, path: Path) -> bytes:
    """The line that answers; empty or without its end where the process ended before it."""
    question = json.dumps({"name": path.name, "size": len(data)}).encode() + b"\n"
    to, back = _pipe(process.stdin), _pipe(process.stdout)
    with contextlib.suppress(BrokenPipeError):
        to.write(question)
        to.write(data)
        to.flush()
    return bytes(back.readline())


def _understood(line: bytes) -> list[Loaded | BadInput]:
    """The documents; whoever took the reader over can say nothing else. Raises `BadInput`."""
    try:
        answer: Answer = json.loads(line)
        return parts_of(answer)
    except BadInput:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise BadInput("its reader gave no answer; the file is damaged or hostile") from None


def _pipe(pipe: IO[bytes] | None) -> Any:
    assert pipe is not None
    return pipe

"""Child processes, and messages over their pipes: bytes after their length.

`multiprocessing` is not used, because it starts the caller's script again, which must then guard
its main part.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from foveate.core.errors import BadOption

_LENGTH_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFailure:
    """Sent in place of an answer: what the run is to end with."""

    error: Exception


def start_process(module: str, *words: str, group: bool = False) -> subprocess.Popen[bytes]:
    """Start one of our modules in our interpreter.

    `group`: start a process group, which gets no Ctrl-C and is ended as a whole.
    """
    # -P: what lies in the current folder is no module of ours.
    command = [sys.executable, "-P", "-m", module, *words]
    root = str(Path(__file__).parents[3])
    known = [path for path in (root, os.environ.get("PYTHONPATH", "")) if path]
    options: dict[str, Any] = {"process_group": 0} if group and os.name == "posix" else {}
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(known)},
        **options,
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and its group, without waiting."""
    with contextlib.suppress(OSError):
        process.kill()
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)


def wait_for_exit(process: subprocess.Popen[bytes]) -> int:
    """Close its pipes, at which it ends by itself, and wait for that; how it ended."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    return process.wait()


def format_exit(code: int) -> str:
    """How a process ended, in words."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit code {code}"


def pickle_for_worker(thing: object) -> bytes:
    """A function with what it holds. Raises `BadOption` if another process cannot have it."""
    try:
        return pickle.dumps(thing, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 - whatever a tokenizer's own pickling raises
        raise _not_sendable(error) from None


def unpickle_in_worker(pickled: bytes) -> Any:
    """The same again. Raises `BadOption` if its class is missing here."""
    try:
        return pickle.loads(pickled)  # noqa: S301 - through a pipe that nobody else has
    except (AttributeError, ImportError, EOFError, TypeError) as error:
        raise _not_sendable(error) from None


def _not_sendable(error: Exception) -> BadOption:
    return BadOption(
        f"a recipe, a tokenizer or an embedder cannot be sent to another process ({error}); "
        f"define it in a module that can be imported, or use one process"
    )


def send(pipe: IO[bytes], data: bytes) -> None:
    """Write a message and its length."""
    pipe.write(len(data).to_bytes(_LENGTH_BYTES, "little") + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes | None:
    """The next message; None if the other side is gone."""
    head = pipe.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "little")
    data = pipe.read(size)
    return data if len(data) == size else None


def redirect_stdout() -> IO[bytes]:
    """Keep stdout for answers; what a library prints goes to stderr."""
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return own

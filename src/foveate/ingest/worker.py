"""The preparing process, `python -m foveate.ingest.worker`: tasks in, parts out, pickled.

Both sides are ours and trusted; hostile files are read by the sandbox of each worker. First come
module paths, the preparer and its embedder. The answer to them, and the end of each task, is an
empty piece; an error is a piece too.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import IO, Any, cast

from foveate.core.errors import BadOption, ExternalError, FoveateError
from foveate.ingest.document_task import Preparer
from foveate.ingest.process import WorkerFailure, receive, redirect_stdout, send
from foveate.ingest.sandbox import Sandbox
from foveate.ports import Embedder


def main() -> None:
    """Answer until the tasks end."""
    tasks, answers = sys.stdin.buffer, redirect_stdout()
    try:
        preparer = _receive_preparer(tasks)
        send(answers, b"")
        with Sandbox(preparer.limits) as sandbox:
            while (asked := receive(tasks)) is not None:
                for part in preparer.parts(_unpickle(asked), sandbox):
                    send(answers, pickle.dumps(part, pickle.HIGHEST_PROTOCOL))
                send(answers, b"")
    except BrokenPipeError:
        os._exit(0)  # nobody waits for what is still buffered
    except Exception as error:  # noqa: BLE001 - raised where the parts are taken
        send(answers, pickle.dumps(WorkerFailure(error=make_picklable(error))))
        send(answers, b"")


class LazyEmbedder:
    """An embedder that is loaded from `pickled` when it is first needed."""

    def __init__(self, pickled: bytes) -> None:
        self._pickled = pickled

    @cached_property
    def _embedder(self) -> Embedder:
        found: Embedder = _unpickle(self._pickled)
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what a copy asks for before it has its fields
            raise AttributeError(name)
        return getattr(self._embedder, name)


def _receive_preparer(tasks: IO[bytes]) -> Preparer:
    places: Sequence[str] = _unpickle(receive(tasks))
    sys.path += [place for place in places if place not in sys.path]
    found: Preparer = _unpickle(receive(tasks))
    embedder = receive(tasks)
    return replace(found, embedder=cast("Embedder", LazyEmbedder(embedder))) if embedder else found


def _unpickle(pickled: bytes | None) -> Any:
    """Load an object of the parent. Raises `BadOption` if its class is missing here."""
    try:
        return pickle.loads(pickled or b"")  # noqa: S301 - through a pipe that nobody else has
    except (AttributeError, ImportError, EOFError, TypeError) as error:
        raise BadOption(
            f"jobs: the tokenizer or the embedder cannot be made again in another process "
            f"({error}); define it in a module that can be imported, or use jobs=1"
        ) from None


def make_picklable(error: Exception) -> Exception:
    """The error if it survives being pickled, else one that says the same."""
    try:
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    except Exception:  # noqa: BLE001 - whatever an exception's own constructor raises
        again = None
    if isinstance(again, type(error)) and str(again) == str(error):
        return error
    if isinstance(error, FoveateError):
        return ExternalError(str(error))
    return RuntimeError(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()

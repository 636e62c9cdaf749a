"""A process of the pool, `python -m foveate.batch.engines.worker`: tasks in, results out, pickled.

Both sides are ours and trusted. First come module paths and the function. The answer to them, and
the end of each task, is an empty piece; an error is a piece too.
"""

from __future__ import annotations

import os
import pickle
import sys

from foveate.batch.engines.process import (
    WorkerFailure,
    receive,
    redirect_stdout,
    send,
    unpickle_in_worker,
)
from foveate.core.errors import ExternalError, FoveateError


def main() -> None:
    """Answer until the tasks end."""
    tasks, answers = sys.stdin.buffer, redirect_stdout()
    try:
        places = unpickle_in_worker(receive(tasks) or b"")
        sys.path += [place for place in places if place not in sys.path]
        function = unpickle_in_worker(receive(tasks) or b"")
        send(answers, b"")
        while (task := receive(tasks)) is not None:
            for result in function(unpickle_in_worker(task)):
                send(answers, pickle.dumps(result, pickle.HIGHEST_PROTOCOL))
            send(answers, b"")
    except BrokenPipeError:
        os._exit(0)  # nobody waits for what is still buffered
    except Exception as error:  # noqa: BLE001 - raised where the results are taken
        send(answers, pickle.dumps(WorkerFailure(error=make_picklable(error))))
        send(answers, b"")


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

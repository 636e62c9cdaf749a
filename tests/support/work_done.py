"""How much work a call takes, counted and not timed: the lines that run in one file."""

from __future__ import annotations

import sys
from collections.abc import Callable


def lines_run(file: str | None, code: Callable[[], object]) -> int:
    """How many lines of the file's own code the call runs."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if frame.f_code.co_filename != file:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        code()
    finally:
        sys.settrace(before)
    return count

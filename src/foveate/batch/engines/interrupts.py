"""Ctrl-C held back while a library is in the middle of something, and raised where we stand.

An exception that the signal raises inside Ray's compiled code ends the process without a word.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupts:
    """Remembers that Ctrl-C was pressed; `check` raises it."""

    def __init__(self) -> None:
        self._pressed = False

    def handle_signal(self, *_: object) -> None:
        """The handler."""
        self._pressed = True

    def check(self) -> None:
        """Raise `KeyboardInterrupt` where it was pressed."""
        if self._pressed:
            self._pressed = False
            raise KeyboardInterrupt


@contextmanager
def defer_interrupts() -> Iterator[Interrupts]:
    """Ctrl-C is remembered inside; what nobody has asked for by the end arrives then.

    Signals are the main thread's; in another one nothing is held back.
    """
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    before = signal.signal(signal.SIGINT, interrupts.handle_signal)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
        try:
            interrupts.check()
        except KeyboardInterrupt:
            os.kill(os.getpid(), signal.SIGINT)

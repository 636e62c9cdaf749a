"""An async iterator read from sync code: its event loop runs on a thread of its own.

So a call works wherever it is made, also where an event loop runs already (a notebook); what is
awaited can be given up at any moment, which a blocking read cannot.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

GRACE_SECONDS = 0.5
"""Seconds after which a limit that the iterator should have kept itself is kept for it."""


class _EndOfStream:
    """Nothing more comes; `error` says why, where something went wrong."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def iterate_in_thread(make: Callable[[], AsyncIterator[T]], timeout: float) -> Iterator[T]:
    """What the iterator gives, in this thread; raises `TimeoutError` where it hangs.

    When the reader stops early, the iterator is cancelled.
    """
    box: SimpleQueue[T | _EndOfStream] = SimpleQueue()
    stop = _Cancel()
    work = copy_context().run
    Thread(
        target=work, args=(_run_iterator, make, box, stop), daemon=True, name="foveate-model"
    ).start()
    end = monotonic() + timeout + GRACE_SECONDS
    try:
        while True:
            try:
                item = box.get(timeout=max(GRACE_SECONDS, end - monotonic()))
            except Empty:
                raise TimeoutError from None
            if not isinstance(item, _EndOfStream):
                yield item
            elif item.error is None:
                return
            else:
                raise item.error
    finally:
        stop()


class _Cancel:
    """Cancels the task on its own loop; calling it late or twice does nothing."""

    task: asyncio.Task[None] | None = None
    loop: asyncio.AbstractEventLoop | None = None

    def __call__(self) -> None:
        if self.task is not None and self.loop is not None:
            with suppress(RuntimeError):  # the loop is closed: it came to its end
                self.loop.call_soon_threadsafe(self.task.cancel)


def _run_iterator(
    make: Callable[[], AsyncIterator[T]], box: SimpleQueue[T | _EndOfStream], stop: _Cancel
) -> None:
    async def main() -> None:
        stop.loop, stop.task = asyncio.get_running_loop(), asyncio.current_task()
        # What goes wrong while a client is cleaned up would be logged, and is nobody's concern.
        stop.loop.set_exception_handler(lambda *_: None)
        end = _EndOfStream()
        try:
            async for item in make():
                box.put(item)
        except BaseException as error:  # noqa: BLE001  # whatever it is, the reader must hear of it
            end = _EndOfStream(error)
        # Before the loop is closed: that waits for threads, such as a name being looked up.
        box.put(end)

    asyncio.run(main())

"""Ctrl-C while something else must not be disturbed."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from foveate.batch.engines.tasks import defer_interrupts


@pytest.fixture(autouse=True)
def default_handler():
    """Python's own handler, which a process that was started with SIGINT ignored does not have."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pressed(reached, *, ask):
    """Press Ctrl-C inside, and go on."""
    with defer_interrupts() as ctrl_c:
        os.kill(os.getpid(), signal.SIGINT)
        reached.append("still here")
        if ask:
            ctrl_c.check()
            reached.append("too far")


@pytest.mark.parametrize("ask", [True, False])
def test_it_is_raised_where_it_is_asked_for(ask):
    """F2, T5: not in the middle, but at the next look, and at the end where nobody looks."""
    reached = []
    with pytest.raises(KeyboardInterrupt):
        pressed(reached, ask=ask)
    assert reached == ["still here"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_thread_holds_nothing():
    """F2: signals are the main thread's."""
    seen = []

    def work():
        with defer_interrupts() as ctrl_c:
            ctrl_c.check()
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]

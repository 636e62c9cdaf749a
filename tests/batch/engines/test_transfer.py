"""Handing over: the order is that of the tasks, and what waits is bounded."""

from __future__ import annotations

import contextlib
import gc
import signal
from threading import Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.batch.engines.pool import OrderedTransfer, TransferStopped


def _bring_all(over: OrderedTransfer, pieces: list[list[bytes]]) -> None:
    while (given := over.next_task()) is not None:
        number, task = given
        assert task == b"%d" % number
        for piece in pieces[number]:
            over.put(number, piece)
        over.finish(number)


@given(
    pieces=st.lists(st.lists(st.binary(max_size=9), max_size=4), max_size=12),
    most=st.integers(0, 20),
    threads=st.integers(1, 4),
)
def test_everything_comes_in_the_order_of_the_tasks(pieces, most, threads) -> None:
    """T2: whoever brings what and when, it is taken in order, and nobody waits for ever."""
    over = OrderedTransfer(most=most)
    workers = [Thread(target=_bring_all, args=(over, pieces)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    numbers = [over.add_task(b"%d" % number) for number in range(len(pieces))]
    over.end_tasks()
    taken = [list(over.iter_pieces(number)) for number in numbers]
    for worker in workers:
        worker.join()
    assert taken == pieces


def test_what_waits_is_bounded() -> None:
    """T2, X2: with ten bytes of room, an eleventh of a later task waits until some are taken."""
    over = OrderedTransfer(most=10)
    assert (over.add_task(b""), over.add_task(b"")) == (0, 1)
    brought = Event()

    def bring() -> None:
        over.put(1, b"x" * 10)
        brought.set()
        over.put(1, b"y")
        over.finish(1)

    thread = Thread(target=bring)
    thread.start()
    assert brought.wait(30)
    assert over._waiting_bytes == 10
    over.put(0, b"z" * 99)  # the one being taken has room for a piece in any case
    over.finish(0)
    assert list(over.iter_pieces(0)) == [b"z" * 99]
    assert list(over.iter_pieces(1)) == [b"x" * 10, b"y"]
    thread.join()


def test_a_stop_reaches_everybody() -> None:
    """T2: after it nothing is given out, and who brings is told so."""
    over = OrderedTransfer(most=0)
    over.add_task(b"first")
    over.add_task(b"second")
    assert over.next_task() == (0, b"first")
    over.stop()
    assert over.next_task() is None
    with pytest.raises(TransferStopped):
        over.put(0, b"x")


def test_a_failure_is_raised_where_it_is_taken() -> None:
    """T2: and not swallowed in a thread."""
    over = OrderedTransfer(most=0)
    over.fail(ValueError("broken"))
    with pytest.raises(ValueError, match="broken"):
        list(over.iter_pieces(over.add_task(b"")))


def test_ctrl_c_at_any_moment_leaves_nobody_waiting():
    """T5: the reader may be interrupted while it holds the lock, which it then gives back."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def work(over: OrderedTransfer) -> None:
        with contextlib.suppress(TransferStopped):
            while (given := over.next_task()) is not None:
                over.put(given[0], b"a piece")
                over.finish(given[0])

    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # Python loses an exception that is raised in another library's callback of it
    try:
        for round_ in range(600):
            over = OrderedTransfer(most=100)
            threads = [Thread(target=work, args=(over,), daemon=True) for _ in range(2)]
            for thread in threads:
                thread.start()
            with contextlib.suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.000005 * round_)
                over.add_task(b"")
                for number in range(100_000):
                    over.add_task(b"")
                    list(over.iter_pieces(number))
            over.stop()
            for thread in threads:
                thread.join(10)
            assert not any(thread.is_alive() for thread in threads)
    finally:
        gc.enable()
        signal.signal(signal.SIGALRM, before)

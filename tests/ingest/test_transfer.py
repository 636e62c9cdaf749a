"""Handing over: the order is that of the tasks, and what waits is bounded."""

from __future__ import annotations

import contextlib
import signal
from threading import Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.ingest.pool import OrderedTransfer, TransferStopped


def _bring_all(over: OrderedTransfer, pieces: list[list[bytes]]) -> None:
    while (number := over.next_number()) is not None:
        for piece in pieces[number]:
            over.put(number, piece)
        over.finish(number)


@given(
    pieces=st.lists(st.lists(st.binary(max_size=9), max_size=4), max_size=12),
    ahead=st.integers(1, 5),
    most=st.integers(0, 20),
    threads=st.integers(1, 4),
)
def test_everything_comes_in_the_order_of_the_tasks(pieces, ahead, most, threads) -> None:
    """T2: whoever brings what and when, it is taken in order, and nobody waits for ever."""
    over = OrderedTransfer(len(pieces), ahead=ahead, most=most)
    workers = [Thread(target=_bring_all, args=(over, pieces)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    taken = [list(each) for each in over.iter_results()]
    for worker in workers:
        worker.join()
    assert taken == pieces


def test_what_waits_is_bounded() -> None:
    """T2, X2: with ten bytes of room, an eleventh of a later task waits until some are taken."""
    over = OrderedTransfer(2, ahead=9, most=10)
    assert (over.next_number(), over.next_number()) == (0, 1)
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
    assert [list(each) for each in over.iter_results()] == [[b"z" * 99], [b"x" * 10, b"y"]]
    thread.join()


def test_nothing_is_given_out_too_far_ahead() -> None:
    """T2: with two ahead, the third task is given out when the second is being taken."""
    over = OrderedTransfer(3, ahead=2, most=10)
    assert (over.next_number(), over.next_number()) == (0, 1)
    given: list[int | None] = []
    thread = Thread(target=lambda: given.append(over.next_number()))
    thread.start()
    taken = over.iter_results()
    over.finish(0)
    over.finish(1)
    assert list(next(taken)) == []
    assert list(next(taken)) == []
    thread.join()
    assert given == [2]


def test_a_stop_reaches_everybody() -> None:
    """T2: after it nothing is given out, and who brings is told so."""
    over = OrderedTransfer(3, ahead=1, most=0)
    assert over.next_number() == 0
    over.stop()
    assert over.next_number() is None
    with pytest.raises(TransferStopped):
        over.put(0, b"x")


def test_a_failure_is_raised_where_it_is_taken() -> None:
    """T2: and not swallowed in a thread."""
    over = OrderedTransfer(1, ahead=1, most=0)
    over.fail(ValueError("broken"))
    with pytest.raises(ValueError, match="broken"):
        list(next(over.iter_results()))


def test_ctrl_c_at_any_moment_leaves_nobody_waiting():
    """T5: the reader may be interrupted while it holds the lock, which it then gives back."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def work(over: OrderedTransfer) -> None:
        with contextlib.suppress(TransferStopped):
            while (number := over.next_number()) is not None:
                over.put(number, b"a piece")
                over.finish(number)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for round_ in range(600):
            over = OrderedTransfer(100_000, ahead=8, most=100)
            threads = [Thread(target=work, args=(over,), daemon=True) for _ in range(2)]
            for thread in threads:
                thread.start()
            with contextlib.suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.000005 * round_)
                for pieces in over.iter_results():
                    list(pieces)
            over.stop()
            for thread in threads:
                thread.join(10)
            assert not any(thread.is_alive() for thread in threads)
    finally:
        signal.signal(signal.SIGALRM, before)

"""Handing over: the order is that of the tasks, and what waits is bounded."""

from __future__ import annotations

from threading import Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.ingest.hand_over import HandOver, Stopped


def _bring_all(over: HandOver, pieces: list[list[bytes]]) -> None:
    while (number := over.next()) is not None:
        for piece in pieces[number]:
            over.bring(number, piece)
        over.end(number)


@given(
    pieces=st.lists(st.lists(st.binary(max_size=9), max_size=4), max_size=12),
    ahead=st.integers(1, 5),
    most=st.integers(0, 20),
    threads=st.integers(1, 4),
)
def test_everything_comes_in_the_order_of_the_tasks(pieces, ahead, most, threads) -> None:
    """T2: whoever brings what and when, it is taken in order, and nobody waits for ever."""
    over = HandOver(len(pieces), ahead=ahead, most=most)
    workers = [Thread(target=_bring_all, args=(over, pieces)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    taken = [list(each) for each in over.taken()]
    for worker in workers:
        worker.join()
    assert taken == pieces


def test_what_waits_is_bounded() -> None:
    """T2, X2: with ten bytes of room, an eleventh of a later task waits until some are taken."""
    over = HandOver(2, ahead=9, most=10)
    assert (over.next(), over.next()) == (0, 1)
    brought = Event()

    def bring() -> None:
        over.bring(1, b"x" * 10)
        brought.set()
        over.bring(1, b"y")
        over.end(1)

    thread = Thread(target=bring)
    thread.start()
    assert brought.wait(30)
    assert over._held == 10
    over.bring(0, b"z" * 99)  # the one being taken has room for a piece in any case
    over.end(0)
    assert [list(each) for each in over.taken()] == [[b"z" * 99], [b"x" * 10, b"y"]]
    thread.join()


def test_nothing_is_given_out_too_far_ahead() -> None:
    """T2: with two ahead, the third task is given out when the second is being taken."""
    over = HandOver(3, ahead=2, most=10)
    assert (over.next(), over.next()) == (0, 1)
    given: list[int | None] = []
    thread = Thread(target=lambda: given.append(over.next()))
    thread.start()
    taken = over.taken()
    over.end(0)
    over.end(1)
    assert list(next(taken)) == []
    assert list(next(taken)) == []
    thread.join()
    assert given == [2]


def test_a_stop_reaches_everybody() -> None:
    """T2: after it nothing is given out, and who brings is told so."""
    over = HandOver(3, ahead=1, most=0)
    assert over.next() == 0
    over.stop()
    assert over.next() is None
    with pytest.raises(Stopped):
        over.bring(0, b"x")


def test_a_failure_is_raised_where_it_is_taken() -> None:
    """T2: and not swallowed in a thread."""
    over = HandOver(1, ahead=1, most=0)
    over.fail(ValueError("broken"))
    with pytest.raises(ValueError, match="broken"):
        list(next(over.taken()))

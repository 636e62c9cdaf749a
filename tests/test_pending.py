"""Calls side by side, with limits."""

from __future__ import annotations

from threading import Barrier, Event, Lock

from foveate.pipeline.bounded_calls import BoundedCalls, CallTimeout


def test_as_many_at_once_as_allowed_and_no_more():
    """S8: the bound is used in full, and never exceeded."""
    calls = BoundedCalls[int](at_once=3, seconds=60, within=60)
    together, lock, open_, most = Barrier(3), Lock(), [0], [0]

    def call(seconds: float) -> int:
        with lock:
            open_[0] += 1
            most[0] = max(most[0], open_[0])
        together.wait(timeout=60)  # comes through only if three are open
        with lock:
            open_[0] -= 1
        return 1

    begun, ended = 0, []
    while len(ended) < 9:
        while begun < 9 and calls.has_capacity:
            calls.start(call)
            begun += 1
        ended.append(calls.next_result())

    assert sorted(number for number, _ in ended) == list(range(1, 10))
    assert most[0] == 3


def test_a_call_that_does_not_end_is_left_behind_and_keeps_its_place():
    """X3: it is late once, its answer is not taken later, and its place is free only then."""
    calls = BoundedCalls[str](at_once=1, seconds=0.01, within=60)
    go = Event()

    def waits(seconds: float) -> str:
        go.wait()
        return "too late"

    first = calls.start(waits)
    number, outcome = calls.next_result()

    assert number == first
    assert isinstance(outcome, CallTimeout)
    assert not calls.has_capacity
    assert not calls.is_waiting
    go.set()
    assert calls.next_result() is None
    assert calls.has_capacity


def test_what_a_call_raises_is_handed_over():
    """X3: whatever a call raises is its outcome."""
    calls = BoundedCalls[str](at_once=1, seconds=60, within=60)

    def fails(seconds: float) -> str:
        raise ValueError("no")

    calls.start(fails)
    _, outcome = calls.next_result()

    assert isinstance(outcome, ValueError)


def test_the_time_for_all_ends_all():
    """X3: with no time left nothing begins, and what was begun has no longer than that."""
    calls = BoundedCalls[float](at_once=2, seconds=60, within=0.01)
    told = []
    go = Event()

    def call(seconds: float) -> float:
        told.append(seconds)
        go.wait()
        return seconds

    calls.start(call)
    _, outcome = calls.next_result()
    go.set()

    assert isinstance(outcome, CallTimeout)
    assert told[0] <= 0.01
    assert calls.is_expired
    assert not calls.has_capacity

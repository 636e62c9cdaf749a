"""What a run adds to memory."""

from __future__ import annotations

from bench.peers.memory import Peak

MEGABYTE = 2**20


def test_what_is_added_and_given_back_is_seen():
    """The highest size counts, not the last."""
    gauge = Peak()
    held = bytearray(b"x" * (40 * MEGABYTE))
    del held

    assert 35 < gauge.megabytes() < 120


def test_what_was_there_before_does_not_count():
    """Only what is added after the beginning."""
    held = bytearray(b"x" * (40 * MEGABYTE))
    gauge = Peak()
    added = bytearray(b"x" * (2 * MEGABYTE))

    assert len(held) > len(added)
    assert gauge.megabytes() < 20

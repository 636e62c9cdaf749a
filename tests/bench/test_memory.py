"""What a run adds to memory."""

from __future__ import annotations

from pathlib import Path

from bench.peers import memory
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


def test_elsewhere_the_highest_size_so_far_is_taken(monkeypatch):
    """Without the kernel's marks it is a lower bound, never below nothing."""
    monkeypatch.setattr(memory, "_RESET", Path("no such folder/clear_refs"))
    gauge = Peak()

    assert not gauge.exact
    assert gauge.megabytes() >= 0

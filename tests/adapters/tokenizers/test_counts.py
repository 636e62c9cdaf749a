"""Counts kept by content hash, per fingerprint, within bounds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from foveate.adapters.tokenizers import load
from foveate.adapters.tokenizers.counts import SHARE, Counts, counts_for
from foveate.core.errors import BadOption
from foveate.core.gauge import Gauge
from foveate.core.types import Chunk


class Counting:
    """A tokenizer that says how often it was asked."""

    name = "counting"
    fingerprint = "counting:1"

    def __init__(self):
        self.asked = 0

    def count(self, text: str) -> int:
        """One token a character."""
        self.asked += 1
        return len(text)

    def truncate(self, text: str, n: int) -> str:
        """The first `n` characters."""
        return text[:n]


def test_a_chunk_is_tokenized_once_over_requests():
    """B7: a chunk that stood in an earlier request is not tokenized again."""
    tokenizer, known = Counting(), Counts("counting:1")
    chunks = [Chunk(text=f"chunk {i}") for i in range(50)]
    for _ in range(3):
        gauge = Gauge(tokenizer=tokenizer, body=str, frame=lambda *_: "", known=known)
        assert [gauge.chunk(c) for c in chunks] == [len(c.text) for c in chunks]
    assert tokenizer.asked == 50
    assert len(known) == 50


def test_the_oldest_goes_first():
    """B7: the memory is bounded; what came last stays."""
    known = Counts("x:1", size=2)
    known["a"], known["b"] = 1, 2
    assert known["a"] == 1
    known["c"] = 3
    assert dict(known) == {"b": 2, "c": 3}
    del known["b"]
    assert list(known) == ["c"]
    assert "a" not in known
    assert known.get("a") is None


def test_threads_share_it():
    """B7: eight threads writing and reading neither lose the bound nor fail."""
    known = Counts("x:1", size=100)

    def work(start: int) -> None:
        for i in range(2_000):
            known[str((start * 7 + i) % 300)] = i
            known.get(str(i % 300))
            if i % 500 == 0:
                list(known)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert 100 - 100 // SHARE <= len(known) <= 100


def test_one_memory_per_fingerprint():
    """B7: the process keeps one memory per fingerprint, and never mixes two vocabularies."""
    cl100k, o200k = load("cl100k_base").fingerprint, load("o200k_base").fingerprint
    assert counts_for(cl100k) is counts_for(cl100k)
    assert counts_for(cl100k) is not counts_for(o200k)
    assert counts_for(cl100k).fingerprint == cl100k


def test_repr_and_refusal():
    """X1: a size that holds nothing is refused; the repr says fingerprint and size."""
    assert repr(Counts("x:1", size=5)) == "Counts('x:1', size=5)"
    with pytest.raises(BadOption, match="size is 0"):
        Counts("x:1", size=0)

"""Counts kept by content hash, per fingerprint, within bounds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from foveate.core.token_counter import TokenCounter
from foveate.core.types import Chunk
from foveate.providers.tokenizers import load_tokenizer
from foveate.providers.tokenizers.counts import FINGERPRINTS, LIMIT, Counts, counts_for


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
    tokenizer, known = Counting(), Counts()
    chunks = [Chunk(text=f"chunk {i}") for i in range(50)]
    for _ in range(3):
        counter = TokenCounter(
            tokenizer=tokenizer, body=str, header=lambda *_: "", count_cache=known
        )
        assert [counter.count_chunk(c) for c in chunks] == [len(c.text) for c in chunks]
    assert tokenizer.asked == 50
    assert len(known) == 50


def test_what_was_used_last_stays():
    """B7: the memory is bounded; what was not asked for longest goes first."""
    known = Counts(limit=10_000)
    keys = [f"{n:032}" for n in range(1_000)]
    for n, key in enumerate(keys):
        known[key] = n
        assert known.get(keys[0]) == 0

    assert list(known)[-2:] == [keys[-1], keys[0]]
    assert set(known) == {keys[0], *keys[-len(known) + 1 :]}
    del known[keys[0]]
    assert keys[0] not in known
    assert known.get(keys[0]) is None


def test_keys_of_any_length_take_no_more():
    """X6: the counts of all tokenizers together are bounded in bytes, however long their keys."""
    known = Counts(limit=100_000)
    for n in range(1_000):
        known[f"{n} " + "\U0001f600" * 190] = n

    assert 50 < len(known) < 100_000 // (4 * 190)
    assert counts_for.cache_parameters()["maxsize"] * LIMIT == FINGERPRINTS * LIMIT == 24_000_000


def test_threads_share_it():
    """B7: eight threads writing and reading neither lose the bound nor fail."""
    known = Counts(limit=30_000)

    def work(start: int) -> None:
        for i in range(2_000):
            known[str((start * 7 + i) % 300)] = i
            known.get(str(i % 300))
            if i % 500 == 0:
                list(known)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert 30_000 // 400 < len(known) < 30_000 // 250


def test_one_memory_per_fingerprint():
    """B7: the process keeps one memory per fingerprint, and never mixes two vocabularies."""
    cl100k, o200k = (
        load_tokenizer("cl100k_base").fingerprint,
        load_tokenizer("o200k_base").fingerprint,
    )
    assert counts_for(cl100k) is counts_for(cl100k)
    assert counts_for(cl100k) is not counts_for(o200k)

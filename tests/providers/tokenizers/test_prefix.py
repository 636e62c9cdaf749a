"""The longest prefix that fits, against trying every prefix."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foveate.providers.tokenizers.openai import Toktok
from foveate.providers.tokenizers.simple import longest_prefix


@given(text=st.text(max_size=200), n=st.integers(0, 50), width=st.integers(1, 9))
def test_longest_of_an_even_count(text: str, n: int, width: int):
    """Where a count grows with the text, the prefix is the longest one that fits."""

    def count(part: str) -> int:
        return -(-len(part.encode()) // width)

    fitting = [i for i in range(len(text) + 1) if count(text[:i]) <= n]
    assert longest_prefix(text, n, count) == text[: fitting[-1] if n else 0]


@given(text=st.text(max_size=120), n=st.integers(1, 30))
def test_one_character_more_is_too_much(text: str, n: int):
    """With a real vocabulary the prefix fits, and the next character does not."""
    count = Toktok(name="cl100k_base").count
    prefix = longest_prefix(text, n, count)
    assert text.startswith(prefix)
    assert count(prefix) <= n
    assert prefix == text or count(text[: len(prefix) + 1]) > n


def test_work_does_not_grow_with_the_text():
    """Cutting a megabyte to 100 tokens reads some kilobytes, in some ten counts."""
    read: list[int] = []
    count = Toktok(name="cl100k_base").count

    def counted(part: str) -> int:
        read.append(len(part))
        return count(part)

    longest_prefix("some words in a row, " * 50_000, 100, counted)
    assert len(read) <= 20
    assert sum(read) <= 20 * 800

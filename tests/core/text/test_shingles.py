"""Runs of three words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.text.words import shingles, word_runs

WORDS = st.lists(st.sampled_from("abc"), max_size=14).map(tuple)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("a", (("a",),)),
        ("a b", (("a", "b"),)),
        ("a b c", (("a", "b", "c"),)),
        ("a a a a a", (("a", "a", "a"),)),
        ("a b c a b c", (("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b"))),
    ],
)
def test_shingles(text, expected):
    """S4: distinct, in reading order; a shorter text is one run of its own."""
    assert shingles(text.split()) == expected


@given(words=WORDS)
def test_runs_follow_one_another(words):
    """S4: a run starts at every word that has two more behind it; repeats are kept."""
    longer = [words[n : n + 3] for n in range(len(words) - 2)]

    assert word_runs(words) == ([words] if 0 < len(words) < 3 else longer)
    assert set(shingles(words)) == set(word_runs(words))

"""Runs of three words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foveate.core.text.words import word_runs

WORDS = st.lists(st.sampled_from("abc"), max_size=14).map(tuple)


@given(words=WORDS)
def test_runs_follow_one_another(words):
    """S4: a run starts at every word that has two more behind it; repeats are kept.

    A shorter text is one run of its own.
    """
    longer = [words[n : n + 3] for n in range(len(words) - 2)]

    assert word_runs(words) == ([words] if 0 < len(words) < 3 else longer)

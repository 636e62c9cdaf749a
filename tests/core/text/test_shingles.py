"""Runs of three words, and the stretch that holds some of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.text.shingles import shingles, stretch

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


@given(words=WORDS, other=WORDS)
def test_the_stretch_is_the_shortest(words, other):
    """S4: of all stretches the shortest that holds what the two share, the first of equals."""
    wanted = set(shingles(other))
    shared = wanted & set(shingles(words))
    spans = [(a, b) for a in range(len(words) + 1) for b in range(a, len(words) + 1)]
    fits = [
        (b - a, a, b)
        for a, b in spans
        if shared <= set(shingles(words[a:b])) and (len(words) < 3 or b - a > 2)
    ]
    expected = min(fits)[1:] if shared else (0, 0)

    assert stretch(words, wanted) == expected

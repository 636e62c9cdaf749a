"""Cuts fall between what a reader sees as characters, and between words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.text.graphemes import (
    last_grapheme_boundary,
    last_word_boundary,
    next_grapheme_boundary,
)

# Each is one cluster by UAX #29, and none joins the next whatever the order.
CLUSTERS = [
    "a",
    "7",
    " ",
    "-",
    "\r\n",
    "\n",
    "e\u0301",
    "o\u0308\u0323",
    "你",
    "か\u3099",
    "각",
    "각",
    "عّ",
    "क्षि",
    "ত্র",
    "👍🏽",
    "👩\u200d👩\u200d👧",
    "🏴\U000e0067\U000e0062\U000e007f",
    "1\ufe0f\u20e3",
    "☺️",
    "กำ",
]
FLAG = "🇧🇪"


@st.composite
def cluster_lists(draw: st.DrawFn) -> list[str]:
    """Clusters in a row, flags apart from one another, Indic and jamo not joining."""
    return draw(st.lists(st.sampled_from([*CLUSTERS, FLAG]), max_size=12))


def _bounds(clusters: list[str]) -> list[int]:
    bounds = [0]
    for cluster in clusters:
        bounds.append(bounds[-1] + len(cluster))
    return bounds


@given(clusters=cluster_lists(), data=st.data())
def test_largest_boundary_at_or_before(clusters: list[str], data: st.DataObject) -> None:
    """S9: a cut is the largest cluster boundary that is not after the index."""
    text = "".join(clusters)
    index = data.draw(st.integers(0, len(text)))
    assert last_grapheme_boundary(text, index) == max(b for b in _bounds(clusters) if b <= index)


@given(clusters=cluster_lists(), data=st.data())
def test_smallest_boundary_at_or_after(clusters: list[str], data: st.DataObject) -> None:
    """The next cut is the smallest cluster boundary that is not before the index."""
    text = "".join(clusters)
    index = data.draw(st.integers(0, len(text)))
    expected = min(b for b in _bounds(clusters) if b >= index)
    assert next_grapheme_boundary(text, index, 0, len(text)) == expected


@given(text=st.text(max_size=60), index=st.integers(0, 80), floor=st.integers(0, 60))
def test_cuts_stay_in_their_range(text: str, index: int, floor: int) -> None:
    """Whatever the text, a cut lies from the floor to the index and within the text."""
    low = min(floor, index, len(text))
    for cut in (last_grapheme_boundary(text, index, low), last_word_boundary(text, index, low)):
        assert low <= cut <= min(index, len(text))


@given(text=st.text(max_size=60), index=st.integers(0, 60))
def test_word_cut_is_a_safe_cut(text: str, index: int) -> None:
    """A place between words is also a place between characters."""
    cut = last_word_boundary(text, index)
    assert last_grapheme_boundary(text, cut) == cut


@pytest.mark.parametrize(
    ("text", "index", "expected"),
    [
        ("one two", 5, 4),
        ("one two", 3, 3),
        ("one two", 7, 7),
        ("don't go", 4, 0),
        ("pi is 3.14 or", 8, 6),
        ("a snake_case b", 8, 2),
        ("你好世界", 2, 2),
        ("ไทยดี", 3, 3),
        ("안녕 하세요", 5, 3),
        ("cafe\u0301 au", 4, 0),
        ("word", 2, 0),
        ("it costs 40%, or", 11, 9),
        ("it costs -40€ now", 10, 9),
        ("costs 8.458,50 now", 12, 6),
    ],
)
def test_words_stay_whole(text: str, index: int, expected: int) -> None:
    """S9: never mid-word where words have spaces; between any characters where they have none."""
    assert last_word_boundary(text, index) == expected


def test_a_run_that_is_no_word_is_cut() -> None:
    """What goes on for hundreds of characters is cut where asked, not thrown away."""
    assert last_word_boundary("x" * 1_000, 700) == 700


@pytest.mark.parametrize("unit", ["\u0301", "🇧", "\u200d", "क्", "ᄀ"])
def test_the_floor_bounds_the_walk(unit: str) -> None:
    """A cluster without end is left at the floor, not walked to its start."""
    text = unit * 500_000
    assert 400_000 <= last_grapheme_boundary(text, 400_031, 400_000) <= 400_031

"""The tail that is a head: against brute force, and with the work counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages import stitch as module
from foveate.core.stages.stitch import is_consistent_at, overlap
from work_done import lines_run

few_letters = st.text(alphabet="ab", max_size=60)


def by_definition(left: str, right: str, more_than: int) -> int:
    """The longest tail that is a head, tried one by one."""
    longest = min(len(left), len(right))
    lengths = range(longest, more_than, -1)
    return next((n for n in lengths if left[len(left) - n :] == right[:n]), 0)


@given(few_letters, few_letters, st.integers(0, 25))
def test_it_is_the_longest_tail_that_is_a_head(left, right, more_than):
    """S6: the repeat found is the one that trying every length finds."""
    assert overlap(left, right, more_than=more_than) == by_definition(left, right, more_than)


@given(few_letters, st.text(alphabet="aé文🙂", max_size=40), few_letters, st.integers(0, 25))
def test_a_shared_middle_is_found_in_any_script(left, middle, right, more_than):
    """S6: whatever the letters, the result is what the definition says, never less."""
    left, right = left + middle, middle + right
    assert overlap(left, right, more_than=more_than) == by_definition(left, right, more_than)


@pytest.mark.parametrize(
    ("left", "right", "more_than", "length"),
    [
        ("", "", 0, 0),
        ("abc", "", 0, 0),
        ("abc", "abc", 0, 3),
        ("abc", "abc", 2, 3),
        ("abc", "abc", 3, 0),
        ("xyz", "abc", 0, 0),
        ("one two three", "two three four", 0, 9),
        ("x" + "a" * 40, "a" * 80, 20, 40),
        ("a" * 100_000, "a" * 100_000, 20, 100_000),
        ("a" * 50_000 + "b" + "a" * 50_000, "a" * 100_001, 20, 50_000),
        ("ab" * 50_000 + "c", "ab" * 50_000, 20, 0),
    ],
)
def test_examples(left, right, more_than, length):
    """S6: nothing, everything, just over the bound, and endless repeats."""
    assert overlap(left, right, more_than=more_than) == length


def lines_of(left: str, right: str) -> int:
    """How many lines of the module's own code one call runs."""
    return lines_run(module.__file__, lambda: overlap(left, right, more_than=20))


def test_the_work_grows_with_the_length_and_no_faster():
    """S6: on repeats that defeat every guess, twice the text is at most about twice the work."""
    small, large = (lines_of("a" * n + "b" + "a" * n, "a" * (2 * n + 1)) for n in (1_000, 2_000))
    assert small > 1_000
    assert large <= 2.1 * small


@pytest.mark.parametrize(
    ("left", "right", "at", "same"),
    [
        ("the bird sings", "bird", 4, True),
        ("the bird sings", "bird sings loud", 4, True),
        ("the bird sings", "third", 4, False),
        ("abc", "xyz", 3, True),
        ("abc", "", 1, True),
        ("abc", "c", 4, False),
        ("abc", "abc", -1, False),
    ],
)
def test_laid_on_each_other(left, right, at, same):
    """Two texts agree where both speak: inside, over the end, just after, never out of reach."""
    assert is_consistent_at(left, right, at) is same

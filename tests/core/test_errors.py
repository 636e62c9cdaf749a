"""Errors and what they say."""

from __future__ import annotations

from foveate.core.errors import MAX_COMPARED_LENGTH, UnknownName


def test_a_name_is_compared_with_those_there_are():
    """X1: the near miss is named."""
    assert "did you mean 'budget'?" in str(UnknownName("field", "budgett", ["budget", "query"]))


def test_a_near_miss_is_never_the_name_that_was_given():
    """X1: where a name is known and still cannot be used here."""
    for known in (["mistral"], ["mistral", "mistral:7b"], ["mistral:7b", "llama"]):
        said = str(UnknownName("model", "mistral", known))
        assert "mean 'mistral'?" not in said
        assert "known: mistral;" not in said


def test_what_is_too_long_for_a_name_is_not_compared():
    """X2: however near; of a name of megabytes that would take seconds."""
    near = "b" * MAX_COMPARED_LENGTH
    said = str(UnknownName("field", near, [near[1:], "query"]))

    assert "did you mean" not in said
    assert near in said

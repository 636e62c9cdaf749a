"""Arguments against schemas: what is advertised is what is enforced."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from foveate.service.mcp.arguments import MOST, checked
from foveate.service.mcp.bounds import Bounds
from foveate.service.mcp.failures import LONGEST, Refused, short
from foveate.service.mcp.tools import tools

TOOLS = tools(Bounds(), ["default", "tight"], ["xml"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
FIELDS = (
    "query",
    "budget",
    "recipe",
    "format",
    "where",
    "limit",
    "candidates",
    "answer",
    "context",
)


def test_the_schemas_are_schemas():
    """F4: every schema of every tool is one, of an object that takes no more than it says."""
    for tool in TOOLS:
        for schema in (tool.takes, tool.gives):
            Draft202012Validator.check_schema(schema)
            assert (schema["type"], schema["additionalProperties"]) == ("object", False)


@given(st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), ANYTHING, max_size=5))
def test_whatever_comes_is_taken_or_refused_in_one_line(arguments):
    """X2, F4: arguments of any shape; a refusal is short, and says where."""
    for tool in TOOLS:
        try:
            found = checked(arguments, tool.takes)
        except Refused as refused:
            told = str(refused)
            assert len(short(told)) <= LONGEST + 3
            assert told
        else:
            assert found.keys() == arguments.keys()


@pytest.mark.parametrize("place", ["query", "where", "key"])
def test_half_of_a_surrogate_pair(place):
    """I3, F4: text that is not Unicode is refused with its place."""
    where = {"key": {"a\udc00": 1}, "where": {"a": ["\udc00"]}}.get(place, {})
    arguments = {"query": "a\ud800" if place == "query" else "a", "where": where}

    with pytest.raises(Refused, match="half of a surrogate pair"):
        checked(arguments, TOOLS[0].takes)


def test_a_whole_number_may_be_written_with_a_point():
    """F4: JSON knows one kind of number."""
    found = checked({"query": "a", "budget": 20.0, "limit": 5}, TOOLS[0].takes)

    assert [type(found["budget"]), found["budget"], found["limit"]] == [int, 20, 5]
    with pytest.raises(Refused, match="budget: must be integer"):
        checked({"query": "a", "budget": 20.5}, TOOLS[0].takes)


def test_a_long_name_does_not_make_a_long_message():
    """X2: what is wrong is named, and cut where it is a megabyte."""
    with pytest.raises(Refused) as found:
        checked({"query": "a", "x" * 1_000_000: 1, "recipe": "y"}, TOOLS[0].takes)

    assert len(str(found.value)) < LONGEST


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "a", "where": {f"k{number}": None for number in range(MOST + 1)}},
        {"query": "a", "candidates": [{"text": None}] * MOST},
        {"query": "a", "context": {"a": [[[]] * MOST]}},
    ],
)
def test_very_many_values_are_refused_before_they_are_looked_at(arguments):
    """X2, F4: what no schema allows is not held to one value by value."""
    for tool in TOOLS:
        with pytest.raises(Refused, match="more than 10,000 values; give fewer"):
            checked(arguments, tool.takes)

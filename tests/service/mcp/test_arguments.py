"""Arguments against schemas: what is advertised is what is enforced."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from foveate.service.mcp.server import MAX_MESSAGE_LENGTH, read_arguments, schema_of
from foveate.service.mcp.tool import Tool, ToolCallError, ToolLimits
from foveate.service.mcp.tools import build_tools

TOOLS = build_tools(ToolLimits(), ["default", "tight"], ["xml"])
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


def read(tool: type[Tool], arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments as the tool has them."""
    return read_arguments(tool, arguments).model_dump(exclude_unset=True)


def exact(value: Any) -> str:
    """The value, 3 and 3.0 apart, whatever the order of its keys."""
    return json.dumps(value, sort_keys=True)


def test_the_schemas_are_schemas():
    """F4: every schema of every tool is one, of an object that takes no more than it says."""
    for tool in TOOLS:
        for schema in (schema_of(tool), schema_of(tool.output)):
            Draft202012Validator.check_schema(schema)
            assert (schema["type"], schema["additionalProperties"]) == ("object", False)


@given(st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), ANYTHING, max_size=5))
def test_whatever_comes_is_taken_or_refused_in_one_line(arguments):
    """X2, F4: arguments of any shape; a refusal is short, and says where."""
    for tool in TOOLS:
        try:
            found = read(tool, arguments)
        except ToolCallError as refused:
            told = str(refused)
            assert len(told) <= MAX_MESSAGE_LENGTH + 3
            assert told
        else:
            assert found.keys() == arguments.keys()


FILTERS = (
    {"budget": 2.7, "page": 3.0, "limit": True, "sequence": "A-12"},
    {"budget": ["2.7", 2.7, 2.0], "page": [], "limit": "none", "sequence": False},
)


@pytest.mark.parametrize("where", FILTERS)
def test_filters_stay_as_they_were_sent(where):
    """F4: a filter that has the name of an argument keeps its value and its type."""
    asked = {"query": "a", "where": where}

    for tool in TOOLS[:2]:
        found = read(tool, asked)["where"]
        assert (found, exact(found)) == (where, exact(where))
    handed_on = {"answer": "a", "context": {**asked, "hash": "h"}}
    assert exact(read(TOOLS[2], handed_on)) == exact(handed_on)


def test_whole_numbers_are_read_wherever_the_schema_names_them():
    """F4: a number with a point is an integer inside candidates and in a context handed on."""
    rows = [{"text": "a", "page": 3.0, "sequence": 1.0, "score": 2.0}]
    asked = {"query": "a", "budget": 20.0, "where": {"year": 2024.0}}

    found = read(TOOLS[0], {**asked, "candidates": rows})
    assert exact(found["candidates"]) == exact(
        [{"text": "a", "page": 3, "sequence": 1, "score": 2.0}]
    )
    checking = {"answer": "a", "context": {**asked, "hash": "h"}, "candidates": rows}
    found = read(TOOLS[2], checking)
    assert exact(found["context"]) == exact({**asked, "budget": 20, "hash": "h"})
    assert exact(found["candidates"][0]["page"]) == "3"
    with pytest.raises(ToolCallError, match="budget: must be a valid integer"):
        read(TOOLS[0], {"query": "a", "budget": 20.5})


def test_a_long_name_does_not_make_a_long_message():
    """X2: what is wrong is named, and cut where it is a megabyte."""
    with pytest.raises(ToolCallError) as found:
        read(TOOLS[0], {"query": "a", "x" * 1_000_000: 1, "recipe": "y"})

    assert len(str(found.value)) < MAX_MESSAGE_LENGTH

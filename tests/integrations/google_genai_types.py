"""Gemini contents, held against google-genai's own request types. Run by `make matrix`."""

from __future__ import annotations

import json

import pytest
from google.genai.types import Content
from hypothesis import given
from hypothesis import strategies as st

from foveate import BudgetTooSmall, compact
from message_lists import PIXEL, sessions, spell


def check_contents(contents):
    """Each is a `Content` of the package, which refuses unknown keys, and reads as it was sent."""
    written = PIXEL.replace("+", "-").replace("/", "_")  # its own alphabet of base64
    for content in contents:
        read = Content.model_validate(content)
        found = read.model_dump(mode="json", by_alias=True, exclude_unset=True)
        assert found == json.loads(json.dumps(content).replace(PIXEL, written))


@given(steps=sessions, budget=st.integers(40, 600))
def test_a_fitted_list_is_a_request_of_its_provider(steps, budget):
    """A2: the package takes the list that came and the list that is sent, ledger included."""
    contents = spell(steps, "gemini")
    check_contents(contents)
    try:
        made = compact(contents, budget=budget, form="gemini")
    except BudgetTooSmall:
        return
    check_contents(made.messages)


def test_lists_as_the_package_writes_them_are_read():
    """A2: snake case, as `model_dump` gives it, counts and matches like the camel case of HTTP."""
    call = {"function_call": {"id": "c1", "name": "read", "args": {"page": 1}}}
    answer = {"id": "c1", "name": "read", "response": {"output": "pump_077 opens. " * 200}}
    contents = [
        Content(role="user", parts=[{"text": "Read pump_077."}]),
        Content(role="model", parts=[call]),
        Content(role="user", parts=[{"function_response": answer}]),
    ]
    made = compact([one.model_dump(exclude_none=True) for one in contents], budget=120)
    assert made.form == "gemini"
    assert made.token_count <= 120
    read = [Content.model_validate(content) for content in made.messages]
    assert read[:-1] == contents[:-1]
    shown = read[-1].parts[0].function_response
    assert (shown.id, shown.name) == ("c1", "read")
    assert "[shortened:" in shown.response["output"]


def test_the_package_refuses_what_it_does_not_know():
    """A2: so that the laws above can fail."""
    with pytest.raises(ValueError, match="Extra inputs"):
        check_contents([{"role": "user", "parts": [], "name": "x"}])

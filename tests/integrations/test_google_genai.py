"""Gemini contents, held against google-genai's own request types; lists: tests/core/compact."""

from __future__ import annotations

import pytest

from foveate import compact
from provider_types import check_request


def test_lists_as_the_package_writes_them_are_read():
    """A2: snake case, as `model_dump` gives it, counts and matches like the camel case of HTTP."""
    from google.genai.types import Content  # here, for it takes half a second of each process

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
        check_request("gemini list", [{"role": "user", "parts": [], "name": "x"}])

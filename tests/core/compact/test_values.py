"""A3: the values of a text that is JSON are values of what its strings say."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.compact.values import extract_values
from foveate.core.json_strings import unescape, unescape_with_places

SPOKEN = {
    "customer": "Müller-77",
    "order": "Zürich-8004",
    "zh": "张三-12",
    "emoji": "😀-5",
    "cells": "A-1\tB-2",
    "lines": "first C-3\nthen D-4",
    "path": "C:\\new\\t-5",
    "url": "https://x.example/straße/7",
}


def wrappings(value: object) -> dict[str, str]:
    """The value as tools write it."""
    text = json.dumps(value)
    return {
        "json": text,
        "json in json": json.dumps({"result": text}),
        "one string": json.dumps(text),
        "mcp": json.dumps([{"type": "text", "text": text}]),
    }


@pytest.mark.parametrize("name", wrappings(SPOKEN))
def test_values_are_those_of_the_text_without_its_escapes(name):
    """A3, A10: each value as it reads, at whatever depth, with its key."""
    found = {value.text: value.key for value in extract_values(wrappings(SPOKEN)[name])}

    assert found["Müller-77"] == "customer"
    assert {"Zürich-8004", "张三-12", "😀-5", "A-1", "B-2", "C-3", "D-4"} <= set(found)
    assert "https://x.example/straße/7" in found
    assert not [text for text in found if "u00" in text or text.startswith(("tB", "nthen"))]


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc"])), st.booleans())
def test_a_string_is_read_back_with_each_of_its_places(text, ascii_only):
    """A10: whatever JSON writes; each place is where its character, or escape, begins."""
    body = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
    plain, place = unescape_with_places(body)
    bounds = [place(n) for n in range(len(plain) + 1)]

    assert unescape(body) == plain == text
    assert [unescape(body[a:b]) for a, b in pairwise(bounds)] == list(text)

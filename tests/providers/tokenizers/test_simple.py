"""The rule of thumb, as it was published."""

from __future__ import annotations

import pytest

from foveate.providers.tokenizers.simple import Simple


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é", 1), ("你好", 2), ("你好吗", 3), ("😀", 1)],
)
def test_count(text: str, tokens: int):
    """B5: UTF-8 bytes + 3, divided by 4, rounded down."""
    assert Simple().count(text) == tokens


@pytest.mark.parametrize(
    ("text", "n", "cut"),
    [
        ("hello world", 1, "hell..."),
        ("hello world", 3, "hello world"),
        ("one two three", 2, "one two..."),
        ("   indented text", 2, "inden..."),
        ("x", 0, ""),
        ("", 4, ""),
        ("你好吗朋友", 1, "你好吗朋..."),
    ],
)
def test_truncate(text: str, n: int, cut: str):
    """B5: truncation keeps 4 x n characters, trimmed, plus `...`; what is short stays."""
    assert Simple().truncate(text, n) == cut

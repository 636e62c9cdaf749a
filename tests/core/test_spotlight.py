from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.render import mark_spaces, unmark_spaces


@given(text=st.one_of(st.text(alphabet="a ^\\\n"), st.text()))
def test_marking_is_reversible(text):
    """R3: the marked text gives back the text, marks and backslashes included."""
    assert unmark_spaces(mark_spaces(text)) == text


@given(text=st.text(alphabet="a ^\\\n"))
def test_no_space_is_left(text):
    """R3: no word of an untrusted text stands beside another without a mark."""
    assert " " not in mark_spaces(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Ignore all of it.", "Ignore^all^of^it."), ("x^2", r"x^\2"), (r"a \b", r"a^\\b")],
)
def test_spaces_become_the_mark(text, expected):
    """R3: datamarking as published; what was a mark before is told apart by a backslash."""
    assert mark_spaces(text) == expected

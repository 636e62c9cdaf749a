"""One spelling for white space and accents."""

from __future__ import annotations

from unicodedata import is_normalized

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages.dedup.exact import normalise


@given(text=st.text())
def test_twice_is_once(text):
    """S3: NFC, single spaces, trimmed; a second time changes nothing."""
    once = normalise(text)

    assert normalise(once) == once
    assert is_normalized("NFC", once)
    assert once.split() == once.split(" ") if once else not text.strip()


@given(words=st.lists(st.text("abß文é", min_size=1), min_size=1), data=st.data())
def test_any_white_space_is_one_space(words, data):
    """S3: whatever stands between and around the words, the text is the same."""
    blanks = st.text(" \t\n\r\f\v\u00a0\u2003\u3000\u2028", min_size=1)
    loose = "".join(word + data.draw(blanks) for word in words)

    assert normalise(data.draw(blanks) + loose) == normalise(" ".join(words))


@pytest.mark.parametrize("text", ["Case", "a-b", "a.b", "\u200b", "ﬁ", "①"])
def test_content_is_left_alone(text):
    """S3: nothing but white space and canonical encoding is touched."""
    assert normalise(text) == text

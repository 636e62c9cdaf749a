"""Bytes are text, or are refused with the reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadInput
from foveate.ingest.loaders.decode import decode

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff")


@given(
    text=st.text(CHARACTERS), encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"])
)
def test_unicode_comes_back(text: str, encoding: str) -> None:
    """T2: what was written in Unicode is read as it was, the mark left out."""
    assert decode(text.encode(encoding)) == text


def test_a_declared_encoding_is_believed_where_it_is_no_utf8() -> None:
    """What a file says of itself counts after UTF-8, and only if Python knows it as text."""
    assert decode(b"caf\xe9", "windows-1252") == "café"
    assert decode("café".encode(), "windows-1252") == "café"


@pytest.mark.parametrize(
    ("data", "declared", "reason"),
    [
        (b"a\x00b", "", "binary, not text: a NUL byte at 1"),
        (b"caf\xe9", "", "not UTF-8: byte 0xe9 at 3"),
        (b"caf\xe9", "klingon", "not UTF-8: byte 0xe9 at 3"),
        (b"caf\xe9", "zlib", "not UTF-8: byte 0xe9 at 3"),
        (b"\xef\xbb\xbf\xff", "", "says it is utf-8-sig"),
        (b"\xff\xfea\x00\x00\xd8", "", "says it is utf-16"),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, declared: str, reason: str) -> None:
    """X2: binary data and wrong encodings get an error that says what and where."""
    with pytest.raises(BadInput, match=reason):
        decode(data, declared)

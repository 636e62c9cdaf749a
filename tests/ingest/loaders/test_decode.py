"""Bytes are text, or are refused with the reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadInput, UnknownName
from foveate.ingest.loaders.decode import check_encoding, declared_encoding, decode, to_utf8

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
        (b"caf\xe9", "punycode", "not UTF-8: byte 0xe9 at 3"),
        (b"\xef\xbb\xbf\xff", "", "not utf-8-sig, which its mark"),
        (b"\xff\xfea\x00\x00\xd8", "", "not utf-16, which its mark"),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, declared: str, reason: str) -> None:
    """X2: binary data and wrong encodings get an error that says what and where."""
    with pytest.raises(BadInput, match=reason):
        decode(data, declared)


SENTENCE = "Über Mängel, à la carte: the valve opens at 3 bar.\r\n"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_unicode_without_a_mark_is_read_where_it_is_named(encoding: str) -> None:
    """X2: nothing else says the order of its bytes."""
    data = SENTENCE.encode(encoding)
    with pytest.raises(BadInput, match="binary, not text: a NUL byte"):
        to_utf8(data)
    assert to_utf8(data, named=encoding) == (SENTENCE.encode(), encoding)


def test_western_text_is_read_as_windows_1252_and_named() -> None:
    """T2: what is neither UTF-8 nor anything else, and looks western, is named as assumed."""
    assert to_utf8(SENTENCE.encode("cp1252")) == (SENTENCE.encode(), "windows-1252")
    assert to_utf8(SENTENCE.encode()) == (SENTENCE.encode(), "")


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "shift_jis", "gb18030", "cp1253"])
def test_other_scripts_are_not_taken_for_western(encoding: str) -> None:
    """X2: a text whose letters are mostly beyond ASCII is refused until its encoding is named."""
    text = {"shift_jis": "圧力弁", "gb18030": "压力阀", "cp1253": "βαλβίδα"}.get(encoding, "клапан")
    data = f"{text} 3".encode(encoding)

    with pytest.raises(BadInput, match="--encoding"):
        to_utf8(data)
    assert to_utf8(data, named=encoding)[0] == f"{text} 3".encode()


def test_what_a_file_declares_goes_before_what_is_named() -> None:
    """T2: UTF-8 comes first, then the declaration, then the name; seven bits need the name."""
    page = "<meta charset='windows-1251'><p>клапан".encode("cp1251")
    declared = declared_encoding(page)

    assert to_utf8(page, declared, "latin-1")[1] == "cp1251"
    assert declared_encoding(b'<?xml version="1.0" encoding="koi8-r"?><a/>') == "koi8-r"
    assert to_utf8("é".encode(), named="latin-1") == ("é".encode(), "")
    assert to_utf8("弁".encode("iso2022_jp"), named="iso2022_jp") == ("弁".encode(), "iso2022_jp")


@pytest.mark.parametrize(
    "data", [b"\0\1\2\3" * 9, b"a\0" * 9 + b"\1\0", b"\x81\x8d caf\xe9", b"ab\x07\xe9c"]
)
def test_binary_data_is_not_guessed(data: bytes) -> None:
    """X2: control characters and undefined bytes are no text."""
    with pytest.raises(BadInput):
        to_utf8(data)


@pytest.mark.parametrize(
    "name", ["klingon", "zlib", "\0", "windows-9999", "punycode", "unicode_escape", "utf-16"]
)
def test_an_unknown_encoding_is_refused_with_a_near_one(name: str) -> None:
    """X2: the error names what Python knows."""
    with pytest.raises(UnknownName, match="unknown encoding"):
        check_encoding(name)

"""Rich Text: characters of every spelling, headings, tables; what is not shown is not read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import read
from foveate.core.errors import BadInput

PIECES = st.sampled_from(
    [
        *(b"{", b"}", b"\\", b"\\'e9", b"\\'", b"\\u233?", b"\\u-10179?", b"\\par ", b"\\row"),
        *(b"\\cell ", b"\\bin9", b"\\bin-9", b"\\*", b"\\uc99", b"a", b" ", b"\r\n"),
        *(b"\\ansicpg932", b"\\intbl", b"\x00"),
    ]
)


def _text(body: bytes) -> str:
    return read("a.rtf", b"{\\rtf1\\ansi" + body + b"}").text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb" caf\'e9 \{1\} a\~b", "café {1} a\u00a0b"),
        (rb"\ansicpg1251 \'ea\'eb", "кл"),
        (rb"\ansicpg932 \'88\'b3", "圧"),
        (rb" \u8364?3", "€3"),
        (rb"{\uc2 \u8364\'80\'803}", "€3"),
        (rb" \u-10179?\u-8704?", "\U0001f600"),
        (rb" \ldblquote a\rdblquote\tab b\line c", "“a”\tb\nc"),
        (rb"{\*\generator no}{\header no}{\v no}{\pict\bin4 }}}}yes}{\b yes}", "yes"),
        (rb'{\field{\*\fldinst HYPERLINK "no"}{\fldrslt yes}}', "yes"),
        (b" one\\par\r\n two\\\r\nthree", "one\n\ntwo\n\nthree"),
    ],
)
def test_what_is_shown_is_read(body: bytes, text: str) -> None:
    """T2: code pages, Unicode with its fallback, signs; pictures and hidden text are left out."""
    assert _text(body) == text


def test_headings_tables_and_properties() -> None:
    """T2: an outline level makes a heading, a row of cells a row."""
    body = (
        rb"{\rtf1\ansi{\info{\title The boiler}{\author Anna}}\pard\outlinelevel0 Pressure\par"
        rb"\pard\plain Low.\par\trowd\intbl a\par b\cell c\cell\row\pard End.}"
    )
    loaded = read("a.rtf", body)

    assert loaded.text == "# Pressure\n\nLow.\n\n| a b | c |\n\nEnd."
    assert [section.path for section in loaded.sections] == ["Pressure"]
    assert (loaded.title, loaded.metadata) == ("The boiler", {"author": "Anna"})


@given(st.lists(PIECES, max_size=60))
def test_any_words_are_read_or_refused(pieces: list[bytes]) -> None:
    """X2: nothing but `BadInput` is raised, whatever the words."""
    data = b"{\\rtf1" + b"".join(pieces) + b"}"
    said = ""
    try:
        said = read("a.rtf", data).text
    except BadInput as error:
        said = str(error)
    assert isinstance(said, str)

"""Plain text: underlined titles are sections, a hash is a hash."""

from __future__ import annotations

from documents import read


def test_underlines_rank_by_first_use() -> None:
    """T2: as in reStructuredText, the first underline met is the highest level."""
    text = "Top\n****\n\nsub\n=====\nx\n\nother\n=====\n\nLast\n****"
    loaded = read("a.rst", text)
    assert [s.path for s in loaded.sections] == ["Top", "Top > sub", "Top > other", "Last"]
    assert loaded.title == "Top"


def test_a_hash_is_no_title_and_the_name_is() -> None:
    """A line with a hash is a comment in plain text; a file without a title has its name."""
    loaded = read("etc/server.txt", "# set the port\nport = 1")
    assert loaded.sections == ()
    assert loaded.title == "server"
    assert loaded.lines


def test_line_ends_stay() -> None:
    """T2: the text is the file's, so that offsets are."""
    assert read("a.txt", b"\xef\xbb\xbfa\r\nb\rc").text == "a\r\nb\rc"

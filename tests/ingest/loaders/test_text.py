"""Plain text: underlined titles are sections, a hash is a hash."""

from __future__ import annotations

from pathlib import Path

from foveate.ingest.loaders.text import load_text


def test_underlines_rank_by_first_use() -> None:
    """T2: as in reStructuredText, the first underline met is the highest level."""
    text = "Top\n****\n\nsub\n=====\nx\n\nother\n=====\n\nLast\n****"
    loaded = load_text(text.encode(), Path("a.rst"))[0]
    assert [s.path for s in loaded.sections] == ["Top", "Top > sub", "Top > other", "Last"]
    assert loaded.title == "Top"


def test_a_hash_is_no_title_and_the_name_is() -> None:
    """A line with a hash is a comment in plain text; a file without a title has its name."""
    loaded = load_text(b"# set the port\nport = 1", Path("etc/server.txt"))[0]
    assert loaded.sections == ()
    assert loaded.title == "server"
    assert loaded.lines


def test_line_ends_stay() -> None:
    """T2: the text is the file's, so that offsets are."""
    assert load_text(b"\xef\xbb\xbfa\r\nb\rc", Path("a.txt"))[0].text == "a\r\nb\rc"

"""Markdown: offsets are the file's, headings give paths, front matter gives facts."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import read
from foveate.core.errors import BadInput

LINES = st.sampled_from(
    [
        *("# A", "## B", "### C #", "text", "", "Title", "=====", "-----", "```"),
        *("    # code", "- # item"),
    ]
)


@given(lines=st.lists(LINES, max_size=20))
def test_the_source_is_the_text_and_sections_tile(lines: list[str]) -> None:
    """T2: the text is the source; sections are in order, touch, and end with it."""
    text = "\n".join(lines)
    loaded = read("notes.md", text)
    assert loaded.text == text
    edges = [(section.start, section.end) for section in loaded.sections]
    assert all(before[1] == after[0] for before, after in pairwise(edges))
    assert not edges or edges[-1][1] == len(text)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("no heading", []),
        ("# A\n## B\n### C\n## D\n# E", ["A", "A > B", "A > B > C", "A > D", "E"]),
        ("### C\n# A", ["C", "A"]),
        ("A\n=\n", []),
        ("A\n==\nB\n--\nC\n--", ["A", "A > B", "A > C"]),
        ("# A\n```\n# no\n```\n~~~\n## no\n~~~\n## B", ["A", "A > B"]),
        ("# The `x` [link](http://a.b) **bold** {#id}", ["The x link bold"]),
        ("## Closed ##", ["Closed"]),
        ("# A { #a }\n## B {: .x #b }", ["A", "A > B"]),
        ("#\n## ", []),
        ("#hashtag", []),
        ("# " + "x" * 500, ["x" * 200]),
    ],
)
def test_heading_paths(text: str, paths: list[str]) -> None:
    """T2: sections carry the path of headings above them, code left out."""
    assert [section.path for section in read("notes.md", text).sections] == paths


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# First\n# Second", "First"),
        ("## Only two", "notes"),
        ("text", "notes"),
        ('---\ntitle: "Of tea"\n---\n# First', "Of tea"),
    ],
)
def test_title(text: str, title: str) -> None:
    """The title is the front matter's, else the first heading 1, else the file's name."""
    assert read("notes.md", text).title == title


def test_front_matter_is_told_and_set_apart() -> None:
    """T2: pairs become metadata, date and description fields; the offsets stay the file's."""
    text = (
        "---\ntitle: Tea\ndate: 2026-03-01\ndescription: 'On water'\ntags: [a, b]\nx:\n- y\n---\nHi"
    )
    loaded = read("notes.md", text)
    assert loaded.text == text
    assert loaded.modified_at == datetime(2026, 3, 1)  # noqa: DTZ001 - as the document says it
    assert loaded.summary == "On water"
    assert dict(loaded.metadata) == {
        "date": "2026-03-01",
        "description": "On water",
        "tags": ["a", "b"],
        "x": ["y"],
    }
    assert text[loaded.front :] == "\nHi"
    assert loaded.principals == ()


@pytest.mark.parametrize(
    "said",
    ["principals: [staff, boss]", "Principals:\n- staff\n- boss", "'principals': ['staff', boss]"],
)
def test_front_matter_says_who_may_read(said):
    """I4, T2, X5: as JSON Lines do; the names are no metadata."""
    loaded = read("notes.md", f"---\ntitle: Tea\n{said}\n---\nThe vault is blue.")
    assert loaded.principals == ("staff", "boss")
    assert dict(loaded.metadata) == {}


@pytest.mark.parametrize(
    "said",
    [
        "principals: boss",
        "principals: {a: 1}",
        "principals: [a, [b]]",
        "principals: >\n  boss",
        "? a form\nprincipals: [boss]",
        "a b c\nPRINCIPALS: [boss]",
    ],
)
def test_readers_that_cannot_be_read_are_refused(said):
    """X2, X5: else everybody could read the document."""
    with pytest.raises(BadInput, match="as a list"):
        read("notes.md", f"---\ntitle: Tea\n{said}\n---\nThe vault is blue.")
    assert read("notes.md", f"The word\n{said}\nin a text.").principals == ()

"""Blocks: what ends a paragraph, and that nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.text import blocks
from foveate.core.text.blocks import block_spans, front_matter, line_spans, trim_span

LINES = st.lists(
    st.sampled_from(
        [
            "",
            "  ",
            "Some words.",
            "# Head",
            "Title",
            "=====",
            "-----",
            "~~~~~",
            "- item",
            "2. two",
            "1. one",
            "    indented",
            "```",
            "```py",
            "~~~",
            "| a | b |",
            "|---|---|",
            "a | b",
            "--- | ---",
            "> quote",
            "你好。",
            "\t",
            "---",
            "key: value",
            "+--+--+",
        ]
    ),
    max_size=25,
)


def _kinds(text: str) -> list[tuple[str, str]]:
    return [(text[start:end], kind) for (start, end), kind in block_spans(text)]


@given(lines=LINES, end=st.sampled_from(["\n", "\r\n", "\r", "\u2028"]))
def test_blocks_hold_every_character_once(lines: list[str], end: str) -> None:
    """Blocks are ordered, trimmed and apart, and between them there is white space only."""
    text = end.join(lines)
    last = 0
    for (start, stop), _ in block_spans(text):
        assert not text[last:start].strip()
        assert text[start:stop] == text[start:stop].strip()
        assert start < stop
        last = stop
    assert not text[last:].strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\n", []),
        ("a\nb\n\nc", [("a\nb", "paragraph"), ("c", "paragraph")]),
        ("# H\ntext", [("# H", "heading"), ("text", "paragraph")]),
        ("#tag is text", [("#tag is text", "paragraph")]),
        ("Head\n====\ntext", [("Head\n====", "heading"), ("text", "paragraph")]),
        ("Head\n~~~~\ntext", [("Head\n~~~~", "heading"), ("text", "paragraph")]),
        ("One\n***\ntext", [("One", "paragraph"), ("***", "paragraph"), ("text", "paragraph")]),
        ("a\n\n---\n\nb", [("a", "paragraph"), ("---", "paragraph"), ("b", "paragraph")]),
        ("- a\n  b\n- c", [("- a\n  b", "list"), ("- c", "list")]),
        ("- a\n\n    more", [("- a", "list"), ("more", "list")]),
        ("then\n1986. A year", [("then\n1986. A year", "paragraph")]),
        ("then\n1. A step", [("then", "paragraph"), ("1. A step", "list")]),
        ("x\n\n    y\n    z", [("x", "paragraph"), ("y\n    z", "code")]),
        ("```\n# no\n\n- no\n```\nx", [("```\n# no\n\n- no\n```", "code"), ("x", "paragraph")]),
        ("````\n```\n````", [("````\n```\n````", "code")]),
        ("```\nnever closed", [("```\nnever closed", "code")]),
        ("| a |\n|---|\n| b |\nx", [("| a |\n|---|\n| b |", "table"), ("x", "paragraph")]),
        ("a | b\n--- | ---\nc | d", [("a | b\n--- | ---\nc | d", "table")]),
        ("---\ntitle: x\n---\ny", [("---\ntitle: x\n---", "code"), ("y", "paragraph")]),
    ],
)
def test_kinds(text: str, expected: list[tuple[str, str]]) -> None:
    """Each convention of Markdown and plain text is read as its block."""
    assert _kinds(text) == expected


@given(lines=LINES, end=st.sampled_from(["\n", "\r\n", "\n\n", "\u2028"]))
def test_lines_read_together_are_read_as_line_by_line(lines: list[str], end: str) -> None:
    """U4: lines of plain text that are taken at once make the blocks that each line makes alone."""
    text = end.join(lines)
    front = front_matter(text)
    found = [blocks._Block("code", 0, front)] if front else []
    current = None
    for start, stop in line_spans(text, front):
        current = blocks._add_line(text, start, stop, found, current)

    assert block_spans(text) == [(trim_span(text, b.start, b.end), b.kind) for b in found]

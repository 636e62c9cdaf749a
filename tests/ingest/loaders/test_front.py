"""Front matter: what people write is read, what is none stays text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.ingest.loaders.front_matter import parse_front_matter


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("k: plain words # a comment", "plain words"),
        ("k: http://host/#place", "http://host/#place"),
        ('k: "one: \\"two\\" # three"', 'one: "two" # three'),
        ("k: 'it''s'", "it's"),
        ("k: [a, 'b, c', \"d\"]", ["a", "b, c", "d"]),
        ("k: [\n  a,\n  b\n]", ["a", "b"]),
        ("k:\n- a\n- b # why", ["a", "b"]),
        ("k:\n  - a\n\n  # why\n  - b", ["a", "b"]),
        ("k: one\n  two", "one two"),
        ("k: >\n  one\n  two\n\n  three", "one two\nthree"),
        ("k: |\n  one\n    two", "one\n  two"),
        ("k:\n  - name: Ada\n    role: author", "- name: Ada\n  role: author"),
        ("k: [a, [b]]", "[a, [b]]"),
        ("k: {a: 1}", "{a: 1}"),
        ('"k": quoted', "quoted"),
        ("K: small", "small"),
    ],
)
def test_forms(said: str, value: object) -> None:
    """T2: texts, lists and blocks as they are written; what is nested stays as it stands."""
    text = f"---\ntitle: T\n{said}\n---\nBody"
    front = parse_front_matter(text)
    assert front.values == {"title": "T", "k": value}
    assert text[front.end :] == "\nBody"


@pytest.mark.parametrize("said", ["k:", "k: ~", "k: null # none", "# k: 1", ""])
def test_nothing_is_no_value(said: str) -> None:
    """T2: a key without a value, a comment and an empty line say nothing."""
    assert parse_front_matter(f"---\ntitle: T\n{said}\n---\n").values == {"title": "T"}


@pytest.mark.parametrize(
    "text",
    [
        "Body",
        "---\nBody: it goes on\n\nand on.\n---\n",
        "---\ntitle: T\n- an item of nothing\n---\n",
        "---\ntitle: T\nno end",
        "# A\n---\ntitle: T\n---\n",
    ],
)
def test_what_is_none_stays_text(text: str) -> None:
    """T2: prose between two lines is not taken away."""
    assert parse_front_matter(text).end == 0


@given(st.lists(st.sampled_from(["k: ", "- ", "[", '"', "\\", "'", "#", ">", "  ", "\n", "a"])))
def test_anything(parts: list[str]) -> None:
    """X2: no text fails, and what is set apart ends where its last line does."""
    text = f"---\nk: v\n{''.join(parts)}\n---\nBody"
    front = parse_front_matter(text)
    assert front.end == 0 or text[: front.end].endswith("---")

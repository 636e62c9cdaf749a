"""Questions: those that a text asks, and those that its headings and its title stand for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.text.summary import extract_questions


@pytest.mark.parametrize(
    ("text", "options", "asked"),
    [
        ("## How do I reset it?\n\nPress twice.", {}, ["How do I reset it?"]),
        ("**Q: Is it safe?**\n\nA: Yes, it is.", {}, ["Is it safe?"]),
        ("Frage 3: Ist es sicher?\n\nJa.", {}, ["Ist es sicher?"]),
        ("2.1 Why\n=======\n\nBecause.", {"title": "Tea"}, ["Tea: Why?"]),
        ("How to drain\n---\n\nOpen it.", {"title": "Pump"}, ["How do I drain?", "Pump?"]),
        ("It opens.", {"title": "Pump", "section": "Pump > Valve"}, ["Pump: Valve?"]),
        ("It opens.", {"title": "Pump", "section": "Pump"}, ["Pump?"]),
        ("It opens.", {}, []),
        ("什么时候开？\n\n四巴。", {}, ["什么时候开？"]),
        ("Hm? Ok.", {}, []),
        ("```\nwhat is this?\n```", {}, []),
    ],
)
def test_what_is_asked(text, options, asked) -> None:
    """T3: in so many words, of a heading, or of the title; code asks nothing."""
    assert list(extract_questions(text, **options)) == asked


def test_the_title_has_its_place() -> None:
    """T3: of at most so many, the last one names the title, whatever the text asks."""
    text = " ".join(f"Is number {i} the right one?" for i in range(9))
    asked = extract_questions(text, title="Numbers", most=3)
    assert asked == ("Is number 0 the right one?", "Is number 1 the right one?", "Numbers?")


@given(st.text(max_size=200), st.text(max_size=20), st.integers(1, 6))
def test_any_text(text: str, title: str, most: int) -> None:
    """T3, X2: never more than asked for, none twice, none empty."""
    asked = extract_questions(text, title=title, most=most)
    assert len(asked) <= most
    assert len(set(asked)) == len(asked)
    assert all(asked)

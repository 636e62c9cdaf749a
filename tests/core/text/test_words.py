"""The words of a text, in every script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages.dedup.exact import normalise
from foveate.core.text.words import split_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        (" \n. , !", ()),
        ("The cat. THE CAT!", ("the", "cat", "the", "cat")),
        ("C++ C# 5% $3 a<b R&D", ("c++", "c#", "5%", "$3", "a<b", "r&d")),
        ("don't / don’t", ("don", "t", "don", "t")),
        ("**bold** _it_ `code` [link](url)", ("bold", "it", "code", "link", "url")),
        ("Straße STRASSE", ("strasse", "strasse")),
        ("ΟΔΟΣ οδος", ("οδοσ", "οδοσ")),
        ("上下文", ("上下", "下文")),
        ("文", ("文",)),
        ("用GPT模型。好", ("用", "gpt", "模型", "好")),
        ("東京タワー", ("東京", "京タ", "タワ", "ワー")),
        ("한국어 문장", ("한국어", "문장")),
        ("हिन्दी की", ("हिन्दी", "की")),
        ("مرحبا، بالعالم", ("مرحبا", "بالعالم")),
        ("שלום־עולם", ("שלום", "עולם")),
        ("👩‍👩‍👧 ok", ("👩‍👩‍👧", "ok")),
    ],
)
def test_words(text, expected):
    """S4: lower-cased words; punctuation separates, symbols with a meaning stay."""
    assert split_words(text) == expected


@given(text=st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_is_the_long_way(text):
    """S4: one character beyond ASCII does not change how the others are read."""
    assert split_words(text) == split_words(text + "\u2028")


@given(text=st.text())
def test_words_are_of_the_text_and_stable(text):
    """S4: white space, encoding and case do not count; a word's only word is itself."""
    found = split_words(text)

    assert found == split_words(normalise(text)) == split_words(" ".join(text.split()).casefold())
    assert all(not any(c.isspace() for c in word) for word in found)

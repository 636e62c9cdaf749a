"""Word arrays: the words of many texts as numbers, held to their plain definitions."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages.compress.unit_words import read_units
from foveate.core.text import word_arrays
from foveate.core.text.terms import document_terms, keys
from foveate.core.text.word_arrays import batches, number_of, read_words
from foveate.core.text.words import ALPHABET, split_words
from foveate.testing.strategies import texts

ODD = [
    "",
    "one",
    "one two",
    "Don't re-index C++ code (yet).",
    "上下文 engine 水 ดี",
    "STRASSE straße ﬁlm caf\u00e9 cafe\u0301 \u212a",
    "flies dies houses cats class bus gas yes ies aies toes 𝒳𝒴s",
    "a\u0301 " * 3 + "x" * 197 + " नदी यहाँ है। 강은 없다",
    "\n\r\n \u2028 ;\x00",
    "\x1eone\x1e two\x1e",
    "\u0301 e",
    "HTTPServer.getUserById(maxRetries5) caf\u00e9Name McDonald",
]


@given(st.lists(st.one_of(texts(), st.sampled_from(ODD)), max_size=5))
def test_words_are_those_of_the_definition(found: list[str]) -> None:
    """S4, D1: text by text, the arrays hold the numbers of the words that `split_words` gives."""
    arrays = read_words(found, ALPHABET)
    numbers, firsts = arrays.numbers.tolist(), arrays.firsts.tolist()

    for n, text in enumerate(found):
        expected = [number_of(word) for word in split_words(text)]
        assert numbers[firsts[n] : firsts[n + 1]] == expected


@given(st.lists(st.one_of(texts(), st.sampled_from(ODD)), max_size=5))
def test_terms_are_those_of_the_definition(units: list[str]) -> None:
    """S8, D1: each unit has the terms that its text has by itself, as often."""
    index = read_units(units)
    terms, at = index.terms.tolist(), 0
    for unit, size in zip(units, index.sizes.tolist(), strict=True):
        assert Counter(terms[at : at + size]) == Counter(map(number_of, keys(document_terms(unit))))
        at += size
    assert at == len(terms)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_texts_are_read_in_batches(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """B7: the numbers are the same however many texts are read at once."""
    units = [*ODD, "the weir " * 40, *ODD]
    whole = read_units(units)
    monkeypatch.setattr(word_arrays, "BATCH", size)
    ranges = list(batches(units))

    assert [n for a, b in ranges for n in range(a, b)] == list(range(len(units)))
    assert all(sum(map(len, units[a:b])) <= size or b == a + 1 for a, b in ranges)
    for one, other in zip(whole, read_units(units), strict=True):
        assert one.tolist() == other.tolist()

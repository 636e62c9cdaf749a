"""Where OpenAI's vocabularies always split a text: sums there are counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.providers.tokenizers import load_tokenizer

ENCODINGS = ("cl100k_base", "o200k_base")
EDGES = (
    "".join(map(chr, range(128)))
    + "\x85\xa0\u1680\u2003\u2028\u2029\u202f\u3000éßǅʰ٣Ⅷ中あ́\u200d'😀/"
)
NEAR = st.text(alphabet=EDGES, max_size=8)
ANY = st.text(max_size=8)


@pytest.mark.parametrize("name", ENCODINGS)
def test_sums_are_counts_at_every_pair_of_characters(name):
    """B1: for each pair of edge characters said to break, with several texts around them."""
    tokenizer = load_tokenizer(name)
    around = [
        ("", ""),
        ("it's \n ", " 's"),
        ("a.", "'ll"),
        ("\n\n", "\n\n"),
        ("12 ", "//"),
        (" \r", "3"),
    ]
    wrong = [
        (before + a, b + after)
        for a in EDGES
        for b in EDGES
        if tokenizer.breaks(a, b)
        for before, after in around
        if tokenizer.count(before + a + b + after)
        != tokenizer.count(before + a) + tokenizer.count(b + after)
    ]

    assert wrong == []
    assert tokenizer.breaks("\n", "[")
    assert tokenizer.breaks("d", "\n")
    assert not tokenizer.breaks(".", "\n")


@pytest.mark.parametrize("name", ENCODINGS)
@given(left=NEAR | ANY, a=st.sampled_from("\naZ09"), b=st.sampled_from(EDGES), right=NEAR | ANY)
def test_sums_are_counts_whatever_stands_around(name, left, a, b, right):
    """B1: what the tokenizer says of two characters holds for every text that has them."""
    tokenizer = load_tokenizer(name)
    one, other = left + a, b + right
    adds_up = tokenizer.count(one + other) == tokenizer.count(one) + tokenizer.count(other)

    assert adds_up or not tokenizer.breaks(a, b)

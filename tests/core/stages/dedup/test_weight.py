"""What a word weighs, and what may be lost with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages.dedup.compared_text import Sentence
from foveate.core.text.facts import polarity_mark
from foveate.core.text.word_weight import weight, weights
from foveate.core.text.words import split_words

WORDS = st.lists(st.sampled_from(["the", "also", "not", "must", "pump", "pumps", "runs", "5"]))


@pytest.mark.parametrize("word", ["the", "also", "however", "auch", "también", "cependant"])
def test_light_words_weigh_nothing(word):
    """S4: articles and words that only join sentences are lost without loss."""
    assert weight(word) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("connection", "connections"),
        ("increase", "increases"),
        ("serveurs", "serveur"),
    ],
)
def test_a_plural_weighs_the_same(one, other):
    """S4: inflection is no other word."""
    assert weight(one.casefold()) == weight(other.casefold())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("approved", "rejected"),
        ("increase", "decrease"),
        ("alice", "bob"),
        ("server", "service"),
        ("class", "clas"),
        ("status", "statu"),
        ("before", "after"),
        ("15", "16"),
        ("plan", "plane"),
        ("human", "humane"),
        ("custom", "customs"),
        ("broken", "broke"),
        ("Tabelle", "Tabellen"),
    ],
)
def test_other_words_weigh_something_else(one, other):
    """S4: what is not known to be light or the same word has a weight of its own."""
    assert weight(one) != weight(other)
    assert weight(one)


@pytest.mark.parametrize(
    "word",
    [
        "existing",
        "often",
        "usually",
        "typically",
        "generally",
        "oft",
        "souvent",
        "généralement",
        "generalmente",
        "vaak",
        "spesso",
        "menudo",
        "don",
        "didn",
    ],
)
def test_how_often_and_which_ones_weigh_something(word):
    """S4: a discount for existing customers is none for customers; Don is somebody."""
    assert weight(word) == word
    limited, plain = (
        Sentence(f"it applies to {word} customers"),
        Sentence("it applies to customers"),
    )
    assert not limited.is_said_by(plain)


def test_a_contracted_verb_is_light_before_its_t_alone():
    """S4: don't and do not say the same; signed by Don is not signed by nobody."""
    assert list(weights(split_words("don't ask, didn't ask"))) == ["ask", "ask"]
    assert list(weights(split_words("signed by Don"))) == ["signed", "by", "don"]


@given(text=WORDS)
def test_a_text_says_what_it_says(text):
    """S4: itself, and itself without a light word; turning words have no weight of their own."""
    told = Sentence(" ".join(text))
    heavy = Sentence(" ".join(w for w in text if weight(w) or polarity_mark(w)))

    assert told.is_said_by(told)
    assert told.is_said_by(heavy)
    assert not set(weights(text)) & {"not", "must"}

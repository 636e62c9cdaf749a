"""Answers against gold ones, as SQuAD compares them."""

from __future__ import annotations

import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.evals.answers.outcome import contains_answer, exact_match, f1_score, normalise_answer

WORDS = st.lists(st.sampled_from(["the", "a", "An", "well", "Well,", "1,880", "mill's", "é", "."]))


def reference(text):
    """SQuAD's `normalize_answer`, step by step as `evaluate-v1.1.py` does it."""
    text = text.lower()
    text = "".join(ch for ch in text if ch not in set(string.punctuation))
    text = re.sub(r"\b(a|an|the)\b", " ", text)
    return " ".join(text.split())


def reference_f1(said, gold):
    """SQuAD's `f1_score` of one gold answer."""
    a, b = reference(said).split(), reference(gold).split()
    same = sum((Counter(a) & Counter(b)).values())
    if same == 0:
        return 0
    precision, recall = 1.0 * same / len(a), 1.0 * same / len(b)
    return (2 * precision * recall) / (precision + recall)


@given(said=WORDS, golds=st.lists(WORDS, min_size=1, max_size=3))
def test_the_definitions_are_squads(said, golds):
    """E1: exact match and F1 are the reference's on whatever words, the best gold answer counts."""
    text, golds = " ".join(said), [" ".join(gold) for gold in golds]

    assert normalise_answer(text) == reference(text)
    assert exact_match(text, golds) == max(reference(text) == reference(gold) for gold in golds)
    assert f1_score(text, golds) == pytest.approx(max(reference_f1(text, gold) for gold in golds))


@pytest.mark.parametrize(
    ("said", "golds", "values"),
    [
        ("The well.", ["a Well"], (1.0, 1.0, 1.0)),
        # said 4 words, gold 2, 2 shared: precision 1/2, recall 1, F1 2/3
        ("nine metres deep indeed", ["nine metres"], (0.0, 2 / 3, 1.0)),
        # the words are there, but not in a row: 2 of 3 and 2 of 2
        ("nine good metres", ["nine metres"], (0.0, 4 / 5, 0.0)),
        # a repeated word counts as often as both have it: 1 of 3, 1 of 1
        ("oak oak oak", ["oak"], (0.0, 1 / 2, 1.0)),
        ("oak", ["elm", "oak tree"], (0.0, 2 / 3, 0.0)),
        ("", ["oak"], (0.0, 0.0, 0.0)),
        ("18800", ["1880"], (0.0, 0.0, 0.0)),
        ("the", ["a"], (1.0, 0.0, 0.0)),
    ],
)
def test_values_worked_by_hand(said, golds, values):
    """E1: exact match, F1 and answer-in-output, worked by hand."""
    assert (
        exact_match(said, golds),
        f1_score(said, golds),
        contains_answer(said, golds),
    ) == pytest.approx(values)

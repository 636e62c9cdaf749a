from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.stores.scoring import SMALL_STORE, bm25, damping, group_terms, saturation
from paper_bm25 import paper_bm25

TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=12), min_size=1, max_size=8)


def scores_of(texts: list[list[str]], terms: Iterable[str]) -> np.ndarray:
    """BM25 as the stores compute it."""
    names, term, text, counts = group_terms(texts)
    lengths = np.array([len(text) for text in texts])
    about = damping(lengths, total=len(texts), words=max(int(lengths.sum()), 1))
    parts = saturation(counts, about[text])
    chosen = [term == names.index(one) for one in terms if one in names]
    return bm25([(text[at], parts[at]) for at in chosen], rows=len(texts), total=len(texts))


@given(TEXTS, st.sampled_from((1, SMALL_STORE)))
def test_scores_are_bm25(texts: list[list[str]], repeats: int):
    """T4: equal to the formula written out, from 200 rows on without the terms in most rows."""
    texts = texts * repeats
    scores = scores_of(texts, "abc")
    assert scores.tolist() == pytest.approx(paper_bm25(texts, "abc"), abs=1e-7)


def test_a_term_in_most_rows_counts_where_there_is_no_rarer_one():
    """T4: dropping frequent terms saves time; it must not empty an answer."""
    texts = [["a"], ["a", "b"], ["a"]]
    assert (scores_of(texts, "a") > 0).tolist() == [True, True, True]
    assert (scores_of(texts, "ab") > 0).tolist() == [True, True, True]
    many = texts * SMALL_STORE
    rare = [*many[:-1], ["a", "b"]]
    assert (scores_of(many, "a") > 0).all()
    assert (scores_of(rare, "ab") > 0).sum() == SMALL_STORE + 1


def test_in_a_small_store_every_term_counts():
    """T4: among eight texts, a word in five of them decides between those that share a rarer."""
    texts = [["how", "long", "heart"], ["how", "long", "bones"], *[["heart", "visit"]] * 4]
    scores = scores_of(texts, ("long", "heart"))
    assert scores[0] > scores[1]
    assert (scores > 0).all()

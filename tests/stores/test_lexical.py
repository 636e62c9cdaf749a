from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.stores.lexical import View, build_view, view_scores
from foveate.stores.scoring import SMALL_STORE
from foveate.stores.sqlite.vectors import build_scan as scan_of

TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=12), min_size=1, max_size=8)


def view(texts: list[list[str]], mine: int) -> View:
    """What a reader of the first so many texts has."""
    rows = len(texts)
    lengths = np.array([len(text) for text in texts], dtype=np.int32)
    vectors = np.zeros((rows, 0), dtype=np.int8)
    audiences = (np.arange(rows) >= mine).astype(np.int32)
    arrays = (np.arange(rows), audiences, lengths, np.zeros(rows, dtype=np.int32), vectors)
    return build_view(scan_of(bytes(16), *arrays), (0,))


def found(texts: list[list[str]], terms: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The postings of these terms."""
    counts = [Counter(text) for text in texts]
    result = {}
    for term in terms:
        places = [i for i, count in enumerate(counts) if count[term]]
        occurrences = [counts[i][term] for i in places]
        result[term] = (np.array(places, dtype=np.int64), np.array(occurrences, dtype=np.int64))
    return result


def oracle(texts: list[list[str]], terms: str) -> list[float]:
    """BM25 as the paper writes it, term by term in plain Python."""
    total, average = len(texts), sum(map(len, texts)) / len(texts)
    frequency = {term: sum(term in text for text in texts) for term in terms}
    rare = total >= SMALL_STORE and any(0 < 2 * frequency[term] <= total for term in terms)
    scores = []
    for text in texts:
        score = 0.0
        for term in terms:
            n, count = frequency[term], text.count(term)
            if not count or (rare and 2 * n > total):
                continue
            idf = log(1 + (total - n + 0.5) / (n + 0.5))
            score += idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(text) / average))
        scores.append(score)
    return scores


@given(TEXTS, st.sampled_from((1, SMALL_STORE)))
def test_scores_are_bm25(texts: list[list[str]], repeats: int):
    """T4: equal to the formula written out, from 200 rows on without the terms in most rows."""
    texts = texts * repeats
    scores = view_scores(found(texts, "abc"), view(texts, len(texts)))
    assert scores.tolist() == pytest.approx(oracle(texts, "abc"), abs=1e-7)


@given(TEXTS, TEXTS)
def test_scores_know_nothing_of_unreadable_rows(mine, others):
    """X5: with others' rows in the index, my scores are those of an index without, to the bit."""
    both = mine + others
    scores = view_scores(found(both, "abc"), view(both, len(mine)))
    alone = view_scores(found(mine, "abc"), view(mine, len(mine)))
    assert scores[: len(mine)].tolist() == alone.tolist()
    assert not scores[len(mine) :].any()


def test_a_term_in_most_rows_counts_where_there_is_no_rarer_one():
    """T4: dropping frequent terms saves time; it must not empty an answer."""
    texts = [["a"], ["a", "b"], ["a"]]
    everyone = view(texts, 3)
    assert (view_scores(found(texts, "a"), everyone) > 0).tolist() == [True, True, True]
    assert (view_scores(found(texts, "ab"), everyone) > 0).tolist() == [True, True, True]
    many, all_of_them = texts * SMALL_STORE, view(texts * SMALL_STORE, 3 * SMALL_STORE)
    rare = [*many[:-1], ["a", "b"]]
    assert (view_scores(found(many, "a"), all_of_them) > 0).all()
    assert (view_scores(found(rare, "ab"), all_of_them) > 0).sum() == SMALL_STORE + 1


def test_in_a_small_store_every_term_counts():
    """T4: among eight texts, a word in five of them decides between those that share a rarer."""
    texts = [["how", "long", "heart"], ["how", "long", "bones"], *[["heart", "visit"]] * 4]
    scores = view_scores(found(texts, ("long", "heart")), view(texts, len(texts)))
    assert scores[0] > scores[1]
    assert (scores > 0).all()

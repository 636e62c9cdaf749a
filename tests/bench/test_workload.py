"""The generator of the benchmark's workload."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import pytest
from bench.peers.facts import FIRST_FILL, TOLD
from bench.peers.shape import MIRRORED
from bench.peers.workload import generate, load, make, save, stored


@pytest.fixture(scope="module")
def small():
    """A workload that has a bit of everything."""
    return generate(60)


def test_same_seed_same_bytes(tmp_path, small):
    """The files of a workload are the same bytes whenever it is made, whatever else rolls dice."""
    random.seed(1)
    save(small, tmp_path / "one")
    random.seed(2)
    save(generate(60), tmp_path / "two")

    for name in ("60.json", "60.npy"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_loading_gives_what_was_saved(tmp_path, small):
    """A file holds the whole workload."""
    save(small, tmp_path)
    loaded = load(60, tmp_path)

    assert (loaded.rows, loaded.truths) == (small.rows, small.truths)
    assert (loaded.about, list(loaded.facts)) == (small.about, list(small.facts))
    assert (loaded.vectors == small.vectors).all()
    assert (loaded.query_vector == small.query_vector).all()


def test_what_is_there_is_not_made_again(tmp_path):
    """A workload is written once, and anew where other code made it."""
    make([10], tmp_path)
    path = tmp_path / "10.json"
    first = path.read_text()
    assert stored(10, tmp_path)

    path.write_text(first.replace('"generator": "', '"generator": "0'))
    assert not stored(10, tmp_path)

    make([10], tmp_path)
    assert path.read_text() == first


def test_it_is_what_it_says(small):
    """Sorted, overlaps verbatim, no two texts alike by chance: few shared runs of three words."""
    scores, texts = [row.score for row in small.rows], {row.id: row.text for row in small.rows}
    pairs = list(zip(small.rows, small.truths, strict=True))
    apart = [(row, t.after) for row, t in pairs if t.kind in ("base", "adjacent")]

    assert scores == sorted(scores, reverse=True)
    assert all(texts[t.after].endswith(row.text[: t.overlap]) for row, t in pairs if t.after)
    kinds = Counter(truth.kind for truth in small.truths)
    assert kinds == {"base": 33, "adjacent": 12, "exact": 6, "near": 9}
    assert len({row.document for row in small.rows}) == 12
    assert small.about["python"].startswith("3.")
    for (one, before_one), (two, before_two) in combinations(apart, 2):
        if one.id != before_two and two.id != before_one:
            mine, theirs = triples(one.text), triples(two.text)
            assert len(mine & theirs) < 0.3 * min(len(mine), len(theirs))


def triples(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of three words in lower case."""
    words = text.lower().split()
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def test_mirrors_stand_elsewhere_with_the_offsets_of_the_original(small):
    """The trap: a copy in another document claims the original's place."""
    originals = {
        truth.group: row
        for row, truth in zip(small.rows, small.truths, strict=True)
        if truth.kind in ("base", "adjacent")
    }
    mirrors = [
        (row, originals[truth.group])
        for row, truth in zip(small.rows, small.truths, strict=True)
        if row.sequence >= MIRRORED
    ]

    assert len(mirrors) >= 9
    assert all(copy.document != row.document for copy, row in mirrors)
    assert all((copy.start, copy.end) == (row.start, row.end) for copy, row in mirrors)


def test_copies_are_copies(small):
    """Exact copies are equal; near copies keep most word triples, every number and negation."""
    originals = {
        truth.group: row.text
        for row, truth in zip(small.rows, small.truths, strict=True)
        if truth.kind in ("base", "adjacent")
    }
    planted = {fact["text"] for fact in small.facts}
    for row, truth in zip(small.rows, small.truths, strict=True):
        if truth.kind == "exact":
            assert row.text == originals[truth.group]
        if truth.kind == "near":
            text = row.text
            for fact in planted:
                text = text.replace(fact[:-1] + ". ", "")
            mine, theirs = triples(text), triples(originals[truth.group])
            assert row.text != originals[truth.group]
            assert len(mine & theirs) >= 0.8 * min(len(mine), len(theirs))
            assert _facts(text) == _facts(originals[truth.group])


def _facts(text: str) -> list[str]:
    """Numbers and negations, in order."""
    words = (word.strip('.,:;()"*') for word in text.split())
    return [word for word in words if word in {"not", "no", "never"} or word.isdigit()]


def test_vectors_tell_copies_from_others(small):
    """Exact copies are at cosine 1, near ones above 0.94 of the original, all others below 0.9."""
    cosines = small.vectors @ small.vectors.T
    for i, one in enumerate(small.truths):
        for j, other in enumerate(small.truths):
            kinds = {one.kind, other.kind}
            if i == j:
                continue
            if one.group != other.group:
                assert cosines[i, j] < 0.9
            elif kinds <= {"base", "adjacent", "exact"}:
                assert cosines[i, j] > 0.9999
            elif kinds & {"base", "adjacent"}:
                assert 0.94 < cosines[i, j] < 0.995


def test_facts_are_where_they_should_be(small):
    """Top facts rank in the first fill, deep ones after it, near ones in one copy of a pair."""
    rank = {row.id: number for number, row in enumerate(small.rows)}
    group = {row.id: truth.group for row, truth in zip(small.rows, small.truths, strict=True)}
    assert len(small.facts) == len(TOLD)
    for fact in small.facts:
        (home,) = fact["ids"]
        assert [row.id for row in small.rows if fact["text"] in row.text] == [home]
        copies = sum(other == group[home] for other in group.values())
        if fact["where"] == "near":
            assert copies == 2
        else:
            assert copies == 1
            assert (rank[home] < FIRST_FILL) == (fact["where"] == "top")

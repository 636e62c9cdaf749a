"""Near duplicates: the fast paths give what comparing every pair gives.

The oracle below is the definition and nothing else: sets, fractions, two plain passes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages.dedup.compared_texts import is_covered, is_framed
from foveate.core.stages.dedup.near import THRESHOLDS, DedupNear
from foveate.core.stages.dedup.semantic import quantise
from foveate.core.text.facts import extract_facts
from foveate.core.text.sameness import has_same_facts, sentence_bounds, swaps_parties
from foveate.core.text.word_weight import bound_facts, weights
from foveate.core.text.words import shingles, split_words, word_runs
from foveate.core.types import rank
from foveate.testing.fakes import candidate, request

METHODS = ("jaccard", "containment", "semantic")
DAY = datetime(2024, 5, 1, tzinfo=UTC)


class Oracle:
    """Compares every text with every kept one."""

    def __init__(self, candidates, options):
        self.options = options
        self.newest = options.prefer == "newest"
        value = options.threshold or THRESHOLDS[options.method]
        self.threshold = Fraction(str(value))
        self.words = {c.id: split_words(c.text) for c in candidates}
        self.sets = {c.id: set(self.words[c.id]) for c in candidates}
        self.facts = {c.id: extract_facts(c.text) for c in candidates}
        self.runs = {c.id: set(shingles(self.words[c.id])) for c in candidates}
        self.depth = {}
        for c in candidates:
            size = len(self.runs[c.id])
            least = -(-size * self.threshold // 1)
            least += options.strict and least == size * self.threshold
            self.depth[c.id] = size - int(least) + 1 if size else 0
        rows = quantise([c.chunk.embedding for c in candidates])[0].astype(int).tolist()
        self.rows = {c.id: row for c, row in zip(candidates, rows, strict=True)}
        self.order = sorted((c for c in candidates if c.origin != "supplement"), key=self._key)

    def _date(self, c):
        if not self.newest:
            return 0
        at = c.chunk.modified_at
        return -(10**20) if at is None else (at - DAY).total_seconds()

    def _key(self, c):
        if self.options.method == "containment":
            return (-self._date(c), -len(self.runs[c.id]), -len(self.words[c.id]), rank(c))
        return (-self._date(c), rank(c))

    def _reaches(self, part, whole):
        need = self.threshold * whole
        return part > 0 and (part > need if self.options.strict else part >= need)

    def _fragment(self, part, whole):
        a, b = self.words[part.id], self.words[whole.id]
        if self._date(part) != self._date(whole):
            return False
        return len(a) < len(b) and not Counter(a) - Counter(b)

    def _agrees(self, leaves, stays):
        if not self.options.guard:
            return True
        a, b = leaves.chunk, stays.chunk
        same = a.document_id == b.document_id or a.source == b.source
        dated = a.modified_at and b.modified_at and a.modified_at != b.modified_at
        if self.newest and same and dated and self.options.method != "semantic":
            return True
        mine, theirs = self.facts[leaves.id], self.facts[stays.id]
        if self.options.method == "containment":
            return (
                has_same_facts(mine, theirs, self.words[leaves.id])
                and is_covered(*self._aligned(leaves, stays))
                and not self._framed(leaves, stays)
            )
        semantic = self.options.method == "semantic"
        if semantic:
            mine, theirs = sorted(mine), sorted(theirs)
        one, other = self.words[leaves.id], self.words[stays.id]
        if mine != theirs or one == other:
            return mine == theirs
        if semantic and bound_facts(one) != bound_facts(other):
            return False
        if Counter(weights(one)) - Counter(weights(other)) or self._framed(leaves, stays):
            return False
        cuts = (0, *sentence_bounds(leaves.text), len(one))
        own = (list(weights(one[a:b])) for a, b in pairwise(cuts))
        return not any(swaps_parties(words, list(weights(other))) for words in own)

    def _aligned(self, leaves, stays):
        """On anchors that are found by comparing every triple with every other."""
        mine, theirs = word_runs(self.words[leaves.id]), word_runs(self.words[stays.id])
        places = [p for p, run in enumerate(mine) if mine.count(run) == theirs.count(run) == 1]
        anchors = places, [theirs.index(mine[p]) for p in places]
        return self.words[leaves.id], self.words[stays.id], anchors

    def _framed(self, leaves, stays):
        bounds = sentence_bounds(leaves.text), sentence_bounds(stays.text)
        return is_framed(*self._aligned(leaves, stays), bounds)

    def _similar(self, leaves, stays):
        a, b = self.sets[leaves.id], self.sets[stays.id]
        if self.options.method == "jaccard":
            return self._reaches(len(a & b), len(a | b))
        if self.options.method == "containment":
            mine = self.runs[leaves.id]
            return self._reaches(len(mine & self.runs[stays.id]), len(mine))
        if self.options.guard and (not a & b or 2 * len(a & b) < len(a | b)):
            return False
        x, y = self.rows[leaves.id], self.rows[stays.id]
        dot = sum(p * q for p, q in zip(x, y, strict=True))
        square = sum(p * p for p in x) * sum(q * q for q in y)
        root, need = dot * dot, self.threshold**2 * square
        return dot > 0 and (root > need if self.options.strict else root >= need)

    def _may_leave(self, leaves, stays):
        return (
            self._similar(leaves, stays)
            and self._agrees(leaves, stays)
            and not self._fragment(stays, leaves)
        )

    def _met(self, c, others):
        """Those of `others`, the nearest first, that c is compared with: all but in a crowd."""
        if self.options.method != "containment" or not self.crowd:
            return others
        asked = self.runs[c.id]
        crowd = {run for run in asked if sum(run in own for own in self.runs.values()) > self.crowd}
        found = [k for k in others if self.runs[k.id] & (asked - crowd)]
        if len(crowd) <= len(asked) - self.depth[c.id]:
            return found
        heavy = set(weights(self.words[c.id])) if self.options.guard and not self.newest else set()
        alike = [
            k for k in others if self.runs[k.id] & asked and heavy <= set(weights(self.words[k.id]))
        ]
        return alike[: self.crowd]

    def left(self, crowd=0):
        """Who leaves, by id, and the id for which it leaves in the end."""
        self.crowd = crowd
        kept, gone = [], {}
        for c in self.order:
            found = [k for k in self._met(c, kept[::-1]) if self._may_leave(c, k)]
            if found:
                gone[c.id] = found[0 if self.options.method == "containment" else -1].id
            else:
                kept.append(c)
        for place in reversed(range(len(kept))):
            c = kept[place]
            staying = [k for k in kept[place + 1 :] if k.id not in gone]
            later = [
                k
                for k in self._met(c, staying)
                if self._date(k) == self._date(c) and self._may_leave(c, k)
            ]
            if later and self.options.method == "containment":
                gone[c.id] = later[0].id
            elif later:
                gone[c.id] = max(later, key=lambda k: len(self.words[k.id])).id
        return {lost: last(lost, gone) for lost in gone}


def last(lost, gone):
    """The id at the end of the way on which this one left."""
    while lost in gone:
        lost = gone[lost]
    return lost


def agrees_with_oracle(candidates, options, crowd=0):
    """One run against the oracle; hands back how many left."""
    step = options(candidates, request())
    gone = {d.chunk_id: d.by for d in step.decisions if d.action == "merged"}
    assert gone == Oracle(candidates, options).left(crowd)
    assert {c.id for c in step.candidates} == {c.id for c in candidates} - set(gone)
    return len(gone)


def check_against_oracle(candidates, options):
    """The same, and again with the candidates in another order."""
    count = agrees_with_oracle(candidates, options)
    shuffled = list(candidates)
    Random(len(candidates)).shuffle(shuffled)
    assert agrees_with_oracle(tuple(shuffled), options) == count
    return count


VOCABULARY = ("a", "b", "c", "d", "e", "not", "5 mg", "5", "文脈", "東", "Ab", "b?", "안", "inte")
TEXTS = st.lists(st.sampled_from(VOCABULARY), max_size=9).map(" ".join)
VECTORS = st.one_of(
    st.none(), st.tuples(*(st.sampled_from([-1.0, 0.0, 0.3, 1.0]) for _ in range(3)))
)
ROWS = st.tuples(
    TEXTS,
    st.sampled_from([0.1, 0.5, 0.5, 0.9]),
    VECTORS,
    st.sampled_from([None, DAY, DAY + timedelta(days=1)]),
    st.integers(0, 2),
    st.sampled_from(["retrieved", "retrieved", "retrieved", "neighbour", "supplement"]),
)
OPTIONS = st.builds(
    DedupNear,
    method=st.sampled_from(METHODS),
    threshold=st.sampled_from([None, 0.3, 0.5, 0.6, 0.75, 0.8, 1.0]),
    prefer=st.sampled_from(["score", "newest"]),
    strict=st.booleans(),
    guard=st.booleans(),
)


@given(rows=st.lists(ROWS, max_size=14), options=OPTIONS)
def test_what_leaves_is_what_the_definition_says(rows, options):
    """S4: on small texts full of ties, the fast path is the quadratic definition."""
    candidates = tuple(
        candidate(
            text,
            score,
            id=f"c{n}",
            document_id=f"d{document}",
            embedding=vector,
            modified_at=date,
            origin=origin,
        )
        for n, (text, score, vector, date, document, origin) in enumerate(rows)
    )
    check_against_oracle(candidates, options)


def edited(dice, spelled, vocabulary):
    """A copy with a few words changed, added, left out, or a piece of it."""
    copy = list(spelled)
    for _ in range(dice.randint(0, 3)):
        place = dice.randrange(len(copy))
        copy[place : place + dice.randint(0, 1)] = dice.choices(vocabulary, k=dice.randint(0, 2))
        copy = copy or ["nothing"]
    if dice.random() < 0.3:
        start = dice.randrange(len(copy))
        copy = copy[start : start + dice.randint(1, len(copy))]
    return copy


def made(seed, count=60):
    """Texts of all lengths over a small or large vocabulary; half are edits of earlier ones."""
    dice = Random(seed)
    vocabulary = [f"w{n}" for n in range(dice.choice([6, 40, 400]))] + ["not", "7", "mg"]
    texts, vectors = [], []
    for _ in range(count):
        if texts and dice.random() < 0.6:
            n = dice.randrange(len(texts))
            texts.append(edited(dice, texts[n], vocabulary))
            vectors.append([x + dice.gauss(0, 0.2) for x in vectors[n]])
        else:
            texts.append(dice.choices(vocabulary, k=dice.randint(1, 40)))
            vectors.append([dice.gauss(0, 1) for _ in range(8)])
    return tuple(
        candidate(
            " ".join(text),
            dice.choice([0.2, 0.4, dice.random()]),
            id=f"c{n}",
            document_id=f"d{n % 7}",
            embedding=vectors[n],
            modified_at=dice.choice([None, DAY, DAY + timedelta(hours=dice.randint(1, 3))]),
        )
        for n, text in enumerate(texts)
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_what_leaves_is_what_the_definition_says_on_edits(method, seed):
    """S4: on seeded edits of edits, at several thresholds, fast path and definition agree."""
    candidates = made(seed)
    dice = Random(seed)
    threshold = dice.choice([0.4, 0.6, 0.7])
    count = 0
    for prefer in ("score", "newest"):
        options = DedupNear(method=method, prefer=prefer)
        count += check_against_oracle(candidates, options)
        count += agrees_with_oracle(candidates, replace(options, threshold=threshold))
        count += agrees_with_oracle(candidates, replace(options, threshold=0.5, guard=False))

    assert count > 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [100, 101])
def test_the_ways_for_many_give_the_same(method, seed, monkeypatch):
    """S4: what is only done for many texts at once changes nothing when it is done for few."""
    monkeypatch.setattr("foveate.core.stages.dedup.similar._FEW", 0)
    monkeypatch.setattr("foveate.core.stages.dedup.triples.MANY", 7)
    monkeypatch.setattr("foveate.core.stages.dedup.semantic.BLOCK", 7)
    monkeypatch.setattr("foveate.core.stages.dedup.jaccard._ROWS", 7)
    candidates = made(seed)

    count = sum(
        check_against_oracle(candidates, DedupNear(method=method, threshold=0.6, prefer=prefer))
        for prefer in ("score", "newest")
    )

    assert count > 0


@pytest.mark.parametrize("crowd", [2, 5])
@pytest.mark.parametrize("seed", [200, 201])
@pytest.mark.parametrize("guard", [True, False])
def test_in_a_crowd_the_nearest_are_compared(crowd, seed, guard, monkeypatch):
    """S4: triples that many texts have are looked through as the definition of a crowd says."""
    monkeypatch.setattr("foveate.core.stages.dedup.triples.FREQUENT", crowd)
    monkeypatch.setattr("foveate.core.stages.dedup.containment.FREQUENT", crowd)
    monkeypatch.setattr("foveate.core.stages.dedup.containment.NEAREST", crowd)
    candidates = made(seed, 40)
    count = 0

    for prefer in ("score", "newest"):
        for threshold in (None, 0.6):
            options = DedupNear(
                method="containment", guard=guard, prefer=prefer, threshold=threshold
            )
            count += agrees_with_oracle(candidates, options, crowd)

    assert count > 0


@pytest.mark.parametrize("seed", [300, 301])
def test_numbers_that_two_words_share_lose_no_word(seed, monkeypatch):
    """S4: where word numbers collide all the time, what stays still has every word of weight."""
    monkeypatch.setattr(
        "foveate.core.text.word_arrays.sum_letters",
        lambda sums, starts, ends: ((ends - starts) % 3).astype("u8"),
    )
    candidates = made(seed)
    step = DedupNear(method="containment", threshold=0.4)(candidates, request())
    spelled = {c.id: Counter(weights(split_words(c.text))) for c in candidates}
    merged = [d for d in step.decisions if d.action == "merged"]

    assert merged
    for decision in merged:
        stays = decision.numbers.get("via", decision.by)
        assert set(spelled[decision.chunk_id]) <= set(spelled[stays])

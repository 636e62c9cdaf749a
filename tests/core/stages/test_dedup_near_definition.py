"""Near duplicates: the fast paths give what comparing every pair gives.

The oracle below is the definition and nothing else: sets, fractions, two plain passes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages.dedup.compared_text import ComparedText, SentenceCache
from foveate.core.stages.dedup.near import NEAREST, THRESHOLDS, DedupNear
from foveate.core.stages.dedup.similarity import whole_numbers
from foveate.core.text.word_weight import weights
from foveate.core.text.words import split_words, word_runs
from foveate.core.types import rank
from foveate.testing.fakes import candidate, request

METHODS = ("jaccard", "containment", "semantic")
DAY = datetime(2024, 5, 1, tzinfo=UTC)


class Oracle:
    """Compares every text with all that stay; `crowd`: in more texts a triple is frequent."""

    def __init__(self, candidates, options, crowd):
        self.options = options
        self.newest = options.prefer == "newest"
        self.threshold = Fraction(str(options.threshold or THRESHOLDS[options.method]))
        self.pool = [c for c in candidates if c.origin != "supplement"]
        reader = SentenceCache("en")
        self.texts = {c.id: ComparedText(c, reader) for c in self.pool}
        self.words = {c.id: set(split_words(c.text)) for c in self.pool}
        self.heavy = {c.id: {*weights(split_words(c.text))} for c in self.pool}
        self.runs = {c.id: set(word_runs(split_words(c.text))) for c in self.pool}
        held = Counter(run for own in self.runs.values() for run in own)
        self.frequent = {run for run, times in held.items() if times > crowd}

    def _date(self, c):
        at = c.chunk.modified_at if self.newest else DAY
        return -(10**20) if at is None else (at - DAY).total_seconds()

    def _key(self, c):
        size = len(self.runs[c.id]) if self.options.method == "containment" else 0
        return (-self._date(c), -len(self.heavy[c.id]), -size, rank(c))

    def _reaches(self, part, whole):
        need = self.threshold * whole
        return part > 0 and (part > need if self.options.strict else part >= need)

    def _share(self, c):
        """The triples that a text has at least in common with whom it leaves for."""
        if self.options.method != "containment":
            return -(-len(self.runs[c.id]) // 10)
        need = self.threshold * len(self.runs[c.id])
        return int(need) + 1 if self.options.strict else -int(-need // 1)

    def _meet(self, leaves, stays):
        mine, theirs = self.runs[leaves.id], self.runs[stays.id]
        shared = len(mine & theirs - self.frequent)
        return shared > 0 and shared + len(mine & self.frequent) >= self._share(leaves)

    def _is_in_crowd(self, c):
        return len(self.runs[c.id] & self.frequent) >= max(self._share(c), 1)

    def _similar(self, leaves, stays):
        a, b = self.words[leaves.id], self.words[stays.id]
        if self.options.method == "jaccard":
            return self._reaches(len(a & b), len(a | b))
        if self.options.method == "containment":
            mine = self.runs[leaves.id]
            return self._reaches(len(mine & self.runs[stays.id]), len(mine))
        x, y = leaves.chunk.embedding, stays.chunk.embedding
        if x is None or y is None or not a & b or 2 * len(a & b) < len(a | b):
            return False
        x, y = whole_numbers(x).tolist(), whole_numbers(y).tolist()
        dot = sum(p * q for p, q in zip(x, y, strict=True))
        square = sum(p * p for p in x) * sum(q * q for q in y)
        root, need = dot * dot, self.threshold**2 * square
        return dot > 0 and (root > need if self.options.strict else root >= need)

    def _versions(self, leaves, stays):
        a, b = leaves.chunk, stays.chunk
        same = a.document_id == b.document_id or a.source == b.source
        dated = a.modified_at and b.modified_at and a.modified_at != b.modified_at
        return self.newest and same and dated and self.options.method != "semantic"

    def _leaves(self, c, others):
        """For whom it leaves, of those that stay, the last first."""
        heavy, crowd = self.heavy[c.id], self._is_in_crowd(c)
        alike = [k for k in others if self._is_in_crowd(k) and self.heavy[k.id] == heavy]
        met = [k for k in others if self._meet(c, k) or (crowd and k in alike[:NEAREST])]
        asked = [
            k
            for k in met
            if (heavy <= self.heavy[k.id] or self._versions(c, k)) and self._similar(c, k)
        ]
        for k in asked[:NEAREST]:
            if self._versions(c, k) or self.texts[c.id].is_said_by(self.texts[k.id]):
                return k
        return None

    def left(self):
        """Who leaves, by id, and for whom."""
        kept, gone = [], {}
        for c in sorted(self.pool, key=self._key):
            found = self._leaves(c, kept[::-1])
            if found is None:
                kept.append(c)
            else:
                gone[c.id] = found.id
        return gone


def agrees_with_oracle(candidates, options, crowd=64):
    """One run against the oracle; hands back how many left."""
    step = options(candidates, request())
    gone = {d.chunk_id: d.by for d in step.decisions if d.action == "merged"}
    assert gone == Oracle(candidates, options, crowd).left()
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

    assert count > 0


@pytest.mark.parametrize("crowd", [2, 5])
@pytest.mark.parametrize("seed", [200, 201])
@pytest.mark.parametrize("method", METHODS)
def test_in_a_crowd_those_with_the_same_words_are_compared(crowd, seed, method, monkeypatch):
    """S4: texts of triples that many have meet by their words of weight, as the definition says."""
    monkeypatch.setattr("foveate.core.stages.dedup.candidate_pairs.FREQUENT", crowd)
    candidates = made(seed, 40)

    count = sum(
        agrees_with_oracle(candidates, DedupNear(method=method, prefer=prefer, threshold=t), crowd)
        for prefer in ("score", "newest")
        for t in (None, 0.6)
    )

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
        assert set(spelled[decision.chunk_id]) <= set(spelled[decision.by])

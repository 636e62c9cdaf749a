"""Floor: too weak, too short, too much of one document."""

from __future__ import annotations

import pytest
from hypothesis import given

from foveate.core.errors import BadOption
from foveate.core.stages.floor import Floor
from foveate.core.types import Decision, rank
from foveate.testing.fakes import WordTokenizer, candidate, request
from foveate.testing.strategies import cases

LONG = "one two three four five"


def kept(stage, *candidates):
    """The ids that stay."""
    return [c.id for c in stage(candidates, request()).candidates]


def test_a_score_at_the_floor_stays():
    """S1: below `min_score` drops, at it stays; the numbers say score and floor."""
    high, low = candidate(LONG, 0.5, id="high"), candidate(LONG, 0.49, id="low")
    step = Floor(min_score=0.5)((high, low), request())

    assert step.candidates == (high,)
    assert step.decisions == (
        Decision(
            chunk_id="low",
            action="dropped",
            reason="below_floor",
            numbers={"score": 0.49, "floor": 0.5},
        ),
    )


def test_a_short_chunk_is_degenerate():
    """S1: under `min_tokens` drops, at it stays; the numbers say tokens and min."""
    enough, short = candidate(LONG, id="enough"), candidate("one two", id="short")
    step = Floor(min_tokens=5)((enough, short), request())

    assert step.candidates == (enough,)
    assert step.decisions == (
        Decision(
            chunk_id="short", action="dropped", reason="degenerate", numbers={"tokens": 2, "min": 5}
        ),
    )


def test_no_length_is_too_short_unless_a_minimum_is_named():
    """S1: a quota alone drops no short chunk, and neither does a floor without options."""
    pool = [candidate("word", id=name) for name in "abcd"]

    assert kept(Floor(), *pool) == ["a", "b", "c", "d"]
    assert kept(Floor(max_per_document=3), *pool) == ["a", "b", "c", "d"]


def test_blank_text_has_no_tokens():
    """S1: white space is degenerate from a minimum of one, whatever a tokenizer makes of it."""
    assert kept(Floor(min_tokens=1), candidate(" \n\t", id="blank"), candidate("a", id="a")) == [
        "a"
    ]
    assert kept(Floor(), candidate(" \n\t", id="blank")) == ["blank"]


def test_the_quota_keeps_the_best_of_each_document():
    """S1: the best-ranked `max_per_document` stay, as they stood; the rest say their rank."""
    worst = candidate(LONG, 0.1, id="worst", document_id="d")
    best = candidate(LONG, 0.9, id="best", document_id="d")
    good = candidate(LONG, 0.5, id="good", document_id="d")
    other = candidate(LONG, 0.0, id="other", document_id="e")
    step = Floor(max_per_document=2)((worst, good, best, other), request())

    assert [c.id for c in step.candidates] == ["good", "best", "other"]
    assert [(d.chunk_id, d.reason, d.numbers) for d in step.decisions] == [
        ("worst", "document_quota", {"rank": 3, "quota": 2})
    ]


def test_side_knowledge_is_not_tested():
    """S1: a supplement was let in by its own gate and passes."""
    aside = candidate("tiny", -1.0, id="aside", origin="supplement")

    assert kept(Floor(min_score=0.5, max_per_document=1), aside) == ["aside"]


@given(cases())
def test_it_keeps_what_the_definition_keeps(case):
    """S1: the survivors are those that pass all three tests, one after the other."""
    candidates, asked = case
    step = Floor(min_score=0.0, min_tokens=3, max_per_document=2)(candidates, asked)

    fit = [c for c in candidates if c.score >= 0 and len(c.text.split()) >= 3]
    best = {d: sorted((c for c in fit if c.document_id == d), key=rank)[:2] for d in documents(fit)}
    assert list(step.candidates) == [c for c in fit if c in best[c.document_id]]


def documents(candidates):
    """The document ids there are."""
    return {c.document_id for c in candidates}


def test_a_chunk_under_the_score_is_not_counted():
    """B7: tokens are counted only where they decide, and once."""
    counted = []

    class Counting(WordTokenizer):
        def count(self, text):
            counted.append(text)
            return super().count(text)

    weak, strong = candidate("weak text", 0.1), candidate("strong text", 0.9)
    asked = request(tokenizer=Counting())
    for _ in range(3):
        Floor(min_score=0.5, min_tokens=1)((weak, strong), asked)

    assert counted == ["strong text"]


@pytest.mark.parametrize(
    "options",
    [
        {"min_score": float("nan")},
        {"min_score": float("inf")},
        {"min_tokens": -1},
        {"max_per_document": 0},
    ],
)
def test_bounds_that_bound_nothing_are_refused(options):
    """X1: the error names the option and the value."""
    (name,) = options
    with pytest.raises(BadOption, match=f"floor: {name} is"):
        Floor(**options)

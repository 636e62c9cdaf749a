"""Shortlist: what the budget could never reach is not looked at."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadOption
from foveate.core.stages.shortlist import Shortlist
from foveate.core.types import Decision, rank
from foveate.core.zones import Budget
from foveate.pipeline.assembler import assemble
from foveate.testing.fakes import WordTokenizer, candidate, request
from foveate.testing.strategies import cases

TEN = "one two three four five six seven eight nine ten"


def pool(n):
    """`n` candidates of ten words, the worst first."""
    return tuple(candidate(TEN, i / n, id=f"c{i:03}") for i in range(n))


def test_the_best_stay_until_the_reach_is_passed():
    """S1: kept while no more than `times` budgets stand before; position and tokens are told."""
    step = Shortlist(times=2, least=0)(pool(6), request(budget=15))

    assert [c.id for c in step.candidates] == ["c002", "c003", "c004", "c005"]
    assert step.decisions == (
        Decision(
            chunk_id="c001",
            action="dropped",
            reason="beyond_reach",
            numbers={"rank": 5, "ahead": 40},
        ),
        Decision(
            chunk_id="c000",
            action="dropped",
            reason="beyond_reach",
            numbers={"rank": 6, "ahead": 40},
        ),
    )


def test_the_least_stays_whatever_the_budget():
    """S1: a small budget still looks at `least` tokens."""
    step = Shortlist(times=1, least=30)(pool(6), request(budget=1))

    assert [c.id for c in step.candidates] == ["c002", "c003", "c004", "c005"]


def test_where_all_is_in_reach_nothing_happens():
    """S1: the very candidates that came in go out, without a decision."""
    candidates = pool(6)
    step = Shortlist()(candidates, request(budget=15))

    assert step.candidates is candidates
    assert step.decisions == ()


def test_characters_are_reached_in_characters():
    """B6: where characters alone are limited, they are counted, and no token is."""
    asked = request(budget=Budget(documents=None, characters=50, window=None))
    step = Shortlist(times=2, least=0)(pool(6), asked)

    assert [c.id for c in step.candidates] == ["c003", "c004", "c005"]
    assert [d.numbers["ahead"] for d in step.decisions] == [3 * len(TEN)] * 3


def test_side_knowledge_is_neither_counted_nor_dropped():
    """S11: what the gate let in stays, wherever it ranks."""
    aside = candidate(TEN, -1.0, id="aside", origin="supplement")
    step = Shortlist(times=1, least=0)((aside, *pool(4)), request(budget=5))

    assert [c.id for c in step.candidates] == ["aside", "c003"]


def test_only_what_stays_is_counted():
    """B7: of a thousand texts the tokenizer sees as many as stay."""
    seen = []

    class Counting(WordTokenizer):
        def count(self, text):
            seen.append(text)
            return super().count(text)

    texts = tuple(candidate(f"{TEN} {i}", i / 1000, id=f"c{i}") for i in range(1000))
    step = Shortlist(times=1, least=0)(texts, request(budget=50, tokenizer=Counting()))

    assert len(seen) == len(step.candidates) == 5


@given(case=cases(3), times=st.integers(1, 4), least=st.integers(0, 40))
def test_what_stays_is_a_head_of_the_ranking(case, times, least):
    """S1: nobody stays who ranks behind one that was dropped."""
    candidates, asked = case
    step = Shortlist(times=times, least=least)(candidates, asked)
    dropped = {d.chunk_id for d in step.decisions}
    ranked = [c.id for c in sorted(candidates, key=rank) if c.origin != "supplement"]

    assert ranked[len(ranked) - len(dropped) :] == [i for i in ranked if i in dropped]
    assert [c for c in candidates if c.id not in dropped] == list(step.candidates)


@given(case=cases(1), more=st.integers(1, 200))
def test_a_larger_budget_drops_no_more(case, more):
    """D7: what is in reach of a budget is in reach of a larger one."""
    candidates, asked = case
    stage = Shortlist(times=1, least=0)
    budget = replace(asked.budget, documents=(asked.budget.documents or 1) + more)
    small = {c.id for c in stage(candidates, asked).candidates}
    large = {c.id for c in stage(candidates, replace(asked, budget=budget)).candidates}

    assert asked.budget.documents is None or small <= large


@pytest.mark.parametrize(
    ("name", "value"), [("times", 0), ("times", 1.5), ("least", -1), ("least", True)]
)
def test_a_list_shorter_than_a_budget_is_refused(name, value):
    """X1: the error names the option and what is allowed."""
    with pytest.raises(BadOption, match=f"shortlist: {name} is"):
        Shortlist(**{name: value})


def test_an_oversized_candidate_pushes_nothing_out() -> None:
    """J1, J6: behind a text of many budgets, a small one is shown; or the best, cut."""
    large = " ".join(f"Word {n} stands here in the long text." for n in range(8_000))
    small = "The office closes at five on Fridays."
    pool = [{"id": "a", "text": large, "score": 0.9}, {"id": "b", "text": small, "score": 0.4}]

    for recipe in ("default", "tight", "agent-session"):
        context = assemble("When does the office close?", pool, recipe=recipe, budget=500)
        assert small in str(context), recipe
    for recipe in ("citations", "reranked", "chat", "factual-qa"):  # go by the score
        context = assemble("When does the office close?", pool, recipe=recipe, budget=500)
        assert context.blocks[0].text.startswith("Word 0 stands here"), recipe

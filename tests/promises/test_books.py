"""The books: every fault is found, and the message names the candidate and what is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foveate.core import balance as module
from foveate.core.balance import balance, run_stage
from foveate.core.errors import StageBroke
from foveate.core.types import Decision, Step
from foveate.testing.fakes import candidate, request

A = candidate("first", 0.9, id="a")
B = candidate("second", 0.5, id="b")
C = candidate("third", 0.1, id="c")
BETTER = replace(B, score=0.8)


def said(chunk_id, action):
    """A decision with a reason."""
    return Decision(chunk_id=chunk_id, action=action, reason="because")


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(Step(candidates=(A, B)), id="nothing"),
        pytest.param(Step(candidates=(B, A)), id="moved"),
        pytest.param(Step(candidates=(A, replace(B))), id="copied"),
        pytest.param(Step(candidates=(A,), decisions=(said("b", "dropped"),)), id="dropped"),
        pytest.param(Step(candidates=(A,), decisions=(said("b", "merged"),)), id="merged"),
        pytest.param(Step(candidates=(A, BETTER), decisions=(said("b", "changed"),)), id="changed"),
        pytest.param(Step(candidates=(A, BETTER), decisions=(said("b", "kept"),)), id="kept"),
        pytest.param(Step(candidates=(A, B, C), decisions=(said("c", "entered"),)), id="entered"),
    ],
)
def test_balanced_books_pass(step):
    """S12: one decision for each that left, entered or changed, none for the rest, is all well."""
    balance((A, B), step)
    assert step.candidates


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        pytest.param(Step(candidates=(A,)), "'b' left without a decision", id="lost"),
        pytest.param(Step(candidates=(A, B, C)), "'c' entered without a decision", id="invented"),
        pytest.param(
            Step(candidates=(A, BETTER)), "'b' changed without a decision", id="changed silently"
        ),
        pytest.param(
            Step(candidates=(A,), decisions=(said("b", "dropped"), said("b", "merged"))),
            "'b' has two decisions, 'dropped' and 'merged'",
            id="told twice",
        ),
        pytest.param(
            Step(candidates=(A, B), decisions=(said("x", "dropped"),)),
            "'x' has a decision 'dropped' but never was there",
            id="a ghost",
        ),
        pytest.param(
            Step(candidates=(A, B), decisions=(said("b", "kept"),)),
            "'b' has a decision 'kept' but did not change",
            id="nothing happened",
        ),
        pytest.param(
            Step(candidates=(A, B), decisions=(said("b", "dropped"),)),
            "'b' has a decision 'dropped' but did not change",
            id="dropped and still there",
        ),
        pytest.param(
            Step(candidates=(A,), decisions=(said("b", "entered"),)),
            "'b' left, but its decision says 'entered'",
            id="wrong action for a loss",
        ),
        pytest.param(
            Step(candidates=(A, B, C), decisions=(said("c", "kept"),)),
            "'c' entered, but its decision says 'kept'",
            id="wrong action for an entry",
        ),
        pytest.param(
            Step(candidates=(A, BETTER), decisions=(said("b", "merged"),)),
            "'b' changed, but its decision says 'merged'",
            id="wrong action for a change",
        ),
        pytest.param(Step(candidates=(A, B, B)), "'b' is in the output twice", id="one twice"),
        pytest.param(
            Step(candidates=(A, B, BETTER)), "'b' is in the output twice", id="two of one id"
        ),
        pytest.param((A, B), "handed back tuple; it must return a Step", id="no step"),
        pytest.param(Step(candidates=[A, B]), "its candidates are a list", id="a list"),
        pytest.param(Step(candidates=(A, "b")), "its candidates hold a str", id="a string"),
        pytest.param(
            Step(candidates=(A, B), decisions=("b",)), "its decisions hold a str", id="no decision"
        ),
    ],
)
def test_a_fault_is_named(step, fault):
    """S12: unbalanced books raise `StageBroke` with the candidate's id and the fault."""
    with pytest.raises(StageBroke) as error:
        balance((A, B), step)
    assert fault in str(error.value)


def test_the_stage_is_named_where_it_is_known():
    """S12: the message starts with the stage that broke the law."""

    def lose_all(_candidates, _request):
        return Step(candidates=())

    with pytest.raises(StageBroke, match="^stage lose_all: candidate 'a'"):
        run_stage(lose_all, (A,), request())


def test_what_stayed_is_not_looked_at(monkeypatch):
    """S12: of a hundred candidates one of which changed, one is compared."""
    explained, asked = module._check_decision, []
    monkeypatch.setattr(
        module, "_check_decision", lambda *on: asked.append(on[1]) or explained(*on)
    )
    pool = tuple(candidate(f"text {n}", n / 100, id=f"c{n}") for n in range(100))
    better = replace(pool[7], score=2.0)
    step = Step(candidates=(better, *pool[:7], *pool[8:]), decisions=(said("c7", "changed"),))
    balance(pool, step)

    assert asked == [better]


def test_one_that_stayed_does_not_come_in_again():
    """S12: what is the same, and another of its id beside it, is told, however it came there."""
    for twice in ((A, B, BETTER), (A, B, B), (A, B, replace(B))):
        with pytest.raises(StageBroke, match="'b' is in the output twice"):
            balance((A, B), Step(candidates=twice, decisions=(said("b", "changed"),)))

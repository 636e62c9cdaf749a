"""Inputs made to blow up: the work that they take grows in proportion to their size."""

from __future__ import annotations

import pytest
from bench.worst_cases import CASES, TIMES, Work, counting, run

from foveate.core.recipes import builtin_recipes

# 1 is in proportion, 2 is quadratic; beside the fixed costs, sorting and searching are n log n.
STEEPEST = 1.4
FEW = 24  # chunks: with fewer, no text is laid beside another


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """What is loaded and compiled once is no work of a case."""
    for case in CASES:
        run(case, 2)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_worst_case_blows_up(case):
    """Calls, characters counted and memory of the default recipe grow in proportion."""
    few, many = run(case, case.small), run(case, TIMES * case.small)

    for measure in ("calls", "read", "peak"):
        assert few.exponent(many, measure) <= STEEPEST, measure


@pytest.mark.parametrize("name", [name for name in builtin_recipes() if name != "default"])
def test_no_recipe_blows_up_on_copies_and_overlaps(name):
    """The cases of many chunks, for every recipe, by calls."""
    for case in CASES:
        if case.name in ("overlaps, nearly", "chain of near copies"):
            few, many = run(case, FEW, name), run(case, TIMES * FEW, name)
            assert few.exponent(many, "calls") <= STEEPEST, case.name


def test_compared_pairs_stay_near_the_number_of_chunks():
    """Of ten thousand possible pairs, a few for each chunk are compared in full."""
    chain = next(case for case in CASES if case.name == "chain of near copies")
    work = run(chain, 100)

    assert work.compared == 0  # each has words of weight that its neighbours lack


def test_the_measure_sees_quadratic_work():
    """Else the tests above would prove nothing."""

    def pairs(n: int) -> int:
        return counting(lambda: [len(str(i + j)) for i in range(n) for j in range(n)])[1]

    few, many = Work(size=100, calls=pairs(10)), Work(size=400, calls=pairs(40))

    assert few.exponent(many, "calls") > 1.8

"""Means, paired differences and tables of a model's answers, worked by hand."""

from __future__ import annotations

import pytest

from foveate.evals.figures import to_json
from foveate.evals.rows import Row
from foveate.evals.summary import ANSWERS, summarise_answers
from foveate.evals.tables import answer_table, table_to_markdown


def outcomes(name, base, ours, *, failed="", **more):
    """One question a pair of probabilities, at one budget."""
    made = []
    for recipe, values in (("naive", base), ("default", ours)):
        for n, value in enumerate(values):
            place = {"dataset": name, "id": f"q{n}", "recipe": recipe, "budget": 500}
            measures = {**dict.fromkeys(ANSWERS), "logprob": value, **more}
            made.append(Row(**place, failed=failed, measures=measures))
    return made


def test_means_and_differences_by_hand():
    """E1: a mean over what has a value; a difference over the questions that have both."""
    found = summarise_answers(
        outcomes("farm", [-3.0, -2.0, None, -1.0], [-1.0, -2.0, -9.0, None]),
        baseline="naive",
        model="m",
    )
    base, ours = (cell.figures["logprob"] for cell in found.cells)

    assert (base.mean, base.known, base.difference) == (-2.0, 3, None)
    assert (ours.mean, ours.known, ours.pairs) == (-4.0, 3, 2)
    # pairs: +2 and 0; of the draws of four questions, means lie between those two
    assert ours.difference.value == 1.0
    assert (ours.difference.low, ours.difference.high) == (0.0, 2.0)
    assert ours.difference.verdict == ""
    assert all(found.cells[1].figures[name].mean is None for name in ANSWERS[1:])


def test_pairs_cancel_what_is_hard_for_both():
    """E1: questions far apart, each half a unit better: the interval is a point."""
    found = summarise_answers(
        outcomes("farm", [-9.0, -1.0, -4.0], [-8.5, -0.5, -3.5]), baseline="naive", model="m"
    )
    difference = found.overall[1].figures["logprob"].difference

    assert (difference.value, difference.low, difference.high) == pytest.approx((0.5, 0.5, 0.5))
    assert difference.verdict == "better"


def test_every_set_counts_the_same():
    """E1: overall is the mean of the sets, however many questions they have; failures add up."""
    many = outcomes("many", [-2.0] * 9, [-1.0] * 9)
    few = outcomes("few", [-2.0], [-5.0], failed="model m: answered 503")
    found = summarise_answers([*many, *few], baseline="naive", model="m")
    base, ours = found.overall

    assert (base.figures["logprob"].mean, ours.figures["logprob"].mean) == (-2.0, -3.0)
    assert ours.figures["logprob"].difference.value == pytest.approx(-1.0)
    assert (ours.questions, ours.failed, ours.figures["logprob"].pairs) == (10, 1, 10)


def test_same_input_same_figures():
    """D1, E1: the draws are seeded, and do not depend on what other sets there are."""
    alone = outcomes("farm", [-3.0, -2.0, -7.0], [-1.0, -2.5, -6.0])
    once = summarise_answers(alone, baseline="naive", model="m")
    again = summarise_answers(
        [*outcomes("else", [-1.0], [-2.0]), *alone], baseline="naive", model="m"
    )

    assert once.cells == tuple(cell for cell in again.cells if cell.dataset == "farm")


def test_tables_and_json():
    """E2: measures that nothing has are left out; how many have one is said; failed is shown."""
    found = summarise_answers(
        outcomes("farm", [-3.0, None], [-1.0, -2.0], f1=0.5, failed="x"),
        baseline="naive",
        model="told",
        tokens=32,
    )
    overall = answer_table(found)
    record = to_json(found)

    assert overall.head == ("recipe", "measure", "mean", "difference", "questions")
    assert overall.title == "Answers of told, at most 32 tokens; failed: naive 2, default 2"
    text = table_to_markdown(overall, 100)
    assert "| naive   | log-probability | -3.000 | -" in text
    assert "| 1 of 2         |" in text
    assert [row[1] for row in overall.rows] == ["log-probability", "F1"] * 2
    assert overall.rows[2][4] == "2 of 2, 1 both"
    assert record["cells"][1]["logprob"]["pairs"] == 1
    assert record["cells"][1]["f1"]["verdict"] == ""
    assert record["overall"][0]["questions"] == 2
    assert "dataset" not in record["overall"][0]

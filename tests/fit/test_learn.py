"""Learning: what is planted is found, every set counts the same, and weights come out short."""

from __future__ import annotations

import numpy as np
import pytest
from tools.fit import learn
from tools.fit.learn import fit, objective, over, setup_of
from tools.fit.units import NAMES, Units

PLANTED = {"match": 4.0, "around": 2.0, "bulk": -2.0}
SENTENCES = 20


def units(questions: int = 150, seed: int = 1, name: str = "one") -> Units:
    """Questions of which one sentence in twenty holds the evidence, by the planted weights."""
    rng = np.random.default_rng(seed)
    traits = rng.normal(size=(questions * SENTENCES, len(NAMES)))
    score = traits @ [PLANTED.get(trait, 0.0) for trait in NAMES]
    chance = np.exp(score).reshape(questions, SENTENCES)
    chance /= chance.sum(axis=1, keepdims=True)
    gold = np.zeros((questions, SENTENCES))
    for row, odds in zip(gold, chance, strict=True):
        row[rng.choice(SENTENCES, p=odds)] = 1.0
    return Units(
        traits=traits,
        costs=np.full(questions * SENTENCES, 10.0),
        gold=gold.ravel(),
        first=np.arange(questions + 1) * SENTENCES,
        sets=np.array([name] * questions),
    )


def joined(*some: Units) -> Units:
    """All questions of all."""
    ends = np.cumsum([0, *(len(one.gold) for one in some)])
    firsts = [one.first[:-1] + end for one, end in zip(some, ends, strict=False)]
    return Units(
        traits=np.concatenate([one.traits for one in some]),
        costs=np.concatenate([one.costs for one in some]),
        gold=np.concatenate([one.gold for one in some]),
        first=np.concatenate([*firsts, ends[-1:]]),
        sets=np.concatenate([one.sets for one in some]),
    )


@pytest.fixture(autouse=True)
def small_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets of which these questions have more."""
    monkeypatch.setattr(learn, "BUDGETS", (26, 52, 104))


def test_what_is_planted_is_found() -> None:
    """S8: the traits that decide get the weights, in their order and with their signs."""
    found = fit(units())
    others = [abs(value) for trait, value in found.items() if trait not in PLANTED]

    assert found["match"] > found["around"] > 2 * max(others)
    assert -found["bulk"] > 2 * max(others)


def test_where_nothing_is_taught_the_weights_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """S8: budgets that hold all leave the equal weights, each with the sign of its trait."""
    monkeypatch.setattr(learn, "BUDGETS", (10_000,))
    some = units()
    by_deviation = [
        value * scale
        for value, scale in zip(fit(some).values(), some.traits.std(axis=0), strict=True)
    ]

    signs = [0 if trait == "length" else -1 if trait in {"place", "bulk"} else 1 for trait in NAMES]
    assert by_deviation == pytest.approx([learn.PRIOR * sign for sign in signs])


def test_every_set_counts_the_same() -> None:
    """S8: a set that is there three times over has no more say than once."""
    one, two = units(seed=1), units(seed=2, name="two")
    once, thrice = fit(joined(one, two), steps=20), fit(joined(one, two, two, two), steps=20)

    assert [thrice[trait] for trait in NAMES] == pytest.approx(
        [once[trait] for trait in NAMES], abs=0.05
    )


def test_questions_without_evidence_or_over_no_budget_teach_nothing() -> None:
    """S8: what holds no evidence is left out; what fits whole has no slope."""
    some = units(30)
    silent = Units(
        traits=some.traits,
        costs=some.costs,
        gold=some.gold * 0,
        first=some.first,
        sets=some.sets,
    )
    setup = setup_of(joined(some, silent))

    assert len(setup.starts) == 30
    assert setup.weight.sum() == pytest.approx(1.0)
    assert over(setup, SENTENCES * 13) is None
    assert objective([], np.ones(len(NAMES)))[1].tolist() == [0.0] * len(NAMES)

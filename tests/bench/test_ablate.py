"""`make ablate` finds what can be switched, switches it, and puts it back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.ablate.run import compare, effects, sample_of
from bench.ablate.switches import all_switches

import foveate
from command_line import CHUNKS
from foveate.core.recipes import builtin_recipes
from golden_cases import records

SWITCHES = all_switches()
KINDS = ("stage", "option", "trait", "reader", "rule", "constant")


def written(folder: Path) -> str:
    """A file of the golden cases of the tests."""
    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records()), encoding="utf-8")
    return str(path)


def test_every_kind_is_found_and_no_name_twice():
    """K1: stages, options, traits, readers, rules and constants, each by a name of its own."""
    names = [f"{one.kind} {one.name}" for one in SWITCHES]

    assert {one.kind for one in SWITCHES} == set(KINDS)
    assert len(names) == len(set(names))
    assert "reader all readers of shapes" in names


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_switched_is_put_back(kind):
    """K1: behind a switch the same context comes out as before."""
    query = "Which pressure does the boiler need?"
    before = foveate.assemble(query, CHUNKS, budget=200).text

    for switch in [one for one in SWITCHES if one.kind == kind][:4]:
        values = [(place, name) for place, name, _ in switch.patches]
        with switch.done() as recipe:
            assert recipe != builtin_recipes()["default"] or values
        assert foveate.assemble(query, CHUNKS, budget=200).text == before


def test_a_stage_that_matters_is_seen(tmp_path):
    """K1: the weights of all traits at zero lose evidence, and the table says so."""
    sample = sample_of([written(tmp_path)], 3, [60])
    rows, _ = sample.rows(builtin_recipes()["default"])
    worse = [(recall - 0.5, complete, tokens) for recall, complete, tokens in rows]

    effect = compare(SWITCHES[0], sample, rows, worse, 1.0)

    assert effect.recall == pytest.approx(-0.5)
    assert effect.is_seen


def test_each_switch_has_its_line(tmp_path):
    """K1: every switch that is asked for is tried, in processes of their own."""
    sample = sample_of([written(tmp_path)], 2, [60])

    found = [*effects(sample, jobs=2, only="stage ")]

    assert [one.name for one in found] == [one.name for one in SWITCHES if one.kind == "stage"]

"""The mutation fuzzer, a few of its mutants; `make mutants` makes as many as one likes."""

from __future__ import annotations

from collections import Counter
from random import Random

import mutants
from foveate.testing.markers import markers_in


def test_no_mutant_of_a_rendering_passes_for_structure():
    """R3, C1: signed, listed, ranged, spaced, in other brackets: every message is read back."""
    outcomes = mutants.run(len(mutants.RENDERERS) * 30, seed=1)

    assert outcomes["broken"] == 0
    assert mutants.last_lines(9, Counter({"numbered": 9})) == (
        "mutants of numbered 9\nmutants: 9, 0 broken"
    )


def test_the_mutants_hold_markers():
    """R3: three in ten and more would be read as markers, if nothing was neutralised."""
    made = [mutants.mutant(Random(seed)) for seed in range(10_000)]

    assert sum(bool(markers_in(one)) for one in made) > 3_000


def test_every_change_changes_something():
    """R3: each kind of mutation makes another text of a rendered header."""
    for change in mutants.CHANGES:
        text = "[1] Source: A.md, page 2\n[SOURCE 1] See [2]."
        assert {change(text, Random(seed)) for seed in range(9)} != {text}

"""Bundles recorded once and kept: every built-in recipe still makes the same bytes of them."""

from __future__ import annotations

from typing import Any

import pytest

import bundles
from foveate.core.recipes import builtin_recipes

CASES = [(name, budget) for name in builtin_recipes() for budget in bundles.BUDGETS]


def fates(bundle: dict[str, Any]) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """What each stage decided, and why; the numbers of a reason are its stage's own."""
    return [
        (stage["stage"], [(d["chunk_id"], d["action"], d["reason"]) for d in stage["decisions"]])
        for stage in bundle["trace"]
    ]


@pytest.mark.parametrize(("recipe", "budget"), CASES)
def test_a_recorded_bundle_gives_the_same_bytes(recipe: str, budget: int) -> None:
    """D4 D1 P1: prose, tables, code, near copies and forgeries, in a small and a large context."""
    old = bundles.bundle_of(recipe, budget)
    new = bundles.replay(old)

    assert new["text"] == old["text"]
    assert fates(new) == fates(old)
    for name in ("inputs_hash", "query_hash", "budget_hash", "output_hash", "token_count"):
        assert new["manifest"][name] == old["manifest"][name]


@pytest.mark.parametrize("recipe", builtin_recipes())
def test_a_recipe_by_name_gives_what_its_bundle_holds(recipe: str) -> None:
    """D4 P2: the recipe of the bundle is the one that the name stands for."""
    for budget in bundles.BUDGETS:
        old = bundles.bundle_of(recipe, budget)
        assert bundles.make(recipe, budget)["text"] == old["text"]

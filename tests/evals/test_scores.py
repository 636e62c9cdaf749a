"""Variants of the scores, and what they do to a context (SPEC J1)."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from foveate.core.errors import BadOption, UnknownName
from foveate.evals.cases import Case
from foveate.evals.read import read_cases
from foveate.evals.run import run
from foveate.evals.scores import noisy, oracle, rescore_cases, split_label
from foveate.evals.trials import build_setting
from score_cases import score_cases

DATA = Path(os.environ.get("FOVEATE_DATA", "")) / "dev"
SHARES = ("noisy:0.8", "noisy:0.6", "noisy:0.4")
RECIPES = ("default", "tight")


def rescored(cases: Sequence[Case], *names: str) -> tuple[Case, ...]:
    """The cases with these variants."""
    return rescore_cases(cases, names)


def missed(cases: Sequence[Case], budgets: Sequence[int]) -> dict[tuple[str, str], float]:
    """(set, recipe) → the share of the evidence that is missed, over the budgets."""
    setting, _ = build_setting(RECIPES, budgets)
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in run(cases, setting):
        if row.budget:
            found[split_label(row.dataset)[0], row.recipe].append(1 - row.measures["recall"])
    return {key: fmean(values) for key, values in found.items()}


def mean_missed(cases: Sequence[Case], budgets: Sequence[int]) -> dict[str, float]:
    """Recipe → the mean over the sets."""
    found = missed(cases, budgets)
    return {
        recipe: fmean(value for (_, name), value in found.items() if name == recipe)
        for recipe in ("naive", *RECIPES)
    }


def test_the_oracle_knows_the_evidence():
    """J1: gold chunks 0.99 and first, all others at most 0.30 and in their order."""
    case = oracle(score_cases()[-1])
    gold, others = case.chunks[:2], case.chunks[2:]

    assert [(chunk.is_gold, chunk.score) for chunk in gold] == [(True, 0.99)] * 2
    assert max(chunk.score for chunk in others) <= 0.30
    assert [chunk.id for chunk in others] == [
        chunk.id for chunk in score_cases()[-1].chunks if not chunk.is_gold
    ]


def test_a_noisy_retriever_is_right_in_a_share_of_the_questions():
    """J1: the same questions each time; where it is wrong, as many chunks are as high."""
    for share in (0.0, 0.4, 1.0):
        found = [noisy(case, share) for case in score_cases()]
        right = [all(chunk.is_gold == (chunk.score == 0.99) for chunk in c.chunks) for c in found]
        counts = [sum(chunk.score == 0.99 for chunk in case.chunks) for case in found]

        assert found == [noisy(case, share) for case in score_cases()]
        assert fmean(right) == pytest.approx(share, abs=0.15)
        assert counts == [sum(chunk.is_gold for chunk in case.chunks) for case in found]
        assert all(
            any(chunk.is_gold for chunk in case.chunks if chunk.score == 0.99) == is_right
            for case, is_right in zip(found, right, strict=True)
        )


def test_every_variant_keeps_the_chunks_and_names_its_set():
    """J1: only scores, their order and the set's name differ."""
    names = ("given", "oracle", "noisy:0.6", "none")
    cases = score_cases()[:2]
    found = rescored(cases, *names)

    assert [split_label(case.dataset)[1] for case in found[::2]] == list(names)
    assert found[:2] == cases
    assert {frozenset(chunk.id for chunk in case.chunks) for case in found[::2]} == {
        frozenset(chunk.id for chunk in cases[0].chunks)
    }
    for case in found[2:]:
        scores = [chunk.score for chunk in case.chunks]
        assert scores == sorted(scores, reverse=True)


def test_places_in_a_list_are_scores():
    """J1: without scores, the order stays and is the score."""
    case = score_cases()[0]
    (found,) = rescored([case], "none")

    assert found.chunks[0].score == pytest.approx(1 / 61)
    assert [chunk.id for chunk in found.chunks] == [chunk.id for chunk in case.chunks]


REFUSED = {
    "unknown": (["orakel"], UnknownName, "did you mean 'oracle'"),
    "twice": (["none", "none"], BadOption, "each variant once"),
    "no variant": ([], BadOption, "each variant once"),
    "no share": (["noisy:x"], BadOption, "between 0 and 1"),
    "too large": (["noisy:2"], BadOption, "between 0 and 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unusable_variants_are_refused(name):
    """X1: before any work, with what to give instead."""
    names, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        rescored(score_cases(), *names)


def test_cases_without_gold_have_no_oracle():
    """X1: an oracle that knows nothing is refused."""
    case = score_cases()[0]
    bare = replace(case, chunks=tuple(replace(c, is_gold=False) for c in case.chunks))
    with pytest.raises(BadOption, match="no chunk of any case is marked as gold"):
        rescored([bare], "oracle")


def test_with_the_scores_of_an_oracle_no_less_is_found_than_by_cutting():
    """J1: on each set, words that mislead included."""
    found = missed(rescored(score_cases(), "oracle"), [60, 120, 240])

    for (name, recipe), value in found.items():
        assert value <= found[name, "naive"], (name, recipe)


def test_with_noisy_scores_no_less_is_found_than_by_scores_or_words_alone():
    """J1: averaged over retrievers that are right in 80, 60 and 40 % of the questions."""
    budgets = [60, 180]
    cases = score_cases()
    found = [mean_missed(rescored(cases, share), budgets) for share in SHARES]
    equal = [replace(c, chunks=tuple(replace(p, score=0.5) for p in c.chunks)) for c in cases]
    words = mean_missed(equal, budgets)

    for recipe in RECIPES:
        both = min(fmean(one["naive"] for one in found), words[recipe])
        assert fmean(one[recipe] for one in found) <= both + 0.005, recipe


def test_the_oracle_in_the_mean():
    """J1: on every 48th question of the development sets if they are there, else on our own."""
    files = sorted(DATA.glob("*.jsonl.gz"))
    cases = [case for path in files for case in read_cases([str(path)])[::48]] or score_cases()
    found = missed(rescored(cases, "oracle"), [500, 1_000])
    by_recipe = defaultdict(list)
    for (_, recipe), value in found.items():
        by_recipe[recipe].append(value)

    assert fmean(by_recipe["default"]) <= fmean(by_recipe["naive"])
    assert fmean(by_recipe["tight"]) <= fmean(by_recipe["naive"])

"""Weights for each set from the other sets alone, and what the pipeline finds with them.

Sets that share questions or documents are left out together: those whose names are the same up to
the first underscore (`covidqa` and `covidqa_mix`) are one *family*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from tools.fit.learn import BUDGETS, fit, rounded
from tools.fit.trial import recipe_with
from tools.fit.units import Units

from foveate.evals.cases import Case
from foveate.evals.figures import Summary
from foveate.evals.rows import Row
from foveate.evals.run import Progress, run
from foveate.evals.scores import split_label
from foveate.evals.summary import summarise
from foveate.evals.trials import build_setting

NAIVE, SHIPPED, ALL, LEFT_OUT = "naive", "default", "refitted", "left out"
"""Of the recipes: the baseline; the weights as they stand; fitted to all sets; to the others."""

Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fits:
    """Rounded weights: from all sets, and for each family from the others."""

    all: Weights
    without: Mapping[str, Weights]


def family(name: str) -> str:
    """What a set shares its questions or documents with.

    >>> family("covidqa_mix"), family("nq20"), family("nq20 (oracle)")
    ('covidqa', 'nq20', 'nq20')
    """
    return split_label(name)[0].partition("_")[0]


def families(sets: Sequence[str]) -> tuple[str, ...]:
    """In the order of their first set."""
    return tuple(dict.fromkeys(family(name) for name in sets))


def fits(units: Units, progress: Progress) -> Fits:
    """All of them; each is fitted from nothing, so that no other set has a say in it."""
    names = families(units.sets.tolist())
    own = np.array([family(name) for name in units.sets.tolist()])
    without = {}
    for number, name in enumerate(names, 1):
        progress(number, len(names) + 1, f"without {name}")
        without[name] = rounded(fit(units.of(own != name)))
    progress(len(names) + 1, len(names) + 1, "all")
    return Fits(all=rounded(fit(units)), without=without)


def tried(cases: Sequence[Case], found: Fits, progress: Progress) -> Summary:
    """Every set by the baseline, the weights as they stand, and the fitted ones."""
    rows: list[Row] = []
    done = 0
    for name, weights in found.without.items():
        mine = [case for case in cases if family(case.dataset) == name]
        fitted = (recipe_with(found.all, ALL), recipe_with(weights, LEFT_OUT))
        settings, _ = build_setting([NAIVE, SHIPPED, *fitted], BUDGETS, baseline=NAIVE)
        each = len(settings.recipes) * len(BUDGETS) + 1  # the whole pool is a trial too
        before, done = done, done + each * len(mine)

        def tell(n: int, _: int, dataset: str, before: int = before, each: int = each) -> None:
            progress(before + n, each * len(cases), dataset)

        rows += run(mine, settings, on_progress=tell)
    return summarise(rows, baseline=NAIVE, tokenizer=settings.tokenizer)

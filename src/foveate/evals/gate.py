"""A regression check: against the baseline, and against an earlier evaluation.

`--gate` fails where a recipe's recall, over all sets and budgets, is below the baseline's by more
than `RECALL_LOSS`, or one of its contexts is over its budget. `--against` fails where recall is
significantly below what the same questions had in an earlier evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from foveate.core.errors import BadInput
from foveate.core.typed import read_value
from foveate.evals.bootstrap import interval, resampled_means
from foveate.evals.figures import SCHEMA, Summary
from foveate.evals.tables import count_contexts

RECALL_LOSS = 0.01
"""How far a recipe's recall may be below the baseline's."""

_NOT_A_SUMMARY = "is no summary of an evaluation; give the summary.json of one"


def find_losses(summary: Summary) -> list[str]:
    """What a recipe loses against the baseline, a sentence each with the figure and the limit."""
    found = []
    for one in summary.overall:
        difference = one.figures["recall"].difference
        if difference is not None and difference.value < -RECALL_LOSS - 1e-9:
            found.append(
                f"{one.recipe} recalls less than {summary.baseline}: {difference.value:+.4f}; "
                f"the limit is -{RECALL_LOSS:g}"
            )
        over = count_contexts(summary, one.recipe, "over")
        if over and one.recipe != summary.baseline:
            found.append(f"{one.recipe} has contexts over their budget: {over}; the limit is 0")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What is read of the `summary.json` of an earlier evaluation."""

    ids: Mapping[str, tuple[str, ...]]
    recalls: Mapping[str, Mapping[str, Mapping[str, tuple[float, ...]]]]
    schema: int = SCHEMA


def read_earlier(record: Any) -> Earlier:
    """The earlier summary; raises `BadInput` unless it is one in the form of this version."""
    try:
        found: Earlier = read_value(Earlier, record)
    except BadInput as error:
        raise BadInput(f"{_NOT_A_SUMMARY}: {error}") from None
    if found.schema != SCHEMA:
        raise BadInput(
            f"is a summary in form {found.schema} and {SCHEMA} is read here; evaluate again with "
            "--out"
        )
    for name, by_recipe in found.recalls.items():
        ids = found.ids.get(name, ())
        lengths = {len(values) for budgets in by_recipe.values() for values in budgets.values()}
        if lengths - {len(set(ids))} or len(set(ids)) != len(ids):
            raise BadInput(_NOT_A_SUMMARY)
    return found


def find_regressions(summary: Summary, earlier: Earlier) -> list[str]:
    """Where this evaluation recalls significantly less than an earlier one.

    Questions are paired by id. Raises `BadInput` if the two share nothing.
    """
    found, shared = [], 0
    for cell in summary.cells:
        name, recipe, budget = cell.dataset, cell.recipe, cell.budget
        values = earlier.recalls.get(name, {}).get(recipe, {}).get(str(budget), ())
        then = dict(zip(earlier.ids[name] if values else (), values, strict=True))
        now = zip(summary.ids[name], summary.recalls[name][recipe][budget], strict=True)
        # rounded to six digits, as those of then were written
        change = [round(value, 6) - then[one] for one, value in now if one in then]
        if not change:
            continue
        shared += 1
        moved = interval(fmean(change), resampled_means(np.array([change]).T, name))
        if moved.verdict == "worse":
            found.append(
                f"{recipe} recalls less than before on {name} at {budget:,} tokens: "
                f"{moved.value:+.4f} [{moved.low:+.4f}, {moved.high:+.4f}]"
            )
    if not shared:
        raise BadInput("the earlier evaluation has no set, recipe and budget of this one")
    return found

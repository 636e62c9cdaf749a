"""A regression check: rules that an evaluation must keep.

The built-in rules hold for any data: no recipe misses more than the baseline, repeats itself, is
over its budget, or is significantly worse than the baseline on any set at any budget. A file of
rules (JSON or TOML) sets others:

    recipes = ["default"]       # which are held to them; else all but the baseline
    max_missed_ratio = 0.5      # share of the baseline's missed evidence
    max_missed = 0.1            # missed evidence, averaged over sets and budgets
    max_redundancy = 0.01       # share of repeated runs of eight words
    max_over = 0                # contexts over their budget
    max_failed = 0              # questions to which nothing fitted
    never_worse = true          # significantly, on any set at any budget
    weighted_ahead = true       # ahead in weighted recall by more than in recall
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput, UnknownName, name_in_errors
from foveate.core.typed import read_record
from foveate.evals.bootstrap import interval, resampled_means
from foveate.evals.figures import SCHEMA, OverallFigures, Summary
from foveate.pipeline.text_files import read_text_file, read_toml_file

_TOLERANCE = 1e-9
"""What a figure may be over its limit by, as sums of floats are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What must hold; None: no limit."""

    recipes: tuple[str, ...] = ()
    max_missed_ratio: float | None = 1.0
    max_missed: float | None = None
    max_redundancy: float | None = 0.01
    max_over: float | None = 0
    max_failed: float | None = None
    never_worse: bool = True
    weighted_ahead: bool = False


def read_rules(name: str) -> Rules:
    """The rules of a file; others keep their built-in values.

    Raises `BadInput` with the file's name.
    """
    read = read_toml_file if name.endswith(".toml") else read_text_file
    found = read(name)
    with name_in_errors(name):
        record = parse_json(found) if isinstance(found, str) else found
        rules: Rules = read_record(Rules, record, "rule")
    return rules


def find_broken_rules(summary: Summary, rules: Rules | None = None) -> list[str]:
    """The rules that do not hold, one sentence each, with the figure and the limit."""
    rules = rules or Rules()
    for name in rules.recipes:
        if name not in summary.recipes:
            raise UnknownName("recipe of the gate", name, summary.recipes)
    held = rules.recipes or tuple(r for r in summary.recipes if r != summary.baseline)
    found = [one for one in summary.overall if one.recipe in held]
    return [said for one in found for said in _broken_rules_of_recipe(one, summary, rules)]


def _broken_rules_of_recipe(one: OverallFigures, summary: Summary, rules: Rules) -> Iterator[str]:
    # A baseline that misses nothing is passed by missing anything.
    ratio = one.ratio.value if one.ratio is not None else inf if one.missed.value > 0 else 0.0
    figures = (
        (f"misses this share of what {summary.baseline} misses", ratio, rules.max_missed_ratio),
        ("misses this share of the evidence", one.missed.value, rules.max_missed),
        ("repeats this share of its words", one.redundancy, rules.max_redundancy),
        ("has this many contexts over their budget", one.over, rules.max_over),
        ("has this many questions without a context", one.failed, rules.max_failed),
    )
    for what, value, limit in figures:
        if value is not None and limit is not None and value > limit + _TOLERANCE:
            yield f"{one.recipe} {what}: {value:.4g}; the limit is {limit:.4g}"
    if rules.never_worse:
        yield from _find_worse_cells(one.recipe, summary)
    ahead, plain = one.weighted_difference.value, one.recall_difference.value
    if rules.weighted_ahead and ahead <= plain:
        yield (
            f"{one.recipe} is ahead by {ahead:+.4f} in weighted recall, "
            f"which is not more than by {plain:+.4f} in recall"
        )


def _find_worse_cells(recipe: str, summary: Summary) -> Iterator[str]:
    for cell in summary.cells:
        difference = cell.recall_difference
        if cell.recipe == recipe and difference is not None and difference.verdict == "worse":
            yield (
                f"{recipe} is worse than {summary.baseline} on {cell.dataset} at "
                f"{cell.budget:,} tokens: {difference.value:+.4f} "
                f"[{difference.low:+.4f}, {difference.high:+.4f}]"
            )


_NOT_A_SUMMARY = "is no summary of an evaluation; give the summary.json of one"


def find_regressions(summary: Summary, earlier: Mapping[str, Any]) -> list[str]:
    """Where this evaluation recalls significantly less than an earlier one.

    `earlier`: the content of its `summary.json`. Questions are paired by id. Raises `BadInput` if
    they share nothing, or it is no summary.
    """
    check_summary(earlier)
    found, shared = [], 0
    for cell in summary.cells:
        name, recipe, budget = cell.dataset, cell.recipe, cell.budget
        pairs = _paired_recalls(summary, earlier, name, recipe, budget)
        if not pairs:
            continue
        shared += 1
        change = np.array(pairs)[:, :1] - np.array(pairs)[:, 1:]
        moved = interval(change.mean(), resampled_means(change, name))
        if moved.verdict == "worse":
            found.append(
                f"{recipe} recalls less than before on {name} at {budget:,} tokens: "
                f"{moved.value:+.4f} [{moved.low:+.4f}, {moved.high:+.4f}]"
            )
    if not shared:
        raise BadInput("the earlier evaluation has no set, recipe and budget of this one")
    return found


def check_summary(earlier: Any) -> None:
    """Raise `BadInput` unless it is what `summary.json` holds, in the form of this version."""
    schema = earlier.get("schema", SCHEMA) if isinstance(earlier, Mapping) else SCHEMA
    if schema != SCHEMA:
        raise BadInput(
            f"is a summary in form {schema!r} and {SCHEMA} is read here; evaluate again with --out"
        )
    try:
        sizes = {
            n: len(ids) if len({*ids}) == len(ids) else -1 for n, ids in earlier["ids"].items()
        }
        rows = [
            (sizes[name], values)
            for name, by_recipe in earlier["recalls"].items()
            for by_budget in by_recipe.values()
            for values in by_budget.values()
        ]
    except (KeyError, AttributeError, TypeError):
        raise BadInput(_NOT_A_SUMMARY) from None
    for size, values in rows:
        fine = isinstance(values, list) and len(values) == size
        if not fine or not all(isinstance(value, int | float) for value in values):
            raise BadInput(_NOT_A_SUMMARY)


def _paired_recalls(
    summary: Summary, earlier: Mapping[str, Any], name: str, recipe: str, budget: int
) -> list[tuple[float, float]]:
    """(now, then) of the questions in both, rounded to six digits as they were written."""
    values = earlier["recalls"].get(name, {}).get(recipe, {}).get(str(budget))
    ids = earlier["ids"][name] if values is not None else ()
    then = dict(zip(ids, values or (), strict=True))
    now = zip(summary.ids[name], summary.recalls[name][recipe][budget], strict=True)
    return [(round(value, 6), then[question]) for question, value in now if question in then]

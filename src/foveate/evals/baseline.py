"""An evaluation against an earlier one: what got worse, by more than chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foveate.core.errors import BadInput
from foveate.evals.bootstrap import interval, resampled_means
from foveate.evals.figures import Summary
from foveate.evals.wire import SCHEMA

_NOT_A_SUMMARY = "is no summary of an evaluation; give the summary.json of one"


def find_regressions(summary: Summary, earlier: Mapping[str, Any]) -> list[str]:
    """Where this evaluation recalls less than an earlier one, by more than chance.

    `earlier`: what its `summary.json` holds. Questions are paired by their ids; what only one of
    the two has is not compared. Raises `BadInput` where they share nothing, or it is no summary.
    """
    import numpy as np

    check_summary(earlier)
    found, shared = [], 0
    for name, recipe, budget in _cell_keys(summary):
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
        sizes = {name: len(set(ids)) for name, ids in earlier["ids"].items()}
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


def _cell_keys(summary: Summary) -> Iterator[tuple[str, str, int]]:
    for cell in summary.cells:
        yield cell.dataset, cell.recipe, cell.budget


def _paired_recalls(
    summary: Summary, earlier: Mapping[str, Any], name: str, recipe: str, budget: int
) -> list[tuple[float, float]]:
    """(now, then) of the questions that both have; values as they were written, to six digits."""
    values = earlier["recalls"].get(name, {}).get(recipe, {}).get(str(budget))
    ids = earlier["ids"][name] if values is not None else ()
    then = dict(zip(ids, values or (), strict=True))
    now = zip(summary.ids[name], summary.recalls[name][recipe][budget], strict=True)
    return [(round(value, 6), then[question]) for question, value in now if question in then]

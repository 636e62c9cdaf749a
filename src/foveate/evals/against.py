"""An evaluation against an earlier one: what got worse, by more than chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foveate.core.errors import BadInput
from foveate.evals.bootstrap import interval, resampled_means
from foveate.evals.figures import Summary


def regressions(summary: Summary, earlier: Mapping[str, Any]) -> list[str]:
    """Where this evaluation recalls less than an earlier one, by more than chance.

    `earlier`: what its `summary.json` holds. Questions are paired by their ids; what only one of
    the two has is not compared. Raises `BadInput` where they share nothing.
    """
    import numpy as np

    found, shared = [], 0
    for name, recipe, budget in _places(summary):
        pairs = _pairs(summary, earlier, name, recipe, budget)
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


def _places(summary: Summary) -> Iterator[tuple[str, str, int]]:
    for cell in summary.cells:
        yield cell.dataset, cell.recipe, cell.budget


def _pairs(
    summary: Summary, earlier: Mapping[str, Any], name: str, recipe: str, budget: int
) -> list[tuple[float, float]]:
    """(now, then) of the questions that both have; values as they were written, to six digits."""
    try:
        values = earlier["recalls"].get(name, {}).get(recipe, {}).get(str(budget))
        ids = earlier["ids"].get(name, ()) if values is not None else ()
        then = dict(zip(ids, values or (), strict=True))
    except (KeyError, AttributeError, TypeError, ValueError):
        raise BadInput("is no summary of an evaluation; give the summary.json of one") from None
    now = zip(summary.ids[name], summary.recalls[name][recipe][budget], strict=True)
    return [(round(value, 6), then[question]) for question, value in now if question in then]

"""What a recipe may not lose against the baseline, for `foveate eval --gate`."""

from __future__ import annotations

from foveate.evals.figures import Summary
from foveate.evals.tables import count_contexts

RECALL_LOSS = 0.01
"""How far a recipe's recall, over all sets and budgets, may be below the baseline's."""


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

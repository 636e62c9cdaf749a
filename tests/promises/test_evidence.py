"""How much evidence `default` shows, beside the figures on record.

Our own cases are always there. The sixteen sets are read where FOVEATE_DATA names their folder, a
sample of each; all of their questions with FULL=1, which fails where the sets are not there.
"""

from __future__ import annotations

import os

import pytest
from bench import evidence

GROUPS = evidence.groups()
FULL = bool(os.environ.get("FULL"))
CHOSEN = ["own", *(["whole"] if FULL else ["sample"] if "sample" in GROUPS else [])]
SLACK = {500: 0.003, 1_000: 0.003}
"""Recall that may be lost at a budget; at any other, nothing."""
ROUNDING = 0.00001


@pytest.mark.parametrize("group", CHOSEN)
def test_no_evidence_is_lost(group: str, figure) -> None:
    """E1: at every budget the mean recall over the sets is that of the record, or more."""
    assert group in GROUPS, f"no set in {evidence.DATA}; set FOVEATE_DATA to the data's folder"
    before = evidence.recorded()[group]
    budgets = evidence.budgets_of(group)
    found = evidence.figures(GROUPS[group], budgets, jobs=2 if FULL else 1)
    was, now = evidence.means(before, budgets), evidence.means(found, budgets)
    moved = {budget: round(now[budget] - was[budget], 4) for budget in budgets}
    by_set = {
        name: [round(found[name][str(b)] - before[name][str(b)], 4) for b in budgets]
        for name in found
    }
    figure(f"evidence, {group}: {len(found)} sets, recall at {', '.join(map(str, now))}: {moved}")

    assert {n: one["hash"] for n, one in found.items()} == {
        n: one["hash"] for n, one in before.items()
    }, "these are other questions: record with: python -m bench.evidence --write"
    lost = [b for b in budgets if now[b] < was[b] - SLACK.get(b, 0) - ROUNDING]
    assert lost == [], by_set

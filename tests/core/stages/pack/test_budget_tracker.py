"""What a candidate costs, and how seldom it is worked out."""

from __future__ import annotations

from foveate.core.renditions import full_rendition
from foveate.core.stages.pack.budget_tracker import tracker_for_budget
from foveate.testing.fakes import candidate, request


def test_what_is_affordable_is_what_fits() -> None:
    """S9: `afford` is the cost where the purse holds it, and nothing where it does not."""
    one = candidate("One two three four.", id="a")
    for tokens in range(1, 12):
        asked = request(budget=tokens)
        tracker = tracker_for_budget(asked.budget, asked.token_counter, None)
        cost = tracker.cost(one, full_rendition(one))

        assert tracker.afford(one, full_rendition(one)) == (cost if tracker.fits(cost) else None)
        assert tracker.fits(cost) == (tracker.short_by(cost) <= 0)

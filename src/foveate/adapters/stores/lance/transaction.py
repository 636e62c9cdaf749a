"""Commits until nobody was faster. Not what a commit is: that is `commit`."""

from __future__ import annotations

import random
import time

from foveate.adapters.stores.lance.commit import Order, planned, write
from foveate.adapters.stores.lance.guard import Faster, guard
from foveate.adapters.stores.lance.place import Place
from foveate.adapters.stores.lance.versions import Versions
from foveate.core.errors import OutsideFailure

_ATTEMPTS = 200
_LONGEST_WAIT = 1.0


def committed(place: Place, versions: Versions, order: Order) -> int:
    """One transaction, worked out anew from each newer version; how many documents went out."""
    for attempt in range(_ATTEMPTS):
        now = versions.current()
        with guard(place):
            plan = planned(now, order)
        if plan is None:
            return 0
        try:
            with guard(place):
                write(
                    place,
                    now,
                    plan.head,
                    removed=plan.removed,
                    updated=plan.updated,
                    added=plan.added,
                )
        except OutsideFailure as error:
            # The answer may have been lost, and not the commit: a request that is sent again can
            # meet what it has done itself.
            if order.number in versions.current().head.recent:
                return plan.went
            if not isinstance(error, Faster):
                raise
            wait = min(_LONGEST_WAIT, 0.01 * 1.5 ** min(attempt, 12))
            time.sleep(random.uniform(0, wait))  # noqa: S311 (so that two do not keep step)
        else:
            return plan.went
    raise OutsideFailure(
        f"store {place.name}: others write without a pause; nothing was changed, try again"
    )

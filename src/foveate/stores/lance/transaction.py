"""Commits until nobody was faster. Not what a commit is: that is `commit`."""

from __future__ import annotations

import random
import time

from foveate.core.errors import ExternalError
from foveate.stores.lance.commit import CommitRequest, plan_commit, write_commit
from foveate.stores.lance.engine_errors import CommitConflict, convert_engine_errors
from foveate.stores.lance.location import Location
from foveate.stores.lance.versions import Versions

_ATTEMPTS = 200
_MAX_WAIT = 1.0


def commit_with_retry(place: Location, versions: Versions, order: CommitRequest) -> int:
    """One transaction, worked out anew from each newer version; how many documents went out."""
    for attempt in range(_ATTEMPTS):
        now = versions.current()
        with convert_engine_errors(place):
            plan = plan_commit(place, now, order)
        if plan is None:
            return 0
        try:
            with convert_engine_errors(place):
                write_commit(
                    place,
                    now,
                    plan.head,
                    removed=plan.removed,
                    updated=plan.updated,
                    added=plan.added,
                )
        except ExternalError as error:
            # The answer may have been lost, and not the commit: a request that is sent again can
            # meet what it has done itself.
            if order.number in versions.current().head.recent:
                return plan.removed_count
            if not isinstance(error, CommitConflict):
                raise
            wait = min(_MAX_WAIT, 0.01 * 1.5 ** min(attempt, 12))
            time.sleep(random.uniform(0, wait))  # noqa: S311 (so that two do not keep step)
        else:
            return plan.removed_count
    raise ExternalError(
        f"store {place.name}: others write without a pause; nothing was changed, try again"
    )

"""Commits until nobody was faster. Not what a commit is: that is `commit`."""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Sequence

from foveate.adapters.stores.lance.commit import commit
from foveate.adapters.stores.lance.guard import Faster, guard
from foveate.adapters.stores.lance.part import Part
from foveate.adapters.stores.lance.place import Place
from foveate.adapters.stores.lance.versions import Versions
from foveate.core.errors import OutsideFailure

_ATTEMPTS = 200
_LONGEST_WAIT = 1.0


def committed(
    place: Place, versions: Versions, parts: Sequence[Part], deleted: Collection[str] = ()
) -> int:
    """One transaction, worked out anew from each newer version; how many documents went out."""
    for attempt in range(_ATTEMPTS):
        now = versions.current()
        try:
            with guard(place):
                return commit(place, now, parts, deleted)
        except Faster:
            wait = min(_LONGEST_WAIT, 0.01 * 1.5 ** min(attempt, 12))
            time.sleep(random.uniform(0, wait))  # noqa: S311 (so that two do not keep step)
        except OutsideFailure:
            # The answer may have been lost, and not the commit.
            if parts and parts[0].segment in versions.current().head.segments:
                return 0
            raise
    raise OutsideFailure(
        f"store {place.name}: others write without a pause; nothing was changed, try again"
    )

from __future__ import annotations

from contextlib import closing

import pytest

import store_kills
from foveate.core.types import content_hash


def test_two_hundred_kills_lose_nothing(tmp_path, figure):
    """T5: killed while it writes, deletes, compacts, copies or searches, a store stays whole."""
    tally = store_kills.kill_often(tmp_path, 204, seed=1)

    figure(str(tally))
    assert tally.kills == dict.fromkeys(store_kills.KINDS, 34)
    assert tally.acknowledged > 100
    assert tally.under_way.total() > 20
    assert tally.copies > 5


def test_a_lost_write_would_be_seen(tmp_path):
    """T5: the comparison fails where an acknowledged document is not there, or another is."""
    folder, tally = tmp_path / "store", store_kills.Tally()
    entry, other = store_kills.versions("d03")
    name, hash_ = entry.document.id, entry.document.content_hash
    with closing(store_kills.opened(folder)) as store:
        entry.put(store)
    assert store_kills.settle(folder, {}, [("begin", {name: hash_})], tally) == 0
    assert store_kills.settle(folder, {}, [("done", {name: hash_})], tally) == 1
    assert tally.under_way == {"kept": 1}
    for state, said in (
        ({}, []),
        ({name: hash_}, [("done", {name: other.document.content_hash})]),
        ({name: hash_}, [("done", {name: ""})]),
        ({name: hash_}, [("done", {"d04": content_hash("x")})]),
    ):
        with pytest.raises(AssertionError, match="acknowledged"):
            store_kills.settle(folder, dict(state), said, tally)

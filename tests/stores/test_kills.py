from __future__ import annotations

from contextlib import closing

import pytest

import store_kills
from foveate.core.seal import content_hash


@pytest.mark.parametrize(
    ("new_url", "kills", "kinds"),
    [
        ("sqlite", 204, store_kills.KINDS),
        pytest.param("lance", 16, store_kills.KINDS[:4], marks=pytest.mark.slow),
        pytest.param("postgresql", 16, store_kills.KINDS[:4], marks=pytest.mark.server),
    ],
    indirect=["new_url"],
)
def test_kills_lose_nothing(new_url, tmp_path, figure, kills: int, kinds: tuple[str, ...]):
    """T5: killed while it writes, deletes, compacts, copies or searches, a store stays whole."""
    tally = store_kills.kill_often(new_url(), tmp_path, kills, seed=1, kinds=kinds)

    figure(str(tally))
    assert tally.kills == dict.fromkeys(kinds, kills // len(kinds))
    assert tally.acknowledged > kills // 2
    assert tally.under_way.total() > kills // 10
    assert tally.copies > 5 or "backup" not in kinds


def test_a_lost_write_would_be_seen(tmp_path):
    """T5: the comparison fails where an acknowledged document is not there, or another is."""
    folder, tally = str(tmp_path / "store"), store_kills.Tally()
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

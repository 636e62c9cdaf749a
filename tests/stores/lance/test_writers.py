from __future__ import annotations

from contextlib import closing

import lance_writers
from foveate.stores.lance import LanceStore, tables


def own(state):
    """Documents that only one writer writes."""
    return {name: hash_ for name, hash_ in state.items() if name.startswith("w")}


def test_writers_side_by_side_lose_nothing(tmp_path):
    """T5: what two processes write at the same time is all there, each document whole."""
    url = f"lance:{tmp_path}/store"
    LanceStore(url, **lance_writers.OPTIONS).close()

    state = lance_writers.write_beside(url, {}, writers=2, writes=20)

    with closing(LanceStore(url, create=False)) as store:
        present = dict(store.documents())
        assert own(present) == own(state)
        assert len(own(state)) == 2 * (20 - 4)
        assert store.version > 2 * 20
    assert {name for name in present if name not in own(present)} == set(state) - set(own(state))
    lance_writers.check_whole(url, present, tmp_path / "plain")


def test_of_two_that_make_a_store_the_second_uses_the_first(tmp_path, monkeypatch):
    """T5: a store that another process made after this one had looked is opened."""
    url = f"lance:{tmp_path}/store"
    first = LanceStore(url, **lance_writers.OPTIONS)
    looked, answers = tables.open_table, iter([None])
    monkeypatch.setattr(tables, "open_table", lambda *place: next(answers, looked(*place)))

    second = LanceStore(url, **lance_writers.OPTIONS)

    with closing(first), closing(second):
        assert second.version == first.version
        assert second.state_root() == first.state_root()

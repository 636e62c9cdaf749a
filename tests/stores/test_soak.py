from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import store_soak
from foveate.core.types import Chunk


def test_readers_and_writers_do_not_disturb_each_other(tmp_path, figure):
    """T5: four readers and two writers see whole states only, and every write is there."""
    soaked = store_soak.soak(tmp_path / "store", 4)

    figure(str(soaked))
    assert (soaked.torn, soaked.errors, soaked.lost) == ((), 0, ())
    assert soaked.reads > 50
    assert soaked.writes > 25


def test_a_torn_read_would_be_seen(tmp_path):
    """T5: parts of two versions, a missing part, and an older version are all noticed."""
    with closing(store_soak.opened(tmp_path)) as store:
        store_soak.put(store, "w0-1", "w0 000002", 3)
        chunks: list[Chunk] = store.neighbours([("w0-1", 0)], 9)
    other = replace(chunks[1], title="w0 000001")
    newer = {"w0-1": "w0 000003"}

    assert store_soak.torn_in(chunks, {}, whole=True) == []
    assert store_soak.torn_in(chunks[1:], {}, whole=False) == []
    assert len(store_soak.torn_in(chunks[1:], {}, whole=True)) == 1
    assert len(store_soak.torn_in([chunks[0], other, chunks[2]], {}, whole=True)) == 1
    assert len(store_soak.torn_in(chunks, newer, whole=True)) == 1
    assert store_soak.lost(tmp_path, [{"w0-1": "w0 000002"}, {}]) == []
    assert store_soak.lost(tmp_path, [{"w0-1": "w0 000001"}, {"w1-1": ""}]) == ["w0-1"]

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

import store_soak
from foveate.core.types import Chunk


@pytest.mark.parametrize(
    ("new_url", "writes"),
    [("sqlite", 25), pytest.param("postgresql", 4, marks=pytest.mark.server)],
    indirect=["new_url"],
)
def test_readers_and_writers_do_not_disturb_each_other(new_url, figure, writes: int):
    """T5: four readers and two writers see whole states only, and every write is there."""
    soaked = store_soak.soak(new_url(), 4)

    figure(str(soaked))
    assert (soaked.torn, soaked.errors, soaked.lost) == ((), 0, ())
    assert soaked.reads > 50
    assert soaked.writes > writes


def test_a_torn_read_would_be_seen(tmp_path):
    """T5: parts of two versions, a missing part, and an older version are all noticed."""
    url = str(tmp_path)
    with closing(store_soak.opened(url)) as store:
        store_soak.put(store, "w0-1", "w0 000002", 3)
        chunks: list[Chunk] = store.neighbours([("w0-1", 0)], 9)
    other = replace(chunks[1], title="w0 000001")
    newer = {"w0-1": "w0 000003"}

    assert store_soak.torn_in(chunks, {}, whole=True) == []
    assert store_soak.torn_in(chunks[1:], {}, whole=False) == []
    assert len(store_soak.torn_in(chunks[1:], {}, whole=True)) == 1
    assert len(store_soak.torn_in([chunks[0], other, chunks[2]], {}, whole=True)) == 1
    assert len(store_soak.torn_in(chunks, newer, whole=True)) == 1
    assert store_soak.lost(url, [{"w0-1": "w0 000002"}, {}]) == []
    assert store_soak.lost(url, [{"w0-1": "w0 000001"}, {"w1-1": ""}]) == ["w0-1"]

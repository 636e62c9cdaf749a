"""Engines without a cluster: in order, bounded, and plain about a process that died."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import fleet_tasks
from foveate.core.errors import BadOption, OutsideFailure, UnknownName
from foveate.fleet.engine import AHEAD, Here, pool
from foveate.fleet.open import opened
from source_tree import PACKAGE


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Processes that are started import the functions of the tests by name."""
    folders = (PACKAGE.parent, Path(fleet_tasks.__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)))


def test_here_is_one_after_the_other():
    """F2: a result is there before the next value is taken."""
    taken: list[int] = []

    def values():
        for number in range(9):
            taken.append(number)
            yield number

    results = Here().mapped(fleet_tasks.double, values())

    assert [next(results), next(results)] == [(0, 0), (1, 2)]
    assert taken == [0, 1]


def test_a_pool_keeps_order_and_a_bound():
    """F2, D1: the order is that of the values, and only so many are taken ahead."""
    taken: list[int] = []

    def values():
        for number in range(20):
            taken.append(number)
            yield number

    with pool(2) as engine:
        results = engine.mapped(fleet_tasks.double, values())
        first = next(results)
        ahead = len(taken)
        rest = list(results)

    assert first == (0, 0)
    assert ahead == AHEAD * 2
    assert rest == [(number, 2 * number) for number in range(1, 20)]


def test_a_dead_process_of_a_pool_is_said():
    """X1, X3: nobody knows which value it was, so the run ends and says what to do."""
    with pool(2) as engine, pytest.raises(OutsideFailure, match="a worker process died"):
        list(engine.mapped(fleet_tasks.dies, range(4)))


@pytest.mark.parametrize(
    ("name", "workers", "address", "kind", "said"),
    [
        ("rai", None, None, UnknownName, "did you mean 'ray'"),
        ("local", 0, None, BadOption, "1 or more"),
        ("ray", -1, None, BadOption, "1 or more"),
        ("local", None, "auto", BadOption, "--engine ray"),
    ],
)
def test_what_cannot_be_meant_is_refused(name, workers, address, kind, said):
    """F2, X1: an engine that does not exist, no workers, an address without a cluster."""
    with pytest.raises(kind, match=said), opened(name, workers, address):
        pass

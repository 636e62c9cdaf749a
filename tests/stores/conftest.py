"""Places for stores, of each engine."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from store_urls import opened

LANCE = pytest.param("lance", marks=pytest.mark.slow)
SERVER = pytest.param("postgresql", marks=pytest.mark.server)


@pytest.fixture(params=["sqlite", LANCE, SERVER])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """URLs of stores that are not there yet."""
    if request.param == "postgresql":
        return request.getfixturevalue("new_schema")
    numbers = count()
    return lambda: f"{request.param}:{tmp_path}/store{next(numbers)}"


@pytest.fixture
def open_empty(new_url: Callable[[], str]) -> Callable[[], object]:
    """A new, empty store at every call."""
    return lambda: opened(new_url())

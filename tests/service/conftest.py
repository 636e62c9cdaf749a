"""A running service, one for each worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from foveate.service.settings import Settings
from service_server import filled, serving


@pytest.fixture(scope="session")
def filled_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that the tests only read."""
    return filled(tmp_path_factory.mktemp("service"))


@pytest.fixture(scope="session")
def service(filled_store: Path) -> Iterator[httpx.Client]:
    """A client of a service over that store, whose callers read as `staff` at the most."""
    settings = Settings(store=str(filled_store), embedder="hashing", principals=("staff",))
    with serving(settings) as client:
        yield client


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop of tests that are coroutines: the one of the service."""
    return "asyncio"

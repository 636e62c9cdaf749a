"""Stores and sessions that the tests of the tools share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_agents import DOCUMENTS, HIDDEN, Agent, indexed, program, session


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three documents that everybody may read, and one for the staff."""
    return indexed(tmp_path_factory.mktemp("documents"), [*DOCUMENTS, HIDDEN])


@pytest.fixture(scope="module")
def agent(store: Path) -> Iterator[Agent]:
    """An agent that started `foveate mcp` on the store, for nobody in particular."""
    with session(program(store)) as open_session:
        yield open_session

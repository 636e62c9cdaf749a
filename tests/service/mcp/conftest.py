"""A store that the tests of the tools share."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_agents import DOCUMENTS, HIDDEN, indexed


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three documents that everybody may read, and one for the staff."""
    return indexed(tmp_path_factory.mktemp("documents"), [*DOCUMENTS, HIDDEN])

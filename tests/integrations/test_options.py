"""Every component of every framework refuses an option that it does not have."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

from foveate import UnknownName, integrations
from foveate.core.errors import MissingExtra

FOLDER = Path(integrations.__path__[0])
ALL = sorted(
    f"foveate.integrations.{'.'.join(file.relative_to(FOLDER).with_suffix('').parts)}"
    for file in FOLDER.rglob("[!_]*.py")
)


def components(name: str) -> list[type] | None:
    """The components that a module defines; None where its framework is not installed."""
    try:
        module = importlib.import_module(name)
    except (ImportError, MissingExtra):
        return None
    found = [thing for label, thing in vars(module).items() if label.startswith("Foveate")]
    return [one for one in found if isinstance(one, type) and one.__module__ == name]


NAMES = [name for name in ALL if components(name)]
NEED_MORE = ("langchain.middleware", "litellm", "pydantic_ai")
"""Modules whose packages only `make matrix` has."""


def test_every_adapter_is_tried_where_the_frameworks_are() -> None:
    """G1: with the newest releases installed, no module is left out but those of `make matrix`."""
    left_out = [name for name in ALL if components(name) is None and not name.endswith(NEED_MORE)]
    assert left_out == [] or "FOVEATE_FRAMEWORKS" not in os.environ


@pytest.mark.parametrize("name", NAMES)
def test_a_misspelt_option_is_refused_with_the_nearest(name: str) -> None:
    """X1, G1: whatever the framework's base class does with keywords that it does not know."""
    for component in components(name) or ():
        with pytest.raises(UnknownName) as caught:
            component(bugdet=500)
        assert "did you mean 'budget'?" in str(caught.value)

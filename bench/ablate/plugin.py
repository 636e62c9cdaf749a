"""A plugin of pytest: the whole run with the switch that FOVEATE_SWITCH names."""

from __future__ import annotations

import os
from contextlib import ExitStack

import pytest

from bench.ablate.switches import BASE, all_switches
from foveate.core import recipes

_OPEN = ExitStack()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Switch; `default` is the switched recipe for whoever asks for it by its name."""
    wanted = os.environ["FOVEATE_SWITCH"]
    (switch,) = [one for one in all_switches() if f"{one.kind} {one.name}" == wanted]
    recipe = _OPEN.enter_context(switch.done())
    table = dict(recipes.builtin_recipes()) | {BASE: recipe}
    recipes.builtin_recipes = lambda: table  # type: ignore[assignment]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Put everything back."""
    _OPEN.close()

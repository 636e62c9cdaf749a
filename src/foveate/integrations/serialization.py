"""Budgets and recipes as a framework writes them down with its own parts, and read again."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from foveate import plugins
from foveate.core.errors import BadOption
from foveate.core.request import Recipe
from foveate.core.spec import recipe_from_toml, recipe_to_toml
from foveate.core.zones import Budget


def budget_to_json(budget: Any) -> Any:
    """A budget of zones as a mapping of them; a number stays one."""
    if not isinstance(budget, Budget):
        return budget
    return {f.name: getattr(budget, f.name) for f in fields(Budget)}


def budget_from_json(budget: Any) -> Any:
    """A mapping of zones as a budget, anything else as it is; raises `BadOption`."""
    if not isinstance(budget, dict):
        return budget
    try:
        return Budget(**budget)
    except TypeError as error:
        raise BadOption(f"budget: {error}; give the zones of foveate.Budget") from None


def recipe_to_string(recipe: str | Recipe) -> str:
    """A recipe that is a value as TOML; a name or a path stays one."""
    return (
        recipe_to_toml(recipe, plugins.component_registry())
        if isinstance(recipe, Recipe)
        else recipe
    )


def recipe_from_string(recipe: str | Recipe) -> str | Recipe:
    """A recipe written as TOML as a value; a name, a path or a value stays what it is."""
    if isinstance(recipe, str) and "\n" in recipe:
        return recipe_from_toml(recipe, plugins.component_registry())
    return recipe

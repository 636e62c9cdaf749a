"""Recipes as data: TOML in and out, strict, with the near miss."""

from __future__ import annotations

import pytest

from foveate import plugins
from foveate.core import formats, stages, types
from foveate.core.errors import BadOption, UnknownName
from foveate.core.formats.numbered import Numbered
from foveate.core.recipes import builtin_recipes
from foveate.core.request import Recipe
from foveate.core.spec import (
    ComponentRegistry,
    recipe_from_dict,
    recipe_from_toml,
    recipe_to_dict,
    recipe_to_toml,
)
from foveate.core.stages.dedup.exact import DedupExact
from foveate.core.stages.pack import Pack
from foveate.core.zones import Budget

KNOWN = ComponentRegistry(stages=stages.BUILTIN, formats=formats.BUILTIN)
MINIMAL = 'name = "mine"\nformat = "numbered"\nstages = ["dedup_exact", "pack"]\n'


@pytest.mark.parametrize("name", sorted(builtin_recipes()))
def test_toml_round_trip(name: str) -> None:
    """P2: writing any recipe as TOML and reading it back gives an equal recipe."""
    recipe = builtin_recipes()[name]

    assert recipe_from_toml(recipe_to_toml(recipe, KNOWN), KNOWN) == recipe
    assert recipe_from_dict(recipe_to_dict(recipe, KNOWN), KNOWN) == recipe


@pytest.mark.parametrize("name", sorted(builtin_recipes()))
def test_repr_is_what_one_types(name: str) -> None:
    """P2: evaluating a recipe's repr gives the recipe."""
    recipe = builtin_recipes()[name]
    names = {thing.__name__: thing for thing in stages.BUILTIN.values()}
    names |= {thing.__name__: thing for thing in formats.BUILTIN.values()}  # type: ignore[attr-defined]
    names |= {"Recipe": Recipe, "Budget": Budget}

    assert eval(repr(recipe), names) == recipe


def test_the_table_of_recipes() -> None:
    """P2: all recipes of the specification are there, in its order, each with a line about it."""
    assert list(builtin_recipes()) == [
        "naive",
        "default",
        "lean",
        "reranked",
        "factual-qa",
        "summarise",
        "citations",
        "chat",
        "tight",
        "four-stage",
        "local-llm",
        "document-first",
        "source-label",
        "cfs-021",
        "agent-session",
    ]
    assert all(recipe.description for recipe in builtin_recipes().values())


def test_names_alone() -> None:
    """P2: a stage or a format with default options is its name."""
    recipe = recipe_from_toml(MINIMAL, KNOWN)

    assert recipe.stages == (DedupExact(), Pack())
    assert recipe.format == Numbered()


def test_none_and_lists() -> None:
    """P2: no limit is written "none"; lists become tuples."""
    text = MINIMAL + 'include_metadata = ["year"]\n[budget]\ndocuments = "none"\ncharacters = 99\n'
    recipe = recipe_from_toml(text, KNOWN)

    assert recipe.budget == Budget(documents=None, characters=99)
    assert recipe.include_metadata == ("year",)
    assert recipe_from_toml(recipe_to_toml(recipe, KNOWN), KNOWN) == recipe


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MINIMAL + 'descripton = "x"', "unknown recipe key 'descripton'; did you mean 'descr"),
        (MINIMAL.replace("pack", "pak"), "unknown stage 'pak'; did you mean 'pack'"),
        (MINIMAL.replace("numbered", "numberd"), "unknown format 'numberd'; did you mean 'numb"),
        (MINIMAL + "[budget]\ndocument = 5", "unknown budget option 'document'; did you mean"),
        (
            'name = "m"\nformat = "numbered"\n[[stages]]\nuse = "pack"\npolcy = "greedy"',
            "unknown pack option 'polcy'; did you mean 'policy'",
        ),
    ],
    ids=["key", "stage", "format", "budget", "option"],
)
def test_near_miss(text: str, message: str) -> None:
    """P2: an unknown name is refused, and the nearest that exists is named."""
    with pytest.raises(UnknownName) as caught:
        recipe_from_toml(text, KNOWN)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "not TOML"),
        ('format = "numbered"\nstages = []', "'name' is missing"),
        ('name = "m"\nstages = []', "'format' is missing"),
        ('name = "m"\nformat = "numbered"\nstages = "pack"', "stages must be a list"),
        ('name = "m"\nformat = "numbered"\nstages = [3]', "a stage is a name or a table"),
        (MINIMAL + 'cite = "page"', "it must be one of 'chunk', 'document'"),
        (MINIMAL + "[budget]\ndocuments = true", "it must be a whole number or"),
        (
            'name = "m"\nformat = "numbered"\n[[stages]]\nuse = "expand"\nwindow = "1"',
            "expand: window cannot be '1'; it must be a whole number",
        ),
        (
            'name = "m"\nformat = "numbered"\n[[stages]]\nuse = "dedup_near"\nthreshold = 7.0',
            "threshold",
        ),
    ],
)
def test_wrong_values(text: str, message: str) -> None:
    """P2: a value that cannot be is refused with what it must be."""
    with pytest.raises(BadOption) as caught:
        recipe_from_toml(text, KNOWN)

    assert message in str(caught.value)


def shout(candidates: tuple[types.Candidate, ...], request: types.Request) -> types.Step:
    """A third party's stage."""
    return types.Step(candidates=candidates)


def test_third_party_stages_have_names() -> None:
    """S12: a stage registered under a name is written and read by it."""
    known = ComponentRegistry(stages={**stages.BUILTIN, "shout": shout}, formats=formats.BUILTIN)
    recipe = recipe_from_toml(MINIMAL.replace('"pack"', '"shout", "pack"'), known)

    assert recipe.stages[1] is shout
    assert recipe_from_toml(recipe_to_toml(recipe, known), known) == recipe
    with pytest.raises(BadOption, match="has no name to write down"):
        recipe_to_toml(recipe, KNOWN)


def test_plugins_lists_what_is_built_in() -> None:
    """P2: every stage, format and recipe is listed with where it comes from and what it does."""
    listed = {(p.group, p.name): p for p in plugins.list_plugins()}

    assert {name for group, name in listed if group == "stages"} >= set(stages.BUILTIN)
    assert {name for group, name in listed if group == "formats"} >= set(formats.BUILTIN)
    assert {name for group, name in listed if group == "recipes"} >= set(builtin_recipes())
    assert all(p.summary and p.origin for p in listed.values())

"""The trials of an evaluation: recipes x budgets, with the options that `assemble` uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from foveate import plugins
from foveate.core.errors import BadOption
from foveate.core.request import Recipe
from foveate.pipeline.options import AssembleOptions, load_recipe, resolve_options

WHOLE_POOL = "whole pool"
"""The label of all candidates joined: the most that any recipe can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What an evaluation tries, as values that can be pickled.

    `recipes`: (label, recipe). `tokenizer` counts for all of them. `embedder` empty: candidates
    without vectors.
    """

    recipes: tuple[tuple[str, Recipe], ...]
    budgets: tuple[int, ...]
    tokenizer: str = "cl100k_base"
    embedder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One recipe at one budget."""

    label: str
    budget: int
    options: AssembleOptions


def build_setting(
    recipes: Sequence[str | Recipe],
    budgets: Sequence[int],
    *,
    baseline: str | Recipe = "naive",
    tokenizer: str = "cl100k_base",
    embedder: str = "",
) -> tuple[Setting, str]:
    """The setting and the baseline's label; the baseline is put first if it is not named.

    Raises `UnknownName` or `BadOption`.
    """
    plugins.tokenizer(tokenizer)
    if not recipes:
        raise BadOption("no recipe is named; give one or more")
    if not budgets:
        raise BadOption("no budget is given; give one or more, in tokens")
    if len(set(budgets)) != len(budgets):
        raise BadOption(f"a budget comes twice in {tuple(budgets)}; give each once")
    labelled = [*_label_recipes(recipes)]
    reference = next(iter(_label_recipes([baseline])))
    if reference[0] not in dict(labelled):
        labelled.insert(0, reference)
    made = Setting(
        recipes=tuple(labelled),
        budgets=tuple(sorted(budgets)),
        tokenizer=tokenizer,
        embedder=embedder,
    )
    build_trials(made)  # a budget that cannot be is refused before anything is read
    return made, reference[0]


def _label_recipes(recipes: Iterable[str | Recipe]) -> Iterable[tuple[str, Recipe]]:
    """Each recipe with its name, or its file's path if the name is taken."""
    seen: set[str] = {WHOLE_POOL}
    for given in recipes:
        recipe = load_recipe(given)
        label = recipe.name
        if isinstance(given, str) and label in seen | set(plugins.recipe_table()):
            label = given
        if label in seen:
            raise BadOption(f"the recipe {label!r} comes twice; give each its own name")
        seen.add(label)
        yield label, recipe


def build_trials(made: Setting) -> tuple[Trial, ...]:
    """Every recipe at every budget."""
    counter = plugins.tokenizer(made.tokenizer)
    found = []
    for label, recipe in made.recipes:
        for budget in made.budgets:
            options = AssembleOptions(recipe=recipe, budget=budget, tokenizer=counter)
            resolve_options(options)
            found.append(Trial(label=label, budget=budget, options=options))
    return tuple(found)

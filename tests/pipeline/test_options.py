"""One options value: the same fields for every face, and an assembler that keeps its options."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from foveate import assemble, plugins
from foveate.core.errors import NAMES_ELSEWHERE, BadOption, UnknownName
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.labels import LABELS
from foveate.pipeline.options import AssembleKeywords, AssembleOptions, resolve_options

ROWS = [
    {"text": f"Stone {n} is grey and lies by the river.", "source": f"{n}.md", "score": n}
    for n in range(1, 6)
]


def test_every_field_is_a_keyword():
    """F1: an option is stated once; keyword arguments are its fields."""
    names = {field.name for field in fields(AssembleOptions)}

    assert set(AssembleKeywords.__annotations__) == names


def test_a_copied_assembler_has_the_same_recipe():
    """D2: copying an assembler with `keep` adds no second floor, so the recipe hash stays."""
    first = Assembler(options=AssembleOptions(budget=200, keep=2))
    again = replace(first, cache=None)
    twice = replace(again, options=again.options.changed({"budget": 200}))

    hashes = {
        one.assemble("grey stone", ROWS).manifest.recipe_hash for one in (first, again, twice)
    }
    assert len(hashes) == 1
    assert len(twice.resolve().recipe.stages) == len(first.resolve().recipe.stages)


def test_keywords_and_options_say_the_same():
    """F1: `assemble(…, budget=…)` is `assemble(…, options=AssembleOptions(budget=…))`."""
    by_keyword = assemble("grey stone", ROWS, budget=60, recipe="chat")
    by_value = assemble("grey stone", ROWS, options=AssembleOptions(budget=60, recipe="chat"))

    assert by_keyword == by_value


def test_keywords_replace_the_assembler_s_options():
    """F1: a call's keywords stand over the assembler's options for that call alone."""
    assembler = Assembler(options=AssembleOptions(budget=200))

    assert assembler.assemble("grey stone", ROWS, budget=30).budget.documents == 30
    assert assembler.assemble("grey stone", ROWS).budget.documents == 200


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("max_tokens", "'budget'"),
        ("token_limit", "'budget'"),
        ("k", "'limit' or 'keep'"),
        ("top_k", "'limit' or 'keep'"),
        ("filter", "'where'"),
        ("bugdet", "'budget'"),
    ],
)
def test_an_option_of_another_library_leads_to_ours(name, ours):
    """X1: a misspelled one too; the nearest spelling of `max_tokens` is not what is meant."""
    with pytest.raises(UnknownName, match=f"^unknown option '{name}'; did you mean {ours}\\?$"):
        assemble("grey stone", ROWS, **{name: 5})


def test_names_elsewhere_lead_to_options():
    """X1: every suggestion is an option, and no option of ours is in the way."""
    options = {field.name for field in fields(AssembleOptions)}

    assert {one for ours in NAMES_ELSEWHERE.values() for one in ours} <= options
    assert options.isdisjoint(NAMES_ELSEWHERE)


@pytest.mark.parametrize("model", [None, "gpt-4o"])
def test_a_budget_below_one_is_named_as_it_was_given(model):
    """X1: the caller gave a budget, and knows of no zone `documents`."""
    with pytest.raises(BadOption, match="^budget is -5; it must be 1 or more$"):
        assemble("grey stone", ROWS, budget=-5, model=model)


def test_an_assembler_without_a_store_says_what_to_give():
    """X1: without candidates and without a store there is nothing to assemble."""
    with pytest.raises(BadOption, match="store="):
        Assembler().assemble("grey stone")


def test_a_recipe_that_does_not_exist_is_refused_at_once():
    """X1: a wrong name is refused when the assembler is made, not at the first question."""
    with pytest.raises(UnknownName, match="default"):
        Assembler(options=AssembleOptions(recipe="defualt"))


def test_the_system_prompt_shares_the_window():
    """B1: `system` is counted like a prompt of the same text."""
    resolved = resolve_options(AssembleOptions(system="Be brief."))

    assert resolved.messages == (("system", "Be brief."),)


@pytest.mark.parametrize("language", LABELS)
def test_the_label_of_summaries_is_in_the_language_of_the_texts(language):
    """R2: unless the recipe has its own."""
    own = replace(plugins.recipe("citations"), summary_label="Of the page")

    resolve = Assembler().resolve
    assert resolve(language=f"{language}-XX").recipe.summary_label == LABELS[language]
    assert resolve(language=language, recipe=own).recipe.summary_label == "Of the page"

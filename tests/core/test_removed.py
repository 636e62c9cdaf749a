"""Names that are gone: whoever uses one is told what to use instead; the rest still works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import foveate
from foveate import plugins
from foveate.core import removed
from foveate.core.assemble import assemble
from foveate.core.errors import InvalidRequest
from foveate.core.manifest import digest
from foveate.core.recipes import builtin_recipes
from foveate.core.replay import build_bundle, compare_bundles, inputs_from_bundle
from foveate.core.request import Inputs
from foveate.core.spec import recipe_from_dict
from foveate.core.types import Candidate, Chunk
from foveate.core.zones import Budget
from foveate.stores.caches import open_cache
from foveate.stores.postgres.connect import parse_url
from foveate.testing.fakes import WordTokenizer

ROWS = [{"text": "The mill was rebuilt in 1871.", "score": 0.5}]
SAMPLE = {
    "stage weigh": "leave it out",
    "option pack.spread": "leave it out; pack spreads by itself",
    "option budget.margin": "budget.buffer",
    "policy by_luck": "value",
    "order backwards": "relevance",
    "format gopher": "numbered",
    "recipe first-draft": "default",
    "option recipe.mood": "leave it out",
    "keyword luck": "keep",
}
"""One of each kind, for the kinds of which nothing, or not everything, has gone."""


def _recipe(**stage: Any) -> Any:
    record = {"name": "m", "format": "numbered", "stages": [{"use": "pack", **stage}]}
    return recipe_from_dict(record, plugins.component_registry())


def _use_option(name: str) -> object:
    stage, _, option = name.partition(".")
    if stage == "postgresql":
        return parse_url(f"postgresql://host/base?{option}=1")
    if stage == "redis":
        return open_cache(f"redis://host/0?{option}=1")
    if stage in ("budget", "recipe"):
        more = {"budget": {option: 1}} if stage == "budget" else {option: 1}
        record = {"name": "m", "format": "numbered", "stages": ["pack"], **more}
    elif stage in plugins.component_registry().formats:
        record = {"name": "m", "format": {"name": stage, option: 1}, "stages": ["pack"]}
    else:
        record = {"name": "m", "format": "numbered", "stages": [{"use": stage, option: 1}]}
    return recipe_from_dict(record, plugins.component_registry())


USES: dict[str, tuple[Callable[[str], object], ...]] = {
    "stage": (lambda name: _recipe(use=name),),
    "option": (_use_option,),
    "policy": (
        lambda name: _recipe(policy=name),
        lambda name: foveate.core.stages.pack.Pack(policy=name),  # type: ignore[arg-type]
    ),
    "order": (
        lambda name: _recipe(use="order", by=name),
        lambda name: foveate.assemble("Who?", ROWS, order=name),
    ),
    "format": (
        lambda name: foveate.assemble("Who?", ROWS, format=name),
        lambda name: recipe_from_dict(
            {"name": "m", "format": name, "stages": ["pack"]}, plugins.component_registry()
        ),
    ),
    "recipe": (
        lambda name: foveate.assemble("Who?", ROWS, recipe=name),
        plugins.recipe,
    ),
    "keyword": (
        lambda name: foveate.assemble("Who?", ROWS, **{name: 1}),
        lambda name: foveate.compact([], 60, **{name: 1}),  # type: ignore[arg-type]
    ),
}
"""Kind → the ways in which somebody may name one."""
CORE_KINDS = [one for one in {**SAMPLE, **removed.REMOVED} if one.partition(" ")[0] in USES]


@pytest.mark.parametrize("entry", CORE_KINDS)
def test_what_is_gone_is_refused_with_what_to_use_instead(entry, monkeypatch):
    """X2: each name of the table, wherever it can be written."""
    table = {**SAMPLE, **removed.REMOVED}
    monkeypatch.setattr(removed, "REMOVED", table)
    kind, _, name = entry.partition(" ")

    for use in USES[kind]:
        with pytest.raises(InvalidRequest) as caught:
            use(name)
        assert f"{name!r} was removed: {table[entry]}" in str(caught.value)
        assert "\n" not in str(caught.value)


def _bundle() -> dict[str, Any]:
    inputs = Inputs(
        query="Who rebuilt the mill?",
        candidates=(Candidate(chunk=Chunk(text=ROWS[0]["text"]), score=0.5),),
        recipe=builtin_recipes()["default"],
        budget=Budget(documents=60, window=None),
    )
    return build_bundle(inputs, assemble(inputs, WordTokenizer()), plugins.component_registry())


def _older(bundle: dict[str, Any], before: str, after: str) -> dict[str, Any]:
    """The bundle as it was when a stage was typed otherwise."""
    typed = bundle["recipe_spelled"].replace(before, after)
    assert typed != bundle["recipe_spelled"]
    return {
        **bundle,
        "recipe_spelled": typed,
        "manifest": {**bundle["manifest"], "recipe_hash": digest(typed)},
        "trace": [
            {**stage, "options": stage["options"].replace(before, after)}
            for stage in bundle["trace"]
        ],
        "budget": {**bundle["budget"], "margin": 0},
    }


def _replayed(old: dict[str, Any]) -> dict[str, Any]:
    known = plugins.component_registry()
    inputs = inputs_from_bundle(old, known)
    return build_bundle(inputs, assemble(inputs, WordTokenizer()), known)


@pytest.mark.parametrize(
    ("before", "after"),
    [("Pack(", "Pack(spread=(1, 2), "), ("Order(by='attention'", "Order(by='attention', spread=0")],
)
def test_an_older_bundle_that_uses_nothing_removed_still_replays(before, after, monkeypatch):
    """D4: an option at the default that it had is no difference, at another value it is one."""
    monkeypatch.setattr(removed, "FORMER_DEFAULTS", {"Pack.spread": "(1, 2)", "Order.spread": "0"})
    older = _older(_bundle(), before, after)
    other = _older(_bundle(), before, after.replace("spread=", "spread=9"))

    assert str(compare_bundles(older, _replayed(older))) == "identical"
    assert not compare_bundles(other, _replayed(other)).identical


def test_a_bundle_that_uses_what_is_gone_is_refused(monkeypatch):
    """D4, X2: a policy, a stage or a zone that it names, with what to use instead."""
    monkeypatch.setattr(removed, "REMOVED", SAMPLE)
    good = _bundle()
    recipe = good["recipe"]
    for change, said in (
        ({"recipe": {**recipe, "stages": [{"use": "pack", "policy": "by_luck"}]}}, "value"),
        ({"recipe": {**recipe, "stages": ["weigh"]}}, "leave it out"),
        ({"recipe": {**recipe, "format": "gopher"}}, "numbered"),
        ({"budget": {**good["budget"], "margin": 5}}, "budget.buffer"),
    ):
        with pytest.raises(foveate.BadInput, match=f"^the bundle.* was removed: {said}"):
            inputs_from_bundle({**good, **change}, plugins.component_registry())
    assert inputs_from_bundle(good, plugins.component_registry()).recipe.name == "default"


def test_figures_that_a_stage_no_longer_notes_make_no_difference():
    """D4: an older bundle that has them replays; other figures of the stage still count."""
    found = (Candidate(chunk=Chunk(text="The mill was rebuilt in 1871.", id="a"), score=0.5),)
    recipe = builtin_recipes()["default"]
    inputs = Inputs(query="When?", candidates=found, recipe=recipe, budget=Budget(documents=90))
    registry = plugins.component_registry()
    new = build_bundle(inputs, assemble(inputs, WordTokenizer()), registry)

    def with_notes(**more: Any) -> dict[str, Any]:
        trace = [
            {**one, "notes": {**one["notes"], **more}} if one["stage"] == "pack" else one
            for one in new["trace"]
        ]
        return {**new, "trace": trace}

    assert compare_bundles(with_notes(bound=1.5, gap=0.01), new).identical
    assert compare_bundles(with_notes(value=0.123), new).stage == "pack"

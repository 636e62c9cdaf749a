"""What can be switched off or moved in the decision, found in the code itself.

A switch is a context manager: while it is open, `default` runs without one stage, with another
value of one option or constant, without one trait, or without one rule. All but the rules are found
by looking: a constant that somebody adds is moved in the next run.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

from foveate.core import stages
from foveate.core import text as texts
from foveate.core.recipes import builtin_recipes
from foveate.core.request import Recipe

BASE = "default"
"""The recipe whose decision is looked at."""
FACTORS = (0.5, 2.0)
"""By how much a number is moved, down and up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """One thing that is switched: its kind, its name, and how it is done.

    `recipe`: the recipe to run while it is done.
    """

    kind: str
    name: str
    recipe: Recipe
    patches: tuple[tuple[Any, str, Any], ...] = ()

    @contextmanager
    def done(self) -> Iterator[Recipe]:
        """Run the block with it; names and table entries are put back behind it."""
        before = [(place, name, _get(place, name)) for place, name, _ in self.patches]
        try:
            for place, name, value in self.patches:
                _set(place, name, value)
            yield self.recipe
        finally:
            for place, name, value in before:
                _set(place, name, value)


def _get(place: Any, name: str) -> Any:
    return place[name] if isinstance(place, dict) else getattr(place, name)


def _set(place: Any, name: str, value: Any) -> None:
    if isinstance(place, dict):
        place[name] = value
    else:
        setattr(place, name, value)


def all_switches() -> list[Switch]:
    """Every switch, in a fixed order; all modules of the decision are loaded for it."""
    modules = [*_modules(stages), *_modules(texts)]
    return [*_stages(), *_options(), *_traits(), *_readers(), *_rules(), *_constants(modules)]


def _modules(package: Any) -> Iterator[Any]:
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return (importlib.import_module(one.name) for one in found)


def _stages() -> Iterator[Switch]:
    """`default` without one of its stages; `pack` spends the budget and stays."""
    recipe = builtin_recipes()[BASE]
    for stage in recipe.stages:
        if type(stage).__name__ != "Pack":
            rest = tuple(one for one in recipe.stages if one is not stage)
            yield Switch(kind="stage", name=repr(stage), recipe=replace(recipe, stages=rest))


def _options() -> Iterator[Switch]:
    """`default` with another value of an option of one of its stages."""
    recipe = builtin_recipes()[BASE]
    for place, stage in enumerate(recipe.stages):
        for field in fields(stage):  # type: ignore[arg-type]
            value = getattr(stage, field.name)
            for other in _others(value):
                try:
                    moved = replace(stage, **{field.name: other})  # type: ignore[type-var]
                except ValueError:  # outside of what the option allows
                    continue
                several = (*recipe.stages[:place], moved, *recipe.stages[place + 1 :])
                name = f"{type(stage).__name__}.{field.name} {value} → {other}"
                yield Switch(kind="option", name=name, recipe=replace(recipe, stages=several))


def _others(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return sorted({int(value * factor) for factor in FACTORS} - {value})
    if isinstance(value, float):
        return sorted({value * factor for factor in FACTORS} - {value})
    return []


def _traits() -> Iterator[Switch]:
    """Each trait of a sentence without its weight."""
    from foveate.core.stages.compress import score

    recipe = builtin_recipes()[BASE]
    for trait in score.WEIGHTS:
        yield Switch(
            kind="trait", name=trait, recipe=recipe, patches=((score.WEIGHTS, trait, 0.0),)
        )


def _readers() -> Iterator[Switch]:
    """Each reader of a shape finding nothing, and all of them at once."""
    from foveate.core.text.shapes import find

    recipe = builtin_recipes()[BASE]

    for n, one in enumerate(find.READERS):
        blind = one._replace(read=lambda _text, start: find.ReadResult(None, start + 1))
        patches = ((find, "READERS", (*find.READERS[:n], blind, *find.READERS[n + 1 :])),)
        yield Switch(kind="reader", name=one.read.__name__, recipe=recipe, patches=patches)
    everywhere = _holders("find_shapes", find.find_shapes)
    nothing = tuple((module, "find_shapes", _nothing) for module in everywhere)
    yield Switch(kind="reader", name="all readers of shapes", recipe=recipe, patches=nothing)


def _alone(_text: str, spans: Sequence[Any], first: int, *_: Any) -> list[int]:
    """No sentence leans: each is its own head."""
    return list(range(first, len(spans)))


def _no_clarity(scores: Sequence[float]) -> Any:
    """No chunk is set apart by its score."""
    import numpy as np

    return np.zeros(len(scores))


def _as_they_are(_text: str, spans: Sequence[Any]) -> list[Any]:
    """The spans, neither joined nor cut."""
    return list(spans)


def _nothing(*_: Any) -> list[Any]:
    """No unit is found."""
    return []


RULES: Mapping[str, tuple[str, str, Callable[..., Any]]] = {
    "sentences lean on the one before": ("stages.compress.units", "_leans", _alone),
    "long units are cut": ("stages.compress.units", "cut_long", _as_they_are),
    "quotations and brackets are whole": ("stages.compress.units", "join_atoms", _as_they_are),
    "scores set chunks apart": ("stages.compress.separation", "clarity_by_chunk", _no_clarity),
    "names and signatures of an earlier chunk": ("stages.pack.selection", "link_heads", _nothing),
    "headings and rules are structure": ("stages.compress.structure", "structural_units", _nothing),
    "imports open no block": ("text.shapes.code", "import_units", _nothing),
}
"""A rule in words → its function in the core, and what stands for it when the rule is off."""


def _rules() -> Iterator[Switch]:
    recipe = builtin_recipes()[BASE]
    for words, (module, name, off) in RULES.items():
        try:
            function = getattr(importlib.import_module(f"foveate.core.{module}"), name)
        except (ImportError, AttributeError):  # the rule went
            continue
        patches = tuple((holder, name, off) for holder in _holders(name, function))
        yield Switch(kind="rule", name=words, recipe=recipe, patches=patches)


def _constants(modules: list[Any]) -> Iterator[Switch]:
    """Each number that a module of stages or text gives a name, halved and doubled."""
    recipe = builtin_recipes()[BASE]
    for module in modules:
        for name in _numbers(module):
            value = getattr(module, name)
            holders = _holders(name, value)
            for other in _others(value):
                place = module.__name__.removeprefix("foveate.core.")
                yield Switch(
                    kind="constant",
                    name=f"{place}.{name} {value} → {other}",
                    recipe=recipe,
                    patches=tuple((holder, name, other) for holder in holders),
                )


def _numbers(module: Any) -> Iterator[str]:
    """The names to which the module itself assigns a number."""
    tree = ast.parse(inspect.getsource(module))
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        for target in targets:
            if isinstance(target, ast.Name) and target.id.isupper():
                value = getattr(module, target.id)
                if isinstance(value, int | float) and not isinstance(value, bool):
                    yield target.id


def _holders(name: str, value: Any) -> list[Any]:
    """The modules of the core that have this very value under this name."""
    return [
        module
        for key, module in sorted(sys.modules.items())
        if key.startswith("foveate.core.") and vars(module).get(name) is value
    ]

"""Recipes as plain data and TOML. Unknown keys are refused with the near miss.

Only differences from the defaults are written. A stage is `{use = "dedup_near", threshold = 0.9}`
or its name, a format `{name = "numbered", page = false}` or its name. None is written `"none"`.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from types import FunctionType
from typing import Any, get_args

from foveate.core.errors import BadOption, UnknownName
from foveate.core.removed import advice_on_value
from foveate.core.request import Recipe
from foveate.core.typed import describe_type, is_of_type, refuse_unknown, typed_fields
from foveate.core.zones import Budget

NONE = "none"
_OPTIONS = ("description", "cite", "tokenizer", "summary_label", "include_metadata")
"""Of a recipe, what is written as it is, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRegistry:
    """Names of stages and formats, and what makes them."""

    stages: Mapping[str, Callable[..., Any]]
    formats: Mapping[str, Callable[..., Any]]


def recipe_to_dict(recipe: Recipe, known: ComponentRegistry) -> dict[str, Any]:
    """The recipe as plain data."""
    record: dict[str, Any] = {"name": recipe.name}
    given = _non_default_options(recipe)
    record |= {option: given[option] for option in _OPTIONS if option in given}
    if options := _non_default_options(recipe.budget, Budget):
        record["budget"] = options
    name = _component_name(recipe.format, known.formats, "format")
    record["format"] = {"name": name, **_non_default_options(recipe.format)}
    if recipe.stages:
        record["stages"] = [
            {"use": _component_name(part, known.stages, "stage"), **_non_default_options(part)}
            for part in recipe.stages
        ]
    return record


def recipe_from_dict(record: Mapping[str, Any], known: ComponentRegistry) -> Recipe:
    """Plain data as a recipe; raises `UnknownName` or `BadOption`."""
    refuse_unknown("recipe key", record, [one.name for one in typed_fields(Recipe)])
    for name in ("name", "stages", "format"):
        if name not in record:
            raise BadOption(f"recipe: {name!r} is missing")
    taken = ("stages", "format", "budget")
    rest = {key: record[key] for key in record if key not in taken}
    return Recipe(
        stages=_build_stages(record["stages"], known.stages),
        format=_build_component(record["format"], "name", known.formats, "format"),
        budget=_construct(Budget, record.get("budget", {}), "budget"),
        **_check_options(Recipe, rest, "recipe"),
    )


def recipe_to_toml(recipe: Recipe, known: ComponentRegistry) -> str:
    """The recipe as TOML; reading it back gives an equal recipe."""
    record = recipe_to_dict(recipe, known)
    stages = record.pop("stages", [])
    tables = {}
    for name in ("budget", "format"):
        if name in record:
            tables[name] = record.pop(name)
    parts = [_format_toml_pairs(record)]
    parts += [f"[{name}]\n{_format_toml_pairs(table)}" for name, table in tables.items()]
    parts += [f"[[stages]]\n{_format_toml_pairs(one)}" for one in stages]
    return "\n".join(parts)


def recipe_from_toml(text: str, known: ComponentRegistry) -> Recipe:
    """TOML as a recipe; says the line where it is not TOML."""
    try:
        record = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadOption(f"recipe is not TOML: {error}") from None
    return recipe_from_dict(record, known)


def _build_stages(items: Any, factories: Mapping[str, Callable[..., Any]]) -> tuple[Any, ...]:
    if not isinstance(items, list):
        raise BadOption("recipe: stages must be a list of tables")
    return tuple(_build_component(item, "use", factories, "stage") for item in items)


def _build_component(
    item: Any, key: str, factories: Mapping[str, Callable[..., Any]], kind: str
) -> Any:
    options = {key: item} if isinstance(item, str) else item
    if not isinstance(options, Mapping) or key not in options:
        raise BadOption(f"recipe: a {kind} is a name or a table with {key!r}, not {item!r}")
    name = options[key]
    try:
        factory = factories[str(name)]
    except KeyError:
        raise UnknownName(kind, str(name), factories) from None
    rest = {option: value for option, value in options.items() if option != key}
    if isinstance(factory, FunctionType):
        refuse_unknown(f"{kind} {name} option", rest, ())
        return factory
    return _construct(factory, rest, str(name))


def _construct(factory: Callable[..., Any], options: Any, where: str) -> Any:
    if not isinstance(options, Mapping):
        raise BadOption(f"{where}: must be a table, not {options!r}")
    if not is_dataclass(factory):
        return factory(**options)
    return factory(**_check_options(factory, options, where))


def _check_options(cls: Any, options: Mapping[str, Any], where: str) -> dict[str, Any]:
    hints = {one.name: one.hint for one in typed_fields(cls)}
    refuse_unknown(f"{where} option", options, hints)
    checked: dict[str, Any] = {}
    for name, given in options.items():
        value = None if given == NONE and type(None) in get_args(hints[name]) else given
        value = tuple(value) if isinstance(value, list) else value
        if not is_of_type(value, hints[name]):
            wanted = describe_type(hints[name])
            for python, toml in (("None", f'"{NONE}"'), ("True or False", "true or false")):
                wanted = wanted.replace(python, toml)
            message = f"{where}: {name} cannot be {given!r}; it must be {wanted}"
            raise BadOption(advice_on_value(name, given) or message)
        checked[name] = value
    return checked


def _component_name(thing: Any, factories: Mapping[str, Callable[..., Any]], kind: str) -> str:
    for name, factory in factories.items():
        if factory is thing or factory is type(thing):
            return name
    raise BadOption(f"{kind} {thing!r} has no name to write down; register it under an entry point")


def _non_default_options(thing: Any, kind: Any = None) -> dict[str, Any]:
    if not is_dataclass(thing):
        return {}
    known: Any = kind or type(thing)
    values = {one: getattr(thing, one.name) for one in typed_fields(known)}
    return {
        one.name: NONE if value is None else list(value) if isinstance(value, tuple) else value
        for one, value in values.items()
        if value != one.default
    }


def _format_toml_pairs(table: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {_format_toml_value(value)}\n" for key, value in table.items())


def _format_toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(_format_toml_value(item) for item in value)}]"
    return repr(value)

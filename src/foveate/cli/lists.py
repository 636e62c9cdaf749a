"""`foveate plugins` and `foveate recipes`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from foveate.cli import output
from foveate.cli.options import Json, argument, complete_names

if TYPE_CHECKING:
    from foveate.plugins import Plugin


def plugins(as_json: Json = False) -> None:
    """List built-ins and installed plugins."""
    from dataclasses import asdict

    from foveate.ingest.loaders import suffixes
    from foveate.plugins import Plugin, broken, list_plugins

    about = "Read files with this suffix."
    loaders = [Plugin(group="loaders", name=s, origin="foveate", summary=about) for s in suffixes()]
    found, unusable = [*list_plugins(), *loaders], broken()
    record = {"plugins": [*map(asdict, found)], "broken": [*map(asdict, unusable)]}
    groups: dict[str, list[tuple[str, str]]] = {}
    for plugin in found:
        groups.setdefault(plugin.group, []).append((plugin.name, _about(plugin)))
    for one in unusable:
        name = f"{one.group.removesuffix('s')} {one.name}"
        groups.setdefault("broken", []).append((name, f"{one.origin}: {one.reason}"))
    lines = (line for group, pairs in groups.items() for line in _lines(group, pairs))
    output.write_result(record, lines, as_json=as_json)


def _about(plugin: Plugin) -> str:
    ours = plugin.origin == "foveate"
    return plugin.summary if ours else f"{plugin.origin}: {plugin.summary}".rstrip(": ")


def _lines(group: str, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A line for each name; names that one sentence is about stand behind it."""
    from foveate.cli.layout import format_columns, wrap_words

    width = output.terminal_width()
    yield group
    alone = [pair for pair in pairs if [about for _, about in pairs].count(pair[1]) == 1]
    yield from format_columns(alone, width)
    for shared in dict.fromkeys(about for name, about in pairs if (name, about) not in alone):
        names = ", ".join(name for name, about in pairs if about == shared)
        yield from wrap_words(f"{shared} {names}", width, first="  ", rest="    ")


app = typer.Typer(
    help="List the recipes, or show one. As TOML, which --recipe reads.", rich_markup_mode=None
)


@app.command("list")
def list_recipes(as_json: Json = False) -> None:
    """The recipes by name, with what each is for."""
    from foveate import plugins
    from foveate.cli.layout import format_columns

    table = plugins.recipe_table()
    output.write_warnings(plugins.broken("recipes"))
    pairs = [(name, recipe.description) for name, recipe in table.items()]
    record = {"recipes": [{"name": name, "description": about} for name, about in pairs]}
    lines = format_columns(pairs, output.terminal_width(), indent="")
    output.write_result(record, lines, as_json=as_json)


@app.command()
def show(
    name: Annotated[
        str, argument("NAME", "The recipe's name.", autocompletion=complete_names("recipes"))
    ],
    as_json: Json = False,
) -> None:
    """A recipe as TOML; change it and give the file to --recipe."""
    from foveate import plugins
    from foveate.core.spec import recipe_to_dict, recipe_to_toml

    recipe = plugins.recipe(name)
    if as_json:
        output.write_json(recipe_to_dict(recipe, plugins.component_registry()))
    else:
        output.write(recipe_to_toml(recipe, plugins.component_registry()))

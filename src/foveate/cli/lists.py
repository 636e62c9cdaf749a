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

    from foveate.cli.show import format_columns
    from foveate.ingest.loaders import suffixes
    from foveate.plugins import Plugin, broken, list_plugins

    about = "Read files with this suffix."
    loaders = [Plugin(group="loaders", name=s, origin="foveate", summary=about) for s in suffixes()]
    found, unusable = [*list_plugins(), *loaders], broken()
    if as_json:
        records = [asdict(plugin) for plugin in found], [asdict(one) for one in unusable]
        output.write_json(dict(zip(("plugins", "broken"), records, strict=True)))
        return
    width = output.terminal_width()
    for group in dict.fromkeys(plugin.group for plugin in found):
        for line in _lines(group, [p for p in found if p.group == group], width):
            output.write_line(line)
    if unusable:
        output.write_line("broken")
        pairs = [
            (f"{one.group.removesuffix('s')} {one.name}", f"{one.origin}: {one.reason}")
            for one in unusable
        ]
        for line in format_columns(pairs, width):
            output.write_line(line)


def _lines(group: str, found: Sequence[Plugin], width: int) -> Iterator[str]:
    """The lines of a group; a summary that all built-ins share is written once."""
    from foveate.cli.show import format_columns, wrap_words

    ours = [plugin for plugin in found if plugin.origin == "foveate"]
    summaries = {plugin.summary for plugin in ours}
    rest = found
    if len(summaries) == 1:
        yield f"{group}: {ours[0].summary}"
        yield from wrap_words(", ".join(plugin.name for plugin in ours), width, first="  ")
        rest = [plugin for plugin in found if plugin not in ours]
    else:
        yield group
    pairs = [
        (p.name, p.summary if p.origin == "foveate" else f"{p.origin}: {p.summary}".rstrip(": "))
        for p in rest
    ]
    yield from format_columns(pairs, width)


app = typer.Typer(
    help="List the recipes, or show one. As TOML, which --recipe reads.", rich_markup_mode=None
)


@app.command("list")
def list_recipes(as_json: Json = False) -> None:
    """The recipes by name, with what each is for."""
    from foveate import plugins
    from foveate.cli.show import format_columns

    table = plugins.recipe_table()
    output.write_warnings(plugins.broken("recipes"))
    if as_json:
        found = [{"name": name, "description": r.description} for name, r in table.items()]
        output.write_json({"recipes": found})
        return
    pairs = [(name, recipe.description) for name, recipe in table.items()]
    for line in format_columns(pairs, output.terminal_width(), indent=""):
        output.write_line(line)


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

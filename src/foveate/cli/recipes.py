"""`foveate recipes`: which there are, and how one is written."""

from __future__ import annotations

from typing import Annotated

import typer

from foveate.cli.completion import complete_names as completing
from foveate.cli.options import Json

app = typer.Typer(
    help="List the recipes, or show one. As TOML, which --recipe reads.", rich_markup_mode=None
)


@app.command("list")
def list_recipes(as_json: Json = False) -> None:
    """The recipes by name, with what each is for."""
    from foveate import plugins
    from foveate.cli import output
    from foveate.cli.layout import format_columns

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
        str,
        typer.Argument(
            metavar="NAME", help="The recipe's name.", autocompletion=completing("recipes")
        ),
    ],
    as_json: Json = False,
) -> None:
    """A recipe as TOML; change it and give the file to --recipe."""
    from foveate import plugins
    from foveate.cli import output
    from foveate.core.spec import recipe_to_dict, recipe_to_toml

    recipe = plugins.recipe(name)
    if as_json:
        output.write_json(recipe_to_dict(recipe, plugins.component_registry()))
    else:
        output.write(recipe_to_toml(recipe, plugins.component_registry()))

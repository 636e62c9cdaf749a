"""`foveate recipes`, `plugins`, `--version` and the help."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import get_args

import pytest

import foveate
from foveate import plugins
from foveate.cli.options import ORDERS
from foveate.core.recipes import builtin_recipes
from foveate.core.spec import recipe_from_dict, recipe_from_toml
from foveate.core.stages.order import OrderBy
from source_tree import PACKAGE


def test_the_help_names_every_order():
    """F2: `--order` says what it takes."""
    assert ORDERS.split(", ") == list(get_args(OrderBy))


def test_recipes_are_listed(run):
    """P2, F2: each recipe by name with what it is for."""
    said = run("recipes", "list")
    record = run("recipes", "list", "--json").json

    assert [entry["name"] for entry in record["recipes"]] == list(builtin_recipes())
    assert all(entry["description"] for entry in record["recipes"])
    assert all(name in said.out for name in builtin_recipes())
    assert max(map(len, said.out.splitlines())) <= 80


@pytest.mark.parametrize("name", builtin_recipes())
def test_a_shown_recipe_reads_back(run, name):
    """P2, F2: TOML and JSON of a recipe read back as the recipe itself."""
    known = plugins.component_registry()

    toml = recipe_from_toml(run("recipes", "show", name).out, known)
    record = recipe_from_dict(run("recipes", "show", name, "--json").json, known)

    assert toml == builtin_recipes()[name]
    assert record == builtin_recipes()[name]


def test_plugins_are_listed_by_group_with_their_origin(run):
    """F2, S12: stages, formats, recipes and adapters, with the package that brings them."""
    said = run("plugins")
    record = run("plugins", "--json").json
    named = {(entry["group"], entry["name"]) for entry in record["plugins"]}

    assert all(set(e) == {"group", "name", "origin", "summary"} for e in record["plugins"])
    assert {
        ("stages", "pack"),
        ("formats", "xml"),
        ("recipes", "default"),
        ("tokenizers", "cl100k_base"),
        ("embedders", "wordllama"),
        ("loaders", ".md"),
        ("stores", "file"),
    } <= named
    assert said.out.startswith("stages\n")
    assert max(map(len, said.out.splitlines())) <= 80


def test_plugins_say_a_sentence_once(run):
    """F2: what all names of a group have in common stands once, and every name is there."""
    said = " ".join(run("plugins").out.split())
    found = run("plugins", "--json").json["plugins"]

    for summary in {entry["summary"] for entry in found}:
        assert said.count(summary) == 1, summary
    assert [entry["name"] for entry in found if entry["name"] not in said] == []
    assert "foveate: " not in said  # the package is named where it is not ours


def test_the_version_is_the_packages(run):
    """F2: --version prints one line."""
    assert run("--version").out == f"foveate {foveate.__version__}\n"


@pytest.mark.parametrize(
    "words",
    [[], ["--help"], ["-h"]],
    ids=["nothing", "--help", "-h"],
)
def test_help_names_every_command(run, words):
    """F2: the program alone, and its help, list the commands and the exit codes."""
    ran = run(*words)

    assert (ran.code, ran.err) == (0, "")
    for name in ("index", "search", "assemble", "assemble-batch", "replay", "recipes", "plugins"):
        assert f"\n  {name} " in ran.out
    assert "4 budget too small" in " ".join(ran.out.split())
    assert max(map(len, ran.out.splitlines())) <= 80


def test_every_command_has_json(run):
    """F2: `--json` everywhere."""
    for words in ("index", "search", "assemble", "assemble-batch", "replay", "plugins"):
        assert "--json" in run(words, "--help").out
    for words in ("list", "show"):
        assert "--json" in run("recipes", words, "--help").out


def test_help_loads_nothing_heavy():
    """F2: help comes without the core, the adapters or anything that computes."""
    code = (
        "import json, sys\nfrom foveate.cli import main\nmain(['assemble', '--help'])\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(PACKAGE.parent)},
    )
    loaded = set(json.loads(done.stdout.splitlines()[-1]))

    assert loaded & {"numpy", "blake3", "toktok", "sqlite3", "wordllama", "sentencex"} == set()
    assert loaded & {"foveate.core.types", "foveate.pipeline.options", "rich"} == set()


@pytest.mark.parametrize("group", [(), ("store",), ("eval",), ("keys",), ("recipes",)], ids=str)
def test_each_command_is_said_in_full(run, group):
    """F2: in a list of commands no line is cut off at 80 columns."""
    lines = run(*group, "--help").out.partition("Commands:")[2].splitlines()

    assert len(lines) > 2
    assert [line for line in lines if line.endswith("...") or len(line) > 80] == []

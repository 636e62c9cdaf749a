"""Third parties through entry points: a real distribution on the path, found and named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from foveate.core.recipes import builtin_recipes
from http_wire import ask
from mcp_agents import DOCUMENTS, indexed, program, session
from service_process import running
from source_tree import PACKAGE

STAGE = '''
from foveate import Step


def backwards(candidates, request):
    """Turns the order round."""
    return Step(candidates=candidates[::-1])


class Longest:
    """Names a reranker."""

    name = "longest@1"


BROKEN = 1 / 0 if __name__ == "broken" else 0
'''
TOKENIZER = '''
class Letters:
    """A token a letter."""

    name = "letters"
    fingerprint = "letters-1"

    def count(self, text):
        """How many letters."""
        return len(text)

    def truncate(self, text, n):
        """The first n letters."""
        return text[:n]
'''
RECIPE = '''
from foveate.core.formats.minimal import Minimal
from foveate.core.stages.pack import Pack
from foveate.core.request import Recipe


def reversed_chat():
    """The chat recipe, last first."""
    from backwards import backwards

    return Recipe(name="reversed-chat", stages=(Pack(policy="greedy"), backwards), format=Minimal())
'''
MODEL = '''
from foveate.testing.fakes import ScriptedModel


def make(which):
    """Says the question again, in capitals where it is loud."""
    def says(messages):
        text = messages[-1]["content"]
        return text.upper() if which == "loud" else text

    return ScriptedModel(says=says)
'''


def distribution(folder: Path, entry_points: str) -> None:
    """Put an installed distribution into the folder, as pip leaves one."""
    info = folder / "somebody-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somebody\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(textwrap.dedent(entry_points))
    (folder / "backwards.py").write_text(STAGE)
    (folder / "broken.py").write_text(STAGE)
    (folder / "theirs.py").write_text(RECIPE)
    (folder / "letters.py").write_text(TOKENIZER)
    (folder / "mine.py").write_text(MODEL)


def python(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process that has the folder on its path."""
    setup = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    return subprocess.run(
        [sys.executable, "-c", setup + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_another_package_brings_is_used_by_its_name(tmp_path: Path) -> None:
    """S12, T5, B5, F8: found by entry points, in TOML too, and listed; wrong names are told."""
    distribution(
        tmp_path,
        """
        [foveate.stages]
        backwards = backwards:backwards
        [foveate.recipes]
        reversed-chat = theirs:reversed_chat
        [foveate.rerankers]
        longest = backwards:Longest
        [foveate.tokenizers]
        letters = letters:Letters
        [foveate.models]
        mine = mine:make
        """,
    )
    done = python(
        tmp_path,
        """
        from foveate import UnknownName, assemble, plugins
        from foveate.core.spec import recipe_from_toml, recipe_to_toml
        from foveate.testing.models import MESSAGES

        rows = [{"text": "First.", "score": 2}, {"text": "Last.", "score": 1}]
        print(assemble("q", rows, recipe="reversed-chat", budget=50).text.split())
        recipe = plugins.recipe("reversed-chat")
        registry = plugins.component_registry()
        assert recipe_from_toml(recipe_to_toml(recipe, registry), registry) == recipe
        print(plugins.reranker("longest").name)
        context = assemble("q", [{"text": "Seven"}], recipe="chat", budget=5, tokenizer="letters")
        print(context.token_count, context.manifest.tokenizer_fingerprint)
        print(plugins.model("mine:loud").complete(MESSAGES).text.splitlines()[-1])
        for wrong in ("plugins.tokenizer('cl100k')", "plugins.model('yours:loud')"):
            try:
                eval(wrong)
            except UnknownName as error:
                print(error)
        print(*{p.origin for p in plugins.list_plugins()} - {"foveate"})
        print(*[p.name for p in plugins.list_plugins() if p.origin != "foveate"])
        """,
    )

    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "['Last.', 'First.']",
        "longest@1",
        "5 letters-1",
        "HOW DEEP IS THE WELL?",
        "unknown tokenizer 'cl100k'; did you mean 'cl100k_base'?",
        "unknown model 'yours:loud'; known: anthropic:MODEL, gguf:FILE, ollama:MODEL, openai:MODEL",
        "somebody 1.2",
        "backwards reversed-chat letters mine longest",
    ]


BROKEN = """
[foveate.stages]
pack = backwards:backwards
raises = broken:backwards
[foveate.formats]
leaves = leaves:anything
[foveate.recipes]
missing = nowhere:recipe
list = lists:recipe
default = theirs:reversed_chat
reversed-chat = theirs:reversed_chat
[foveate.tokenizers]
cl100k_base = letters:Letters
letters = letters:Letters
[foveate.embedders]
leaves = leaves:anything
[foveate.models]
openai = mine:make
mine = leaves:make
[foveate.prompts]
strict = leaves:anything
dire = broken:anything
"""
"""Entry points of which two can be used, each of the others broken in its own way."""
REASONS = {
    "stage pack": "has a name that is taken",
    "stage raises": "does not load (ZeroDivisionError: division by zero)",
    "format leaves": "does not load (SystemExit: 7)",
    "recipe default": "has a name that is taken",
    "recipe list": "gives a list, not a Recipe",
    "recipe missing": "does not load (ModuleNotFoundError: No module named 'nowhere')",
    "tokenizer cl100k_base": "has a name that is taken",
    "embedder leaves": "does not load (SystemExit: 7)",
    "model openai": "has a name that is taken",
    "model mine": "does not load (SystemExit: 7)",
    "prompt strict": "has a name that is taken",
    "prompt dire": "does not load (ZeroDivisionError: division by zero)",
}


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A folder with a distribution most of whose plugins are broken."""
    distribution(tmp_path, BROKEN)
    (tmp_path / "leaves.py").write_text("import sys\n\nsys.exit(7)\n")
    (tmp_path / "lists.py").write_text("def recipe():\n    return []\n")
    return tmp_path


def foveate(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command, in a process that has the folder on its path."""
    return subprocess.run(
        [sys.executable, "-m", "foveate", *words],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": f"{PACKAGE.parent}{os.pathsep}{folder}", "COLUMNS": "100"},
    )


def test_what_is_broken_is_listed_with_its_reason(broken: Path) -> None:
    """X6: `foveate plugins` lists what can be used, and every broken plugin with the reason."""
    record = json.loads(foveate(broken, "plugins", "--json").stdout)
    said = foveate(broken, "plugins")
    usable = [(p["group"], p["name"]) for p in record["plugins"] if p["origin"] != "foveate"]
    reasons = {f"{b['group'].rstrip('s')} {b['name']}": b["reason"] for b in record["broken"]}

    assert usable == [("recipes", "reversed-chat"), ("tokenizers", "letters")]
    assert reasons == REASONS
    assert {entry["origin"] for entry in record["broken"]} == {"somebody 1.2"}
    assert (said.returncode, said.stderr) == (0, "")
    listed = " ".join(said.stdout.partition("\nbroken\n")[2].split())
    for name, reason in REASONS.items():
        assert f"somebody 1.2: {reason}" in listed
        assert name in listed


def test_recipes_are_listed_beside_broken_ones(broken: Path) -> None:
    """X6: broken recipes are no part of the list; a line for each says why."""
    done = foveate(broken, "recipes", "list", "--json")
    names = [entry["name"] for entry in json.loads(done.stdout)["recipes"]]

    assert done.returncode == 0
    assert names == [*builtin_recipes(), "reversed-chat"]
    assert done.stderr.splitlines() == [
        f"foveate: warning: the recipe '{name}' of somebody 1.2 {REASONS[f'recipe {name}']}; "
        "upgrade or uninstall it"
        for name in ("default", "list", "missing")
    ]


def test_a_service_starts_beside_broken_plugins(broken: Path) -> None:
    """X6: the service serves, and its log names each broken plugin once."""
    with running(broken / "service", packages=broken) as service:
        recipes = ask(service.address, "GET", "/v1/recipes")
        said = service.said()

    assert "reversed-chat" in [entry["name"] for entry in recipes.json()["recipes"]]
    for name, reason in REASONS.items():
        kind, _, which = name.partition(" ")
        line = f"the {kind} '{which}' of somebody 1.2 {reason}; upgrade or uninstall it"
        assert said.count(line) == 1


def test_agents_have_their_tools_beside_broken_plugins(broken: Path) -> None:
    """X6, F4: `foveate mcp` starts, and offers the recipes that can be used."""
    server = program(indexed(broken, DOCUMENTS))
    server.env = {"PYTHONPATH": f"{PACKAGE.parent}{os.pathsep}{broken}"}
    with session(server) as agent:
        recipe = agent.tools()[0].input_schema["properties"]["recipe"]

    assert recipe["enum"] == [*builtin_recipes(), "reversed-chat"]


NAMED = {
    "recipe missing": "plugins.recipe('missing')",
    "recipe list": "assemble('q', rows, recipe='list')",
    "format leaves": "assemble('q', rows, format='leaves')",
    "stage raises": "assemble('q', rows, recipe='raises.toml')",
    "embedder leaves": "plugins.embedder('leaves')",
    "model mine": "plugins.model('mine:loud')",
    "prompt dire": "assemble('q', rows, prompt='dire')",
    "again recipe missing": "RequestOptions(Settings(store='', recipe='missing'))",
}
"""By the broken plugin, what names it."""


def test_a_broken_plugin_that_is_named(broken: Path) -> None:
    """X1: whoever names a broken plugin is told whose it is and what is wrong with it."""
    recipe = broken / "raises.toml"
    recipe.write_text('name = "mine"\nformat = "minimal"\nstages = [{use = "raises"}]\n')
    calls = [code.replace("raises.toml", str(recipe)) for code in NAMED.values()]
    done = python(
        broken,
        f"""
        from foveate import ExternalError, assemble, plugins
        from foveate.service.request_options import RequestOptions
        from foveate.service.settings import Settings

        rows = [{{"text": "Fine."}}]
        for call in {calls!r}:
            try:
                eval(call)
            except ExternalError as error:
                print(error)
        """,
    )

    assert done.stderr == ""
    told = [name.removeprefix("again ").split() for name in NAMED]
    assert done.stdout.splitlines() == [
        f"the {kind} {name!r} of somebody 1.2 {REASONS[f'{kind} {name}']}; upgrade or uninstall it"
        for kind, name in told
    ]


def test_a_plugin_is_loaded_alone(broken: Path) -> None:
    """X6: naming a plugin loads that one and none beside it."""
    done = python(
        broken,
        """
        import sys
        from foveate import assemble, plugins

        rows = [{"text": "Fine."}]
        print(assemble("q", rows, recipe="reversed-chat", format="minimal", budget=50).text)
        print(plugins.tokenizer("letters").name, plugins.recipe("default").name)
        print({"broken", "leaves", "lists", "mine"} & set(sys.modules))
        """,
    )

    assert (done.stdout, done.stderr) == ("Fine.\nletters default\nset()\n", "")


def test_two_plugins_of_one_name(tmp_path: Path) -> None:
    """X6: which of two is meant cannot be known, so neither is used."""
    for number in (1, 2):
        info = tmp_path / f"author{number}-1.{number}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: author{number}\nVersion: 1.{number}\n"
        )
        (info / "entry_points.txt").write_text(f"[foveate.stages]\nturn = turn{number}:stage\n")
        (tmp_path / f"turn{number}.py").write_text("def stage(candidates, request): ...\n")
    record = json.loads(foveate(tmp_path, "plugins", "--json").stdout)

    assert record["broken"] == [
        {
            "group": "stages",
            "name": "turn",
            "origin": "author1 1.1 and author2 1.2",
            "reason": "is registered more than once",
        }
    ]


def test_ctrl_c_while_a_plugin_loads(tmp_path: Path) -> None:
    """X6: an interrupt is no fault of the plugin that was being loaded."""
    distribution(tmp_path, "[foveate.stages]\nslow = slow:stage\n")
    (tmp_path / "slow.py").write_text("raise KeyboardInterrupt\n")
    done = foveate(tmp_path, "plugins")

    assert (done.returncode, done.stdout) == (130, "")


def test_a_broken_plugin_does_not_stop_the_built_in_recipes(tmp_path: Path) -> None:
    """X3: assembling with a built-in recipe looks at no entry point."""
    distribution(tmp_path, "[foveate.stages]\nbad = broken:backwards\n")
    done = python(
        tmp_path,
        """
        from foveate import assemble

        print(assemble("q", [{"text": "Fine."}], recipe="chat", budget=50).text)
        """,
    )

    assert (done.stdout, done.stderr) == ("Fine.\n", "")

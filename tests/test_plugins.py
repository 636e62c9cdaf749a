"""Third parties through entry points: a real distribution on the path, found and named."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

STAGE = '''
from foveate import Step


def backwards(candidates, request):
    """Turns the order round."""
    return Step(candidates=candidates[::-1])


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
from foveate.core.types import Recipe


def reversed_chat():
    """The chat recipe, last first."""
    from backwards import backwards

    return Recipe(name="reversed-chat", stages=(Pack(policy="greedy"), backwards), format=Minimal())
'''
MODEL = '''
from foveate.testing.fakes import Told


def make(which):
    """Says the question again, in capitals where it is loud."""
    return Told(says=lambda m: m[-1]["content"].upper() if which == "loud" else m[-1]["content"])
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


def python(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process that has the folder on its path."""
    setup = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    return subprocess.run(
        [sys.executable, "-c", setup + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_stage_and_recipe_of_another_package(tmp_path: Path) -> None:
    """S12: a stage and a recipe from entry points are used by name, listed, and in TOML."""
    distribution(
        tmp_path,
        """
        [foveate.stages]
        backwards = backwards:backwards
        [foveate.recipes]
        reversed-chat = theirs:reversed_chat
        """,
    )
    done = python(
        tmp_path,
        """
        from foveate import assemble, plugins
        from foveate.core.spec import recipe_from_toml, recipe_to_toml

        rows = [{"text": "First.", "score": 2}, {"text": "Last.", "score": 1}]
        print(assemble("q", rows, recipe="reversed-chat", budget=50).text.split())
        recipe = plugins.recipe("reversed-chat")
        assert recipe_from_toml(recipe_to_toml(recipe, plugins.known()), plugins.known()) == recipe
        print(*[(p.group, p.name, p.origin) for p in plugins.listed() if p.origin != "foveate"])
        """,
    )

    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "['Last.', 'First.']",
        "('stages', 'backwards', 'somebody 1.2') ('recipes', 'reversed-chat', 'somebody 1.2')",
    ]


def test_tokenizer_of_another_package(tmp_path: Path) -> None:
    """B5: a tokenizer from an entry point is used by its name; a wrong name names the near miss."""
    distribution(tmp_path, "[foveate.tokenizers]\nletters = letters:Letters\n")
    (tmp_path / "letters.py").write_text(TOKENIZER)
    done = python(
        tmp_path,
        """
        from foveate import UnknownName, assemble

        context = assemble("q", [{"text": "Seven"}], recipe="chat", budget=5, tokenizer="letters")
        print(context.token_count, context.manifest.tokenizer_fingerprint)
        try:
            assemble("q", [{"text": "Seven"}], tokenizer="cl100k")
        except UnknownName as error:
            print(error)
        """,
    )

    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "5 letters-1",
        "unknown tokenizer 'cl100k'; did you mean 'cl100k_base'?",
    ]


def test_model_of_another_package(tmp_path: Path) -> None:
    """F8: `mine:WHICH` is the model that the entry point `mine` gives for WHICH."""
    distribution(tmp_path, "[foveate.models]\nmine = mine:make\n")
    (tmp_path / "mine.py").write_text(MODEL)
    done = python(
        tmp_path,
        """
        from foveate import UnknownName, plugins
        from foveate.testing.models import MESSAGES

        print(plugins.model("mine:loud").complete(MESSAGES).text.splitlines()[-1])
        print(*[p.name for p in plugins.listed() if p.group == "models"])
        try:
            plugins.model("yours:loud")
        except UnknownName as error:
            print(type(error).__name__)
        """,
    )

    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "HOW DEEP IS THE WELL?",
        "anthropic:MODEL gguf:FILE ollama:MODEL openai:MODEL mine",
        "UnknownName",
    ]


@pytest.mark.parametrize(
    ("entry_points", "message"),
    [
        ("[foveate.stages]\npack = backwards:backwards\n", "a name that is taken"),
        ("[foveate.stages]\nbad = broken:backwards\n", "does not load (ZeroDivisionError"),
        ("[foveate.stages]\nbad = nowhere:backwards\n", "does not load (ModuleNotFoundError"),
    ],
    ids=["taken", "raises", "missing"],
)
def test_a_plugin_that_cannot_be(tmp_path: Path, entry_points: str, message: str) -> None:
    """X1: a plugin that takes a name or does not load is named with its distribution."""
    distribution(tmp_path, entry_points)
    done = python(
        tmp_path,
        """
        from foveate import OutsideFailure, plugins

        try:
            plugins.known()
        except OutsideFailure as error:
            print(error)
        """,
    )

    assert message in done.stdout
    assert "somebody 1.2" in done.stdout


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

"""System prompts: four of them in four languages, following the format, replaceable."""

from __future__ import annotations

from importlib.resources import files

import pytest

from foveate import BadInput, UnknownName, assemble, plugins
from foveate.core import formats
from foveate.pipeline.prompts import (
    LANGUAGES,
    REFUSALS,
    marker_from_context,
    marker_from_format,
    system_prompt,
)
from foveate.providers.tokenizers import load_tokenizer
from resolving import resolve

FOUND = [
    {"text": "The well is nine metres deep.", "source": "wells.md", "title": "Wells", "page": 3},
    {"text": "Water is pumped at three bar.", "source": "pumps.md", "score": -1},
]
CITED = {
    "doc": "",
    "grouped": "",
    "markdown": "[1]",
    "minimal": None,
    "numbered": "[1]",
    "openai-parts": "[1]",
    "source": "[SOURCE 1]",
    "xml": "[1]",
    "anthropic-document": None,
    "anthropic-search-result": None,
}
"""Format → how its sources are cited; "" by name, None not at all or by the provider itself."""


def test_each_prompt_is_one_file_a_language():
    """R5: four prompts, and what is added for speech, in four languages; nothing else."""
    names = {
        file.name
        for file in files("foveate.pipeline.prompts").iterdir()
        if file.name.endswith(".md")
    }

    parts = (*plugins.PROMPTS, "spoken")
    assert names == {f"{part}.{language}.md" for part in parts for language in LANGUAGES}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("prompt", plugins.PROMPTS)
def test_what_a_prompt_says(prompt, language):
    """R5: each says how sources are cited but the spoken one, is short, and leaves no gap open."""
    text = system_prompt(prompt, marker="[SOURCE 1]", language=language)

    assert ("[SOURCE 1]" in text) == (prompt != "voice")
    assert (REFUSALS[language] in text) == (prompt == "strict")
    assert "{" not in text
    assert load_tokenizer("cl100k_base").count(text) < 260


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("prompt", plugins.PROMPTS)
def test_nothing_is_cited_aloud(prompt, language):
    """C4, R5: in the voice channel no prompt asks for markers, and each asks for speech."""
    text = system_prompt(prompt, channel="voice", language=language)
    spoken = files("foveate.pipeline.prompts").joinpath(f"spoken.{language}.md").read_text().strip()

    assert "[1]" not in text
    assert (spoken in text) == (prompt != "voice")


@pytest.mark.parametrize("name", formats.BUILTIN)
def test_the_example_follows_the_format(name):
    """R5, C1: the prompt's example is a marker as this format writes it."""
    assert marker_from_format(formats.BUILTIN[name]()) == CITED[name]


@pytest.mark.parametrize("name", [n for n in formats.BUILTIN if not n.startswith("anthropic")])
def test_the_context_says_the_same(name):
    """R5: what was assembled leads to the same example as the format that it was planned with."""
    context = assemble("How deep?", FOUND, recipe="naive", format=name, budget=300)

    assert marker_from_context(context) == CITED[name]


def test_an_empty_context_cites_nothing():
    """R5: where no block is left, no marker is asked for."""
    context = assemble("How deep?", FOUND, recipe="factual-qa", budget=500)
    empty = assemble("How deep?", [{"text": "Deep.", "score": 0}], recipe="cfs-021", budget=500)

    assert marker_from_context(context) == "[1]"
    assert (marker_from_context(empty) is None) == (not empty.citations)


def test_a_file_of_ones_own(tmp_path):
    """R5: a path replaces the prompt; its placeholders are filled in."""
    path = tmp_path / "house.md"
    path.write_text("Be kind.\r\n\r\nCite like {marker}.\n\nElse say: {refusal} {other}\n")

    assert system_prompt(str(path)).split("\n\n") == [
        "Be kind.",
        "Cite like [1].",
        f"Else say: {REFUSALS['en']} {{other}}",
    ]
    assert "Cite" not in system_prompt(str(path), marker=None)


def test_a_file_of_one_paragraph(tmp_path):
    """R5, C4: without markers it loses the sentences that speak of them, and no others."""
    path = tmp_path / "house.md"
    path.write_text("Use the notes. Cite like {marker}. Else say: {refusal}\n")

    assert system_prompt(str(path)) == f"Use the notes. Cite like [1]. Else say: {REFUSALS['en']}"
    assert system_prompt(str(path), marker=None) == f"Use the notes. Else say: {REFUSALS['en']}"
    spoken = system_prompt(str(path), channel="voice").split("\n\n")
    assert spoken[0] == f"Use the notes. Else say: {REFUSALS['en']}"
    assert len(spoken) == 2


@pytest.mark.parametrize("channel", ["text", "voice"])
def test_a_file_that_speaks_of_markers_alone(tmp_path, channel):
    """R5, X2: what would vanish is refused wherever it is used, not only where it would."""
    path = tmp_path / "house.md"
    path.write_text("Use {marker} and say {refusal}. Cite like {marker}.")

    with pytest.raises(BadInput, match=r"house\.md: nothing is left .* of its own"):
        system_prompt(str(path), channel=channel)


@pytest.mark.parametrize(
    ("data", "said"),
    [(None, "no such file"), (b" \n", "is empty"), (b"\xff\xfe\xfa", "not UTF-8")],
)
def test_files_that_cannot_be(tmp_path, data, said):
    """X1, X2: what is wrong with a prompt's file is said with its name."""
    path = tmp_path / "house.md"
    if data is not None:
        path.write_bytes(data)

    with pytest.raises(BadInput, match=rf"house\.md: .*{said}"):
        system_prompt(str(path))


def test_names_that_are_none():
    """X1: a wrong prompt or language names what there is."""
    with pytest.raises(UnknownName, match="did you mean 'grounded'"):
        system_prompt("ground")
    with pytest.raises(UnknownName, match="language of prompts 'es'"):
        system_prompt("grounded", language="es")


def test_the_plan_knows_the_prompt():
    """B2, R5: it is made for the recipe's format, and its tokens are in the system zone."""
    settled = resolve(model="gpt-4o", recipe="source-label", prompt="strict", query="How deep?")
    without = resolve(model="gpt-4o", recipe="source-label", query="How deep?")
    counted = load_tokenizer("o200k_base").count(settled.system)

    assert "[SOURCE 1]" in settled.system
    assert settled.budget.system - without.budget.system == counted
    assert without.budget.documents - settled.budget.documents == counted

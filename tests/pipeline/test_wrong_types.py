"""Values of a wrong type are refused where they are passed, with what to pass."""

from __future__ import annotations

from pathlib import Path

import pytest

import foveate
from command_line import CHUNKS, QUERY
from foveate import Assembler, BadInput, BadOption, assemble
from foveate.testing.fakes import ScriptedModel


@pytest.mark.parametrize("store", ["shelf", Path("shelf")])
def test_a_path_is_no_store(store):
    """X1: the error gives the call that opens it."""
    with pytest.raises(BadOption, match=r"open it first: foveate.open_store\('shelf'\)"):
        Assembler(store)


def test_a_document_store_assembles_by_itself(tmp_path):
    """X1: what `open_store` gives has an assembler; its `.store` is a store."""
    opened = foveate.open_store(tmp_path / "shelf", embedder=_NoVectors())

    with opened, pytest.raises(BadOption, match=r"call its assemble\(\), or pass its .store"):
        Assembler(opened)


def test_swapped_arguments_are_named():
    """X2: the question comes first, then a list of candidates."""
    with pytest.raises(BadInput, match="field 'query': must be the question as a string, not list"):
        assemble(CHUNKS, QUERY)
    with pytest.raises(BadInput, match="give a list of candidates after the question, not a str"):
        assemble(QUERY, QUERY)
    with pytest.raises(BadInput, match="field 'messages': must be a list of messages, not int"):
        foveate.compact(100, CHUNKS)


@pytest.mark.parametrize("options", [60, {"budget": 60}, {}])
def test_options_are_named(options):
    """X1: a budget without its name, or fields in a mapping, get the call that is meant."""
    with pytest.raises(BadOption, match=r"options is .*; name what you give, as in .*budget=60"):
        assemble(QUERY, CHUNKS, options)
    with pytest.raises(BadOption, match="options is "):
        Assembler(options=options)


@pytest.mark.parametrize("context", ["the text", {"text": "the text"}, None])
def test_only_a_context_is_a_context(context):
    """X2: its text or its JSON is refused by each function that takes one."""
    model = ScriptedModel(says=lambda messages: "Yes [1].")
    words = "field 'context': give the Context that assemble returned, not"

    with pytest.raises(BadInput, match=words):
        foveate.messages(context)
    with pytest.raises(BadInput, match=words):
        foveate.ask(context, model)
    with pytest.raises(BadInput, match=words):
        foveate.check_answer("Yes [1].", context)


class _NoVectors:
    name, dimensions = "none@1", 4

    def embed(self, texts):
        return [[0.0] * 4 for _ in texts]

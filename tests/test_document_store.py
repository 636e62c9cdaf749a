"""The short way in from Python: from a folder to a context and an answer."""

from __future__ import annotations

import pytest

import foveate
from foveate.answer.ask import AskOptions
from foveate.cli import main
from foveate.core.errors import BadInput, UnknownName
from foveate.testing.fakes import ScriptedModel


@pytest.fixture
def folder(tmp_path):
    """A folder with two documents."""
    manual = tmp_path / "manual"
    manual.mkdir()
    (manual / "boiler.md").write_text("# Pressure\n\nKeep the pressure between one and two bar.\n")
    (manual / "winter.md").write_text("# Winter\n\nDrain the boiler before the first frost.\n")
    return manual


@pytest.fixture
def store(tmp_path, folder):
    """The folder's documents in a store."""
    with foveate.open_store(tmp_path / "store", embedder="hashing") as opened:
        opened.index(folder)
        yield opened


def test_a_folder_becomes_a_context(store):
    """F1: index a folder, ask, and the context is a text within the budget."""
    context = store.assemble("Which pressure is right?", budget=60)

    assert "between one and two bar" in context.text
    assert context.token_count <= 60
    assert store.search("pressure", limit=1).candidates[0].chunk.source.endswith("boiler.md")


def test_options_are_a_value_or_named(store):
    """F1, X1: options do as its fields do, and a number without a name is told what to be."""
    options = foveate.AssembleOptions(budget=60, limit=1)

    assert store.assemble("Which pressure?", options) == store.assemble(
        "Which pressure?", budget=60, limit=1
    )
    assert len(store.search("Which pressure?", options).candidates) == 1
    for call in (store.assemble, store.search):
        with pytest.raises(foveate.BadOption, match=r"options is 60; .* as in budget=60, or"):
            call("Which pressure?", 60)


def test_the_report_says_what_was_indexed(tmp_path, folder):
    """T2: a second run writes what changed alone."""
    with foveate.open_store(tmp_path / "store", embedder="hashing") as opened:
        first, second = opened.index(folder), opened.index(folder)

    assert (first.added, second.added, second.unchanged) == (2, 0, 2)


def test_readers_are_a_list(tmp_path, folder):
    """X5: documents for `red` were for whoever is called `r`, `e` or `d`."""
    with (
        foveate.open_store(tmp_path / "store", embedder="hashing") as opened,
        pytest.raises(BadInput, match="must be a list of strings, not 'red'"),
    ):
        opened.index(folder, principals="red")


def test_the_command_line_and_python_index_alike(tmp_path, folder):
    """T2, F2: what one wrote, the other leaves as it is."""
    place = tmp_path / "store"
    assert main(["index", str(folder), "--store", str(place), "--embedder", "hashing"]) == 0

    with foveate.open_store(place) as opened:
        report = opened.index(folder)

    assert (report.unchanged, report.updated) == (2, 0)


def test_a_store_that_cannot_be_made_is_bad_input(tmp_path, folder):
    """X1: what is wrong with its place is told by the first write, as `open_store` would."""
    with foveate.open_store(tmp_path / "store", embedder="hashing") as opened:
        (tmp_path / "store").mkdir()
        (tmp_path / "store" / "other.txt").write_text("not a store's")
        with pytest.raises(BadInput, match="holds other files and no store"):
            opened.index(folder)


def test_a_store_is_opened_again_with_its_own_embedder(tmp_path, store):
    """T1: a store that is there knows its embedder."""
    with foveate.open_store(tmp_path / "store", create=False) as again:
        assert again.embedder.name == store.embedder.name
        assert again.assemble("Which pressure?", budget=60).blocks


def test_an_answer_is_checked_against_its_context(store):
    """F8, C3: a model is asked about the context, and what it cites is mapped."""
    model = ScriptedModel(says=lambda _: "Between one and two bar [1].")
    answer = store.ask(
        "Which pressure is right?", model=model, budget=60, ask_options=AskOptions(window=4096)
    )

    assert [entry.marker for entry in answer.citations] == [1]


def test_a_store_that_is_not_there_is_not_made_unasked(tmp_path):
    """X1: `create=False` refuses, and nothing is written."""
    with pytest.raises(BadInput):
        foveate.open_store(tmp_path / "none", create=False)
    assert not (tmp_path / "none").exists()


def test_only_a_document_makes_a_store(tmp_path, folder):
    """X1, T1: reading what is not there says how to make it, and makes nothing; indexing does."""
    with foveate.open_store(tmp_path / "new", embedder="hashing") as opened:
        for read in (opened.search, opened.assemble):
            with pytest.raises(BadInput, match=r"no store in .*new'; index documents into it"):
                read("Which pressure?")
        assert not (tmp_path / "new").exists()
        opened.index(folder)
        assert opened.assemble("Which pressure is right?", budget=60).blocks


def test_an_option_that_does_not_exist_is_named(store):
    """X1: a misspelled keyword is refused with the one that was meant."""
    with pytest.raises(UnknownName, match="budget"):
        store.assemble("Which pressure?", bugdet=60)

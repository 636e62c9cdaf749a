"""Side knowledge of the caller's own, and the gate before it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from foveate.core.errors import BadInput
from foveate.core.recipes import builtin_recipes
from foveate.core.replay import build_bundle, inputs_from_bundle
from foveate.core.stages.supplement import SupplementGate
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.pipeline.taxonomy import add_supplement_gate, load_taxonomy, taxonomy_from_tables
from foveate.plugins import component_registry
from foveate.stores.caches import open_cache
from resolving import resolve
from text_store import EMBEDDER, stored

TOML = """
[intents]
definition = ["what is", "meaning of"]

[[entries]]
id = "bar"
title = "Bar"
text = "Bar is a unit of pressure of a hundred thousand pascal."

[[entries]]
id = "weir"
text = "A weir is a low wall across a river."

[[entries]]
id = "secret"
text = "What is bar: the unit that the owner pays by."
principals = ["owner"]
"""


@pytest.fixture
def taxonomy(tmp_path):
    """Two entries for all, one for its owner."""
    path = tmp_path / "taxonomy.toml"
    path.write_text(TOML, encoding="utf-8")
    return load_taxonomy(path)


@pytest.fixture
def assembler(tmp_path, taxonomy):
    """A store that knows of boilers alone."""

    def made(recipe="citations", **options):
        settled = AssembleOptions(recipe=recipe, budget=400)
        options = {"embedder": EMBEDDER, "taxonomy": taxonomy, **options}
        return Assembler(store=store, options=settled, **options)

    texts = {"boiler.md": "Drain the boiler before the first frost of the year."}
    with stored(tmp_path / "s", texts) as store:
        yield made


def test_it_enters_where_it_is_asked_for_and_retrieval_was_not_enough(assembler):
    """S11: by intent and similarity, before the context, uncited and counted."""
    context = assembler().assemble("What is bar?")
    blocks = [(block.kind, block.chunk_ids) for block in context.blocks]
    assert ("supplement", ("supplement:bar",)) in blocks
    assert blocks[0][0] == "supplement"
    assert all("supplement" not in str(c.chunk_ids) for c in context.citations)
    assert context.token_count == resolve(recipe="citations").tokenizer.count(context.text) <= 400


@pytest.mark.parametrize("query", ["Is bar much?", "How is the boiler drained?"])
def test_without_its_intent_nothing_enters(assembler, query):
    """S11: suppressed by default, whatever is similar; the context is that of no taxonomy."""
    context = assembler().assemble(query)
    assert {block.kind for block in context.blocks} == {"chunk"}
    assert context.text == assembler(taxonomy=None).assemble(query).text


def test_where_retrieval_was_enough_nothing_enters(assembler):
    """S11: and the trace counts what waited."""
    query = "What is drain the boiler before the first frost of the year"
    context = assembler().assemble(query)
    assert {block.kind for block in context.blocks} == {"chunk"}
    gate = next(stage for stage in context.trace if stage.stage == "supplement_gate")
    assert gate.notes["suppressed"] == 2
    assert gate.notes["similarity"] >= gate.notes["limit"] == 0.5


def test_what_one_may_not_read_is_not_there(assembler):
    """X5, S11: an entry for others neither enters nor is counted."""
    for who, expected in (((), False), (("owner",), True)):
        context = assembler().assemble("What is bar?", principals=who)
        assert ("owner pays" in context.text) is expected


def test_the_recipes_own_gate_stays(taxonomy):
    """S11: a recipe that has a gate decides for itself; all others get one before they pack."""
    for recipe in builtin_recipes().values():
        stages = [type(stage).__name__ for stage in add_supplement_gate(recipe, taxonomy).stages]
        assert stages.count("SupplementGate") == 1
        if "Pack" in stages:
            assert stages.index("SupplementGate") == stages.index("Pack") - 1
    own = resolve(recipe="citations").recipe
    strict = SupplementGate(intents=("other",), max_similarity=0.1)
    own = replace(own, stages=(strict, *own.stages))
    assert add_supplement_gate(own, taxonomy) == own


@pytest.mark.parametrize("recipe", ["default", "tight", "document-first", "four-stage"])
def test_every_recipe_can_take_it(assembler, recipe):
    """S11, B1: and stays within its budget."""
    context = assembler(recipe).assemble("What is bar?")
    assert "supplement" in {block.kind for block in context.blocks}
    assert context.token_count <= 400


def test_async_cached_and_replayed_it_is_the_same(assembler, taxonomy):
    """S11, D4, D5: the intent and the entries are inputs like others."""
    made = assembler(cache=open_cache("memory:4"))
    first = made.assemble("What is bar?")
    assert made.assemble("What is bar?").text == first.text
    assert asyncio.run(assembler().aassemble("What is bar?")).text == first.text
    plain = assembler(taxonomy=None, cache=made.cache).assemble("What is bar?")
    assert plain.text != first.text
    prepared = assembler().run("What is bar?")
    bundle = build_bundle(prepared.inputs, prepared.context, component_registry())
    mine = tuple(one for one in prepared.inputs.supplements if not one.principals)
    assert inputs_from_bundle(bundle, component_registry()).supplements == mine


def test_words_do_where_there_are_no_vectors(taxonomy):
    """S11: the share of the question's terms; and no work without an intent."""
    intent, found = taxonomy.match_entries("meaning of weir")
    assert intent == "definition"
    assert max(found, key=lambda one: one.similarity).id == "weir"
    assert taxonomy.match_entries("the weir") == ("", ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[intents", "not TOML"),
        ("[other]\na=1", "unknown table 'other'"),
        ("entries = 3", "'entries': must be a list"),
        ("[intents]\na = 'b'", r"'intents\.a': must be a list"),
        ("[intents]\na = ['']", r"'intents\.a\[0\]': is blank"),
        ("entries = [1]", r"'entries\[0\]': must be an object"),
        ("[[entries]]\nid='a'", r"'entries\[0\]\.text': is missing"),
        ("[[entries]]\ntext='a'", r"'entries\[0\]\.id': is missing"),
        ("[[entries]]\nid='a'\ntext='b'\nx=1", "unknown key 'x'"),
        (
            "[[entries]]\nid='a'\ntext='b'\nprincipals='x'",
            r"'entries\[0\]\.principals': must be a list",
        ),
        ("[[entries]]\nid='a'\ntext='b'\ntitle=3", r"'entries\[0\]\.title': must be a string"),
        ("[[entries]]\nid='a'\ntext='b'\n[[entries]]\nid='a'\ntext='c'", "two entries"),
    ],
)
def test_what_is_no_taxonomy_is_refused(tmp_path, text, said):
    """S11, X2: with the file and what is wrong in it."""
    path = tmp_path / "t.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=said) as caught:
        load_taxonomy(path)
    assert "t.toml" in str(caught.value)


def test_a_missing_file_is_said(tmp_path):
    """S11, X2: by name; an empty one is an empty taxonomy."""
    with pytest.raises(BadInput, match=r"none\.toml: no such file"):
        load_taxonomy(tmp_path / "none.toml")
    assert taxonomy_from_tables({}).match_entries("What is bar?") == ("", ())

"""The one-liner and the assembler over a real store: sync, async, one round trip for neighbours."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import foveate
from foveate import (
    Assembler,
    BadInput,
    BadOption,
    Budget,
    BudgetTooSmall,
    Recipe,
    UnknownName,
    assemble,
)
from foveate.core.context_json import context_to_json
from foveate.core.recipes import builtin_recipes
from foveate.ingest.run import ingest
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Store
from foveate.providers import tokenizers
from framework_rows import assembling
from resolving import resolve

ROWS = [
    {"text": "The kiln is fired twice a month, with beech and birch.", "score": 0.9},
    {"text": "Glazes are kept in the cellar, away from frost.", "score": 0.5},
]
PAGES = {
    "kiln.md": "# Kiln\n\nThe kiln is fired twice a month.\n\n## Wood\n\nBeech burns longest.\n",
    "glaze.md": "# Glaze\n\nGlazes are kept in the cellar.\n\n## Frost\n\nFrost spoils a glaze.\n",
    "clay.md": "# Clay\n\n" + "Clay is dug in autumn and left to weather. " * 60,
}


@dataclass(slots=True)
class Watched:
    """A store that writes down which of its methods were called."""

    store: Store
    calls: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        """Note the call, then make it."""
        self.calls.append(name)
        return getattr(self.store, name)


@pytest.fixture(scope="module")
def assembler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assembler]:
    """The default plan over a store of three pages, embedded for real."""
    with assembling(tmp_path_factory.mktemp("pages"), PAGES, budget=600) as made:
        yield made


@pytest.fixture
def store(assembler: Assembler) -> Store:
    """Its store."""
    assert assembler.store is not None
    return assembler.store


def test_one_liner() -> None:
    """F1: a query and mappings give a context, with the default recipe and tokenizer."""
    context = assemble("When is the kiln fired?", ROWS)

    assert context.text.startswith("[1] Source: ")
    assert context.manifest.tokenizer == "cl100k_base"
    assert context.manifest.recipe == "default"


def test_from_a_question_to_a_context(assembler: Assembler) -> None:
    """F1: an assembler searches, brings neighbours, assembles, and seals the state root."""
    context = assembler.assemble("When is the kiln fired?")

    assert "The kiln is fired twice a month." in context.text
    assert context.manifest.state_root == assembler.store.state_root()
    assert all(c.document_spans for c in context.citations)


def test_spans_lead_into_the_documents(assembler: Assembler) -> None:
    """C2: the spans of a citation hold, in the file, the words that the context shows."""
    for question in ("kiln", "frost", "clay in autumn"):
        context = assembler.assemble(question)
        for block in context.blocks:
            shown = "".join(PAGES[block.source][a:b] for a, b in block.document_spans)

            assert shown.split() == block.text.replace("[…]", " ").replace("…", " ").split()


def test_neighbours_in_one_round_trip(store: Store) -> None:
    """S5: however many hits there are, their neighbours are one call to the store."""
    watched = Watched(store)
    Assembler(store=watched, options=AssembleOptions(budget=600)).assemble(
        "clay kiln glaze frost autumn"
    )  # type: ignore[arg-type]

    assert watched.calls.count("neighbours") == 1
    assert watched.calls.count("search") == 1
    assert watched.calls.count("counts") <= 1


def test_what_may_not_be_read_changes_nothing(tmp_path: Path) -> None:
    """X5: beside secrets, a caller without rights gets the same JSON, state root included."""
    answers = []
    for with_secrets in (False, True):
        folder = tmp_path / str(with_secrets)
        folder.mkdir()
        with assembling(folder, PAGES, budget=600) as made:
            if with_secrets:
                hidden = tmp_path / "board.md"
                hidden.write_text("# Kiln\n\nThe kiln is sold to the board of glaze.\n")
                tokenizer = tokenizers.load_tokenizer("cl100k_base")
                ingest(hidden, made.store, made.embedder, tokenizer, principals=("board",))
            answers.append(context_to_json(made.assemble("When is the kiln fired?")))
            open_to = made.assemble("Is the kiln sold?", principals=("board",)).text

        assert ("sold" in open_to) == with_secrets

    assert answers[0] == answers[1]


def test_the_state_root_is_of_the_state_that_was_searched(store: Store) -> None:
    """D2: a write between the search and the sealing does not change what is sealed."""
    found = store.search("kiln", None)

    assert found.state_root == store.state_root(principals=())
    assert Assembler(store=store).assemble("kiln").manifest.state_root == found.state_root


def test_async_is_the_same(assembler: Assembler) -> None:
    """F1: the async twins give what the sync ones give."""

    async def both() -> tuple[Any, Any]:
        return await asyncio.gather(
            assembler.aassemble("When is the kiln fired?"), assembler.asearch("frost")
        )

    context, found = asyncio.run(both())

    assert context == assembler.assemble("When is the kiln fired?")
    assert found == assembler.search("frost")


def test_errors_come_out_of_async(assembler: Assembler) -> None:
    """X1: an error in the core reaches the caller of the async twin as it is."""
    small = Assembler(store=assembler.store, options=AssembleOptions(budget=3))

    with pytest.raises(BudgetTooSmall):
        asyncio.run(small.aassemble("clay"))


@pytest.mark.parametrize("query", ["", "  ", "\n"])
def test_empty_query(assembler: Assembler, query: str) -> None:
    """X2: an empty question is refused before the store is asked."""
    with pytest.raises(BadInput, match="the query is empty"):
        assembler.assemble(query)


def test_plan_by_name_and_by_value() -> None:
    """F1: recipe, tokenizer, format and order are given by name or as values."""
    by_name = resolve(recipe="chat", tokenizer="simple", format="xml", order="edges")
    by_value = resolve(
        recipe=builtin_recipes()["chat"],
        tokenizer=tokenizers.load_tokenizer("simple"),
        format=by_name.recipe.format,
        order="edges",
    )

    assert by_name == by_value
    assert by_name.recipe.stages[-1].by == "edges"  # type: ignore[union-attr]


def test_budget_by_number_keeps_other_limits() -> None:
    """B6: a number limits tokens beside the characters that the recipe limits."""
    budget = resolve(recipe="source-label", budget=500).budget

    assert (budget.documents, budget.characters) == (500, 24_000)


def test_model_gives_tokenizer_and_window() -> None:
    """B4: a model's name brings its tokenizer and its window."""
    settled = resolve(model="gpt-4o", query="Why?")

    assert settled.tokenizer.name == "o200k_base"
    assert settled.budget.window == 128_000
    assert resolve(model="openai:gpt-4o", query="Why?").budget == settled.budget
    with pytest.raises(BadOption, match="the model's window leaves"):
        resolve(model="gemma2:9b", budget=9000)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"recipe": "defalt"}, UnknownName, "did you mean 'default'"),
        ({"format": "numberd"}, UnknownName, "did you mean 'numbered'"),
        ({"tokenizer": "cl100k"}, UnknownName, "did you mean 'cl100k_base'"),
        ({"order": "edge"}, BadOption, "edges"),
        ({"budget": 0}, BadOption, "1 or more"),
        ({"budget": -5}, BadOption, "1 or more"),
        ({"budget": True}, BadOption, "whole number or a Budget"),
        ({"budget": 5.5}, BadOption, "whole number or a Budget"),
        ({"channel": "smell"}, BadOption, "channel"),
        ({"recipe": "nowhere.toml"}, BadInput, "nowhere.toml"),
    ],
    ids=str,
)
def test_refuses(options: dict[str, Any], error: type[Exception], message: str) -> None:
    """X1: what is asked for by a wrong name or value is refused with what would do."""
    with pytest.raises(error, match=message):
        assemble("q", ROWS, **options)


def test_recipe_from_a_file(tmp_path: Path) -> None:
    """P2: a recipe is read from a TOML file by its path."""
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nformat = "minimal"\nstages = ["pack"]\n')
    context = assemble("q", ROWS, recipe=str(path))

    assert context.manifest.recipe == "mine"
    assert context.text == f"{ROWS[0]['text']}\n\n{ROWS[1]['text']}"


def test_metadata_in_the_header() -> None:
    """R4: chosen metadata stands in the header, the rest does not."""
    base = builtin_recipes()["citations"]
    recipe = Recipe(
        name="m", stages=base.stages, format=base.format, include_metadata=("year", "none")
    )
    rows = [{"text": ROWS[0]["text"], "source": "k.md", "year": 1871, "shelf": "B"}]
    context = assemble("q", rows, recipe=recipe)

    assert context.text.startswith("[1] Source: k.md, year: 1871\n")
    assert "shelf" not in context.text


def test_public_budget() -> None:
    """B2: the public Budget measures a model's request; zones over the window are refused."""
    budget = Budget.for_model("mistral", system_prompt="Be brief.", query="Why?")

    assert budget.window == 8192
    assert 6000 < (budget.documents or 0) < 8192
    with pytest.raises(BadOption, match="add up to"):
        Budget(documents=130_000, window=128_000)


def test_version() -> None:
    """D2: the manifest carries the version of the package."""
    assert assemble("q", ROWS).manifest.version == foveate.__version__

"""The page of the options: every keyword, with an example that runs."""

from __future__ import annotations

import asyncio
import re
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from foveate import (
    AssembleOptions,
    Assembler,
    Budget,
    Candidate,
    DocumentStore,
    Supplement,
    aassemble,
    assemble,
)
from foveate.core.spec import recipe_to_toml
from foveate.core.types import Chunk
from foveate.pipeline.options import load_recipe
from foveate.plugins import component_registry
from foveate.ports import SearchResult
from source_tree import ROOT

OPTIONS, PORTS = (ROOT / "docs" / "options.md").read_text(encoding="utf-8").split("## Ports")
ROWS = re.findall(r"^\| (?:`(\w+)` )?\| ([^|]*`[^|]*) \|", OPTIONS, re.MULTILINE)
EXAMPLES = [example for _, cell in ROWS for example in re.findall(r"`([^`]+)`", cell)]
NAMES: dict[str, Any] = {
    "Budget": Budget,
    "Path": Path,
    "replace": replace,
    "load_recipe": load_recipe,
    "vector": [1.0, 0.0],
    "before": Chunk(text="The boiler needs water.", document_id="boiler.md", sequence=0),
    "term": Supplement(id="bar", text="1 bar is 100 kPa."),
}


def test_the_page_has_every_keyword() -> None:
    """F1: and none that is gone."""
    assert sorted(filter(None, (name for name, _ in ROWS))) == sorted(
        one.name for one in fields(AssembleOptions)
    )


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_runs(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F1: as the page writes it."""
    monkeypatch.chdir(tmp_path)
    written = recipe_to_toml(load_recipe("tight"), component_registry())
    (tmp_path / "mine.toml").write_text(written, encoding="utf-8")
    model: dict[str, Any] = {"model": "gpt-4.1"} if example.startswith("max_output") else {}
    found = [{"id": "p2", "text": "Keep it between one and two bar.", "source": "boiler.md"}]
    keywords = eval(f"dict({example})", NAMES)  # our own page
    assert assemble("Which pressure is right?", found, **model, **keywords).text


def test_help_shows_every_keyword_with_its_type() -> None:
    """F1: as a notebook's signature does, for all that take them."""
    for function in (assemble, aassemble, Assembler.run, Assembler.search, DocumentStore.assemble):
        shown = signature(function).parameters
        assert [one.name for one in fields(AssembleOptions) if one.name not in shown] == []
        assert shown["budget"].annotation == "int | zones.Budget | None"
        assert "keywords" not in shown


def test_assemble_is_awaited() -> None:
    """F1: with the same arguments, and the same bytes."""
    found = [{"text": "Keep it between one and two bar.", "source": "boiler.md"}]
    awaited = asyncio.run(aassemble("Which pressure?", found, budget=60))
    assert awaited == assemble("Which pressure?", found, budget=60)


def test_a_search_result_is_short_where_it_is_shown() -> None:
    """F1: the best three in a line each, whatever the texts are."""
    chunks = [Chunk(text="A long text. " * 99, source=f"{n}.md") for n in range(20)]
    found = SearchResult(
        candidates=tuple(Candidate(chunk=c, score=0.5) for c in chunks),
        badge="hybrid",
        lexical_matches=3,
    )
    first, *best = repr(found).splitlines()
    assert first == "<SearchResult: 20 candidates, hybrid>"
    assert [line[:12] for line in best] == ["0.5000 0.md:", "0.5000 1.md:", "0.5000 2.md:"]
    assert max(map(len, best)) < 80

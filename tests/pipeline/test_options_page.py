"""The page of the options: every keyword, with an example that runs."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from foveate import AssembleOptions, Budget, Supplement, assemble
from foveate.core.spec import recipe_to_toml
from foveate.core.types import Chunk
from foveate.pipeline.options import load_recipe
from foveate.plugins import component_registry
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
    model = {"model": "gpt-4.1"} if example.startswith("max_output") else {}
    found = [{"id": "p2", "text": "Keep it between one and two bar.", "source": "boiler.md"}]
    keywords = eval(f"dict({example})", NAMES)  # our own page
    assert assemble("Which pressure is right?", found, **model, **keywords).text

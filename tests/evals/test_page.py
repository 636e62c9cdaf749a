"""How a report gets into the documentation."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from foveate.evals.report import CHART_FILE, RESULTS_FILE, write_report
from foveate.evals.rows import write_rows
from foveate.evals.run import run
from foveate.evals.summary import summarise
from foveate.evals.trials import build_setting
from golden_cases import cases
from source_tree import ROOT


@pytest.fixture
def tool() -> ModuleType:
    """tools/evaluation.py."""
    spec = importlib.util.spec_from_file_location("tool", ROOT / "tools" / "evaluation.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def evaluated(folder: Path, datasets: tuple[str, ...]) -> Path:
    """A folder as `foveate eval --out` leaves it: two cases of each set."""
    chosen = [replace(case, dataset=name) for name in datasets for case in cases()[:2]]
    setting, baseline = build_setting(["chat"], [60])
    rows = run(chosen, setting)
    folder.mkdir()
    write_rows(folder / RESULTS_FILE, rows)
    write_report(summarise(rows, baseline=baseline, tokenizer="told"), folder, plot=False)
    return folder


def test_the_figures_are_put_between_the_marks(tool, tmp_path, monkeypatch):
    """E2: sentences, tables, the chart beside them, and the command that made it; made once."""
    folder = evaluated(tmp_path / "out", ("farm",))
    (folder / CHART_FILE).write_bytes(b"png")
    page = f"before\n\n{tool.BEGIN}\n\nold\n\n{tool.END}\n\nafter\n"
    (tmp_path / "evaluation.md").write_text(page, encoding="utf-8")
    monkeypatch.setattr(tool, "DOCS", tmp_path)
    monkeypatch.setattr(tool, "PAGE", tmp_path / "evaluation.md")
    codes = [tool.main([str(folder), "foveate eval"]) for _ in range(2)]
    found = (tmp_path / "evaluation.md").read_text(encoding="utf-8")

    assert codes == [0, 0]
    assert found.startswith(f"before\n\n{tool.BEGIN}\n\nMade by `foveate eval`.\n\nchat finds ")
    assert "2 questions of 1 set, naive, chat at 60 tokens of told" in found
    assert "![Evidence recall over the budget](figures/evidence-recall.png)" in found
    assert "`foveate eval --full` prints the tables of each set." in found
    assert found.endswith(f"\n\n{tool.END}\n\nafter\n")
    assert found.count("### Evidence missed, over the same") == 1
    assert (tmp_path / "figures" / "evidence-recall.png").read_bytes() == b"png"


def test_the_table_by_scores_comes_from_the_second_folder(tool, tmp_path):
    """E2: the sets on which no weight was fitted lead, then the table by scores."""
    folder = evaluated(tmp_path / "out", ("tatqa", "farm"))
    scores = evaluated(tmp_path / "scores", ("farm", "farm (oracle)"))
    found = tool.body(folder, "foveate eval", scores)

    assert [line for line in found.splitlines() if line.startswith("#")][:3] == [
        "### Over the sets on which no weight was fitted: tatqa",
        "### Evidence missed, by the scores of the candidates",
        "### Over 2 sets and 1 budget",
    ]
    assert "| recipe | given | oracle |" in found


def test_without_an_evaluation_it_says_what_to_give(tool, tmp_path, capsys):
    """E2: a folder that holds no evaluation is refused."""
    assert tool.main([str(tmp_path), "foveate eval"]) == 2
    assert "give the folder of an evaluation" in capsys.readouterr().err


def test_the_page_has_its_marks(tool):
    """E2: the place for the results is in the page, once."""
    page = tool.PAGE.read_text(encoding="utf-8")

    assert page.count(tool.BEGIN) == page.count(tool.END) == 1

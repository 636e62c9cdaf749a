"""How a report gets into the documentation."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from types import ModuleType

import pytest

from foveate.evals.rows import write_rows
from foveate.evals.run import run
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


REPORT = "# Evaluation\n\nfoveate 1.\n\n![Chart](recall.png)\n\n## All\n\n| a |\n|---|\n"


def test_a_report_is_put_between_the_marks(tool, tmp_path, monkeypatch):
    """E2: tables under the page's own headings, the chart beside them, the command that made it."""
    page = f"before\n\n{tool.BEGIN}\n\nold\n\n{tool.END}\n\nafter\n"
    (tmp_path / "evaluation.md").write_text(page, encoding="utf-8")
    (tmp_path / "report.md").write_text(REPORT, encoding="utf-8")
    (tmp_path / "recall.png").write_bytes(b"png")
    monkeypatch.setattr(tool, "DOCS", tmp_path)
    monkeypatch.setattr(tool, "PAGE", tmp_path / "evaluation.md")
    code = tool.main([str(tmp_path), "foveate eval"])
    again = tool.main([str(tmp_path), "foveate eval"])
    found = (tmp_path / "evaluation.md").read_text(encoding="utf-8")

    assert (code, again) == (0, 0)
    assert found == (
        f"before\n\n{tool.BEGIN}\n\nMade by `foveate eval`.\n\nfoveate 1.\n\n"
        "![Chart](figures/evidence-recall.png)\n\n### All\n\n| a |\n|---|\n\n"
        f"{tool.END}\n\nafter\n"
    )
    assert (tmp_path / "figures" / "evidence-recall.png").read_bytes() == b"png"


def test_the_table_by_scores_comes_from_the_second_folder(tool, tmp_path):
    """E2: the sets on which no weight was fitted lead, then the table by scores."""
    (tmp_path / "scores").mkdir()
    table = "## Evidence missed, by the scores of the candidates\n\n| b |\n|---|\n"
    (tmp_path / "report.md").write_text(REPORT, encoding="utf-8")
    (tmp_path / "scores" / "report.md").write_text(f"# E\n\n{table}\n## All\n", encoding="utf-8")
    rows = run(
        [replace(case, dataset="tatqa") for case in cases()[:2]], build_setting(["chat"], [60])[0]
    )
    write_rows(tmp_path / "results.jsonl", rows)
    found = tool.body(tmp_path, "foveate eval", tmp_path / "scores")

    assert [line for line in found.splitlines() if line.startswith("#")] == [
        "### Over the sets on which no weight was fitted: tatqa",
        "### Evidence missed, by the scores of the candidates",
        "### All",
    ]
    assert "| chat   |" in found


def test_without_a_report_it_says_what_to_give(tool, tmp_path, capsys):
    """E2: a folder that holds no report is refused."""
    assert tool.main([str(tmp_path), "foveate eval"]) == 2
    assert "give the folder of an evaluation" in capsys.readouterr().err


def test_the_page_has_its_marks(tool):
    """E2: the place for the results is in the page, once."""
    page = tool.PAGE.read_text(encoding="utf-8")

    assert page.count(tool.BEGIN) == page.count(tool.END) == 1

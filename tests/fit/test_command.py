"""The command: no set has a say in the weights that it is judged by, and the figures are kept."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tools.evaluation import BEGIN, END
from tools.fit import __main__ as command
from tools.fit import folds, learn
from tools.fit.folds import fits
from tools.fit.units import gather

from golden_cases import FILE, cases


def quiet(done: int, total: int, what: str) -> None:
    """Nobody is told."""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets for small questions, and few steps."""
    for module in (learn, folds):
        monkeypatch.setattr(module, "BUDGETS", (60, 150))
    monkeypatch.setattr(learn.fit, "__defaults__", (5,))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Our own cases as a folder of sets."""
    (tmp_path / "own.jsonl.gz").write_bytes(gzip.compress(FILE.read_bytes()))
    return tmp_path


def test_a_set_has_no_say_in_the_weights_it_is_judged_by(small: None) -> None:
    """E1: whatever its evidence, the weights without it are the same; the others' are not."""
    units = gather(cases(), quiet)
    before = fits(units, quiet)
    rows = np.repeat(units.sets == "farm", np.diff(units.first))
    gold = np.where(rows, units.gold[::-1], units.gold)
    after = fits(replace(units, gold=gold), quiet)

    assert tuple(before.without) == ("farm", "hof", "ferme", "shan", "chunkeval")
    assert after.without["farm"] == before.without["farm"]
    assert after.without["hof"] != before.without["hof"]


def test_the_whole_command(
    small: None, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """E2: tables on the page between its marks, figures as JSON; a second run makes the same."""
    page, figures = folder / "page.md", folder / "figures.json"
    page.write_text(f"before\n\n{BEGIN}\n{END}\n\nafter\n", encoding="utf-8")
    monkeypatch.setattr(command, "PAGE", page)
    monkeypatch.setattr(command, "FIGURES", figures)
    arguments = [str(folder), "--work", str(folder / "work"), "--docs", "make fit"]
    codes, texts = [], []
    for _ in range(2):
        codes.append(command.main(arguments))
        texts.append(page.read_text(encoding="utf-8"))
    found = json.loads(figures.read_text(encoding="utf-8"))
    shown = capsys.readouterr().out

    assert codes == [0, 0]
    assert texts[0] == texts[1]
    assert "Made by `make fit`" in texts[0]
    assert texts[0].endswith(f"{END}\n\nafter\n")
    assert "### Missed, set by set" in shown
    assert list(found["missed"]) == ["naive", "default", "refitted", "left out"]
    assert set(found["weights"]["without"]) == {"farm", "hof", "ferme", "shan", "chunkeval"}
    assert found["missed"]["naive"]["value"] == pytest.approx(
        np.mean(list(found["missed"]["naive"]["sets"].values())), abs=1e-5
    )


def test_without_sets_it_says_so(
    small: None, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """E1: a folder without cases, or with one family alone, is refused in a sentence."""
    lines = FILE.read_text(encoding="utf-8").splitlines(keepends=True)[:2]
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "farm.jsonl.gz").write_bytes(gzip.compress("".join(lines).encode()))
    none = command.main([str(tmp_path / "nowhere")])
    one = command.main([str(alone), "--work", str(tmp_path / "work")])

    assert (none, one) == (2, 2)
    assert "nothing to leave out" in capsys.readouterr().err

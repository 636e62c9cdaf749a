"""The table of counts: texts of two halves, and the command's rows."""

from __future__ import annotations

from functools import partial

import pytest
from bench import bench_counts as bench
from bench.count_texts import CONTENTS, FITTED, HELD_BACK, series

DRAWN = ("prose", "tables", "other scripts", "tools and messages")


@pytest.mark.parametrize("content", DRAWN)
def test_texts_are_the_same_for_the_same_seed(content: str):
    """E3: and the halves have no text in common."""
    assert series(content, "a", 3) == series(content, "a", 3) != series(content, "b", 3)
    assert not {*series(content, "a", 5, FITTED)} & {*series(content, "a", 5, HELD_BACK)}


def test_the_tables_are_printed(capsys, monkeypatch):
    """A7, E3: a row for each vocabulary and each class; what is missing is named."""
    known = {"o200k": (bench.UNKNOWN, partial(bench.named, "o200k_base"))}
    known["none"] = ("llama2", partial(bench.ranks, "none.model", ""))
    monkeypatch.setattr(bench, "VOCABULARIES", known)
    monkeypatch.setattr(bench, "CONTENTS", {name: CONTENTS[name] for name in ("prose", "tables")})
    bench.main(["--series", "1", "gpt-4=cl100k_base"])
    out = capsys.readouterr().out
    assert "left out: none" in out
    for row in ("| o200k | 0 of 40 |", "| gpt-4 | 0 of 40 | 0.0 | 0 of 20 |", "| all | 0 of 80 |"):
        assert row in out
    assert out.count("| prose | ") == out.count("| tables | ") == 1


def test_figures():
    """E3: what is too low is counted apart from the mean."""
    figures = bench.Figures()
    for content, counted in (("a", 110), ("a", 95), ("b", 100)):
        figures.add(content, counted, 100)
    assert figures.cells(["a"]) == "1 of 2 (by 5.0 %) | 2.5"
    assert figures.cells(["b"]) == "0 of 1 | 0.0"


def test_the_margins_are_the_fitted_ones(monkeypatch):
    """A7, E3: no vocabulary has a larger share than its margin; here of few texts."""
    monkeypatch.setattr(bench, "FITTED_SERIES", 1)
    monkeypatch.setattr(bench, "CONTENTS", {"prose": CONTENTS["prose"]})
    counts = {title: bench.named("cl100k_base") for title in bench.VOCABULARIES}
    found = dict(bench.fit(counts))
    assert set(found.values()) == {bench.CUSHION}
    for name in found:
        assert bench.with_named_margin(f"cl100k_base*{name}") != f"cl100k_base*{name}"

"""Rows to figures: means, differences and ratios; then a sentence, tables, files, the gate."""

from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from foveate.core.errors import BadInput
from foveate.evals import report
from foveate.evals.figures import summary_to_json
from foveate.evals.report import format_heading, render_page, render_png, write_report
from foveate.evals.rows import Row
from foveate.evals.summary import find_losses, summarise
from foveate.evals.tables import (
    BETTER,
    WORSE,
    Table,
    full_tables,
    literal,
    overall_table,
    reachable_table,
    set_table,
    summary_lines,
    table_to_html,
    table_to_markdown,
)
from foveate.evals.trials import WHOLE_POOL

RECALLS = {  # set → recipe → recall of each question, at both budgets alike
    "farm": {"naive": [0.2, 0.4, 0.6, 0.8], "good": [0.8, 0.8, 0.8, 0.8]},
    "hof": {"naive": [0.5, 0.5], "good": [0.9, 1.0]},
    "shan": {"naive": [1.0, 1.0, 1.0], "good": [0.4, 0.5, 0.6]},
}


def row(dataset: str, number: int, recipe: str, budget: int, recall: float, **more) -> Row:
    """A row with this recall; everything else follows from it, or is given."""
    values = {
        "tokens": 100, "recall": recall, "complete": recall, "answer": None,
        "weighted": recall / 2, "redundancy": 0.0, "use": 0.5, "over": 0.0, "covered": recall,
        **{name: value for name, value in more.items() if name != "failed"},
    }  # fmt: skip
    return Row(
        dataset=dataset, id=f"q{number}", recipe=recipe,
        budget=budget, failed=more.get("failed", ""), measures=values,
    )  # fmt: skip


def rows(recalls=RECALLS, **more) -> list[Row]:
    """Rows of every set, with the whole pool."""
    found = []
    for dataset, by_recipe in recalls.items():
        for number, known in enumerate(by_recipe["naive"]):
            found.append(row(dataset, number, WHOLE_POOL, 0, max(known, 1.0)))
            for recipe, values in by_recipe.items():
                given = more if recipe == "good" else {}
                found += [row(dataset, number, recipe, b, values[number], **given) for b in (9, 99)]
    return found


def summary(recalls=RECALLS, **more):
    """The figures of these rows."""
    return summarise(rows(recalls, **more), version="1", tokenizer="simple", resamples=500)


def test_reachable_evidence_is_what_the_candidates_hold():
    """E1: by budget, over the sets, beside the baseline's; no table without the whole pool."""
    table = reachable_table(summary())
    without = summarise([one for one in rows() if one.recipe != WHOLE_POOL], resamples=500)

    assert table.head == ("budget", "recipe", "missed", "of the baseline's")
    assert table.rows == (  # farm 0.5, hof 0.5, shan 0; and 0.2, 0.05, 0.5
        ("9", "naive", "0.333", "1.00"),
        ("9", "good", "0.250", "0.75"),
        ("99", "naive", "0.333", "1.00"),
        ("99", "good", "0.250", "0.75"),
    )
    assert table.title not in {one.title for one in full_tables(without)}


def test_missed_is_averaged_over_sets_and_budgets():
    """E1: every set counts the same, however many questions it has; the ratio is to naive's."""
    naive, good = summary().overall

    assert naive.missed.value == pytest.approx((0.5 + 0.5 + 0.0) / 3)
    assert good.missed.value == pytest.approx((0.2 + 0.05 + 0.5) / 3)
    assert good.ratio is not None
    assert good.ratio.value == pytest.approx(0.75)
    assert good.figures["recall"].difference.value == pytest.approx(1 / 3 - 0.25)
    assert good.figures["weighted"].difference.value == pytest.approx((1 / 3 - 0.25) / 2)
    assert naive.figures["recall"].difference is None


def test_differences_are_paired_and_marked():
    """E1: an interval around every set and budget; a mark where it leaves out 0."""
    cells = {(c.dataset, c.budget, c.recipe): c for c in summary().cells}
    farm, shan = cells["farm", 9, "good"], cells["shan", 99, "good"]

    assert farm.figures["recall"].difference.value == pytest.approx(0.3)
    assert farm.figures["recall"].difference.verdict == "better"
    assert shan.figures["recall"].difference.verdict == "worse"
    assert cells["farm", 9, "naive"].figures["recall"].difference is None
    assert farm.price == pytest.approx(400 / 3.2)
    assert list(cells)[:4] == [("farm", b, r) for b in (9, 99) for r in ("naive", "good")]


def test_a_baseline_that_misses_nothing_has_no_ratio():
    """E1: what cannot be divided by is not; the difference still stands."""
    found = summary({"shan": RECALLS["shan"]}).overall[1]

    assert found.ratio is None
    assert found.figures["recall"].difference.value == pytest.approx(-0.5)


def test_a_summary_needs_its_baseline():
    """E1: results without the baseline cannot be compared with it."""
    with pytest.raises(BadInput, match="no recipe 'none'"):
        summarise(rows(), baseline="none")


def test_failures_and_overruns_are_counted():
    """E1: questions without a context and contexts over budget are said, not hidden."""
    found = summary(failed="too small", over=1.0)

    assert (found.overall[1].failed, found.count("good", "over")) == (18, 18)


def markdown(said) -> str:
    """All tables of a summary."""
    found = (overall_table(said), *full_tables(said))
    return "\n\n".join(f"## {literal(one.title)}\n\n{table_to_markdown(one)}" for one in found)


def test_tables_say_all_of_it():
    """E2: one overall line a recipe, every set by budget, with marks."""
    text = markdown(summary())

    assert "| good   | 0.750  | +0.083" in text
    assert "| good   | 0.250 [" in text
    assert re.search(rf"\+0\.300 \[\+0\.\d+, \+0\.\d+\] {BETTER}", text)
    assert WORSE in text
    assert "## hof: 2 questions; their candidates hold 1.000 of the evidence in 100 tokens" in text
    assert set_table(summary(), "hof").rows[1][:3] == ("9", "good", "0.950")


def test_the_first_line_is_a_sentence():
    """E2, F2: how many questions are found whole, beside the baseline, and at what price."""
    recalls = {"farm": {"naive": [1.0, 1.0, 0.0], "good": [1.0, 1.0, 1.0]}}
    cheap, dear, alone = (
        summary(recalls, tokens=84),
        summary(recalls, tokens=103),
        summarise([r for r in rows(recalls) if r.recipe != "good"], resamples=50),
    )

    assert [*summary_lines(cheap)] == [
        "good finds 6 of 6, naive 4, with 16 % fewer tokens, over 2 budgets"
    ]
    assert "with 3 % more tokens" in next(summary_lines(dear))
    assert [*summary_lines(alone)] == ["naive finds 4 of 6, over 2 budgets"]
    one = summarise([r for r in rows(recalls) if r.budget != 99], resamples=50)
    assert [*summary_lines(one)] == ["good finds 3 of 3, naive 2, with as many tokens"]


@pytest.mark.parametrize("name", ["good", "a recipe of some length " * 4])
def test_no_line_of_a_table_is_over_a_hundred_columns(name):
    """E2, F2: every table fits a screen; names give way before figures do."""
    recalls = {of: {"naive": [0.2, 0.4], name: [0.8, 0.9]} for of in ("farm", "farm (oracle)")}
    many = range(500, 6_000, 500)
    found = [replace(r, budget=b) for r in rows(recalls) for b in many if r.budget == 9]
    said = summarise([*found, *(r for r in rows(recalls) if not r.budget)], resamples=50)
    lines = [
        line
        for table in (overall_table(said), *full_tables(said))
        for line in table_to_markdown(table, 100).splitlines()
    ]

    assert max(map(len, lines)) <= 100
    assert any("+0." in line and BETTER in line for line in lines)


def test_tables_hold_whatever_stands_in_them():
    """E2: bars and brackets in a name break neither Markdown nor HTML."""
    table = Table(title="", head=("a|b", "<c>"), rows=(("1", "<script>"),))

    assert table_to_markdown(table).splitlines()[0] == "| a\\|b | \\<c>      |"
    assert "<script>" not in table_to_html(table)
    assert "&lt;script&gt;" in table_to_html(table)


FOREIGN = (
    "<img src=x onerror=alert(1)>",
    "</svg></figure><script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    "--!><a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "![x](https://example.org/x.png)",
    "\\<b>bold</b>",
    "$\\frac{$ and $x^2$",
    "one|two\n# three",
    "&lt;b&gt;",
)
"""Names that would like to be markup."""


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_names_are_text_on_a_page(name):
    """E2: the name of a set or a recipe makes no element and no link, in HTML or in Markdown."""
    recalls = {of: {"naive": [0.2, 0.4], name: [0.8, 0.8]} for of in (name, "farm")}
    said = summarise(rows(recalls), version="1", tokenizer=name, resamples=500)
    text = f"{literal(format_heading(said))}\n\n{markdown(said)}"
    html_page = MarkdownIt("commonmark").enable("table").render(text)
    tags = Tags(render_page(said, b"png"))
    read = Tags(html_page)

    assert tags.kinds & {"a", "script", "b"} == set()
    assert tags.sources == ["data:image/png;base64,cG5n"]
    assert read.kinds == {"h2", "p", "table", "thead", "tbody", "tr", "th", "td"}
    for one in (tags, read):
        # the tokenizer, the sets' titles, and rows of both recipes' tables
        assert " ".join(name.split()) in " ".join("".join(one.texts).split())
        assert "".join(one.texts).count(name.split()[0]) >= 5


def test_a_name_is_no_formula_in_a_chart(monkeypatch):
    """E2: dollar signs of a name are drawn as such."""
    real, drawn = report.build_chart, []

    def build(said):
        drawn.append(real(said))
        return drawn[0]

    monkeypatch.setattr(report, "build_chart", build)
    render_png(summary({"a $x$ b": RECALLS["hof"]}))
    titles = [text for panel in drawn[0].axes for text in [panel.title, panel._left_title]]

    assert {text.get_parse_math() for text in titles} == {False}


class Tags(HTMLParser):
    """The elements of a page, and its texts; comments and the like are neither."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.kinds: set[str] = set()
        self.sources: list[str | None] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element, and what it would fetch."""
        self.kinds.add(tag)
        self.sources += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        """A text."""
        self.texts.append(data)


def test_the_folder_holds_json_tables_and_chart(tmp_path):
    """E2: summary, PNG and a page that asks nobody for anything."""
    assert write_report(summary(), tmp_path) is None
    found = (tmp_path / "report.html").read_text(encoding="utf-8")
    data = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))

    assert (tmp_path / "recall.png").read_bytes().startswith(b"\x89PNG")
    picture = b64encode((tmp_path / "recall.png").read_bytes()).decode()
    assert Tags(found).sources == [f"data:image/png;base64,{picture}"]
    assert "<script" not in found
    assert "@import" not in found
    assert data["overall"][1]["ratio"]["value"] == 0.75
    assert data == json.loads(json.dumps(summary_to_json(summary())))


def test_the_chart_is_the_same_each_time():
    """E2, D1: the same figures give the same PNG, and others another."""
    assert render_png(summary()) == render_png(summary())
    assert render_png(summary()) != render_png(summary({"hof": RECALLS["hof"]}))


def test_without_matplotlib_the_rest_is_written(tmp_path, monkeypatch):
    """E2: tables and JSON need no extra; the missing chart says what to install."""
    write_report(summary(), tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said = write_report(summary(), tmp_path)

    assert "pip install 'foveate[eval]'" in str(said)
    assert [p.name for p in tmp_path.iterdir()] == ["summary.json"]


def test_a_recipe_that_finds_less_than_the_baseline_breaks_the_gate():
    """E1: by more than 0.01 of recall over all sets and budgets; less than that is noise."""
    for lost, found in ((0.0, 0), (0.009, 0), (0.012, 1)):
        recalls = {"farm": {"naive": [0.5, 0.5], "good": [0.5 - lost, 0.5 - lost]}}
        assert len(find_losses(summary(recalls))) == found
    (said,) = find_losses(summary(recalls))
    assert said == "good recalls less than naive: -0.0120; the limit is -0.01"
    assert find_losses(summary({"shan": RECALLS["shan"]}))  # of a baseline that misses nothing


def test_a_context_over_its_budget_breaks_the_gate():
    """E1, B1: whatever it finds."""
    (said,) = find_losses(summary({"farm": RECALLS["farm"]}, over=1.0))

    assert said == "good has contexts over their budget: 8; the limit is 0"

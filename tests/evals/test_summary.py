"""Rows to figures: means, differences, ratios, each set left out; then tables, files, the gate."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from foveate.core.errors import BadInput, MissingExtra, UnknownName
from foveate.evals import report
from foveate.evals.figures import summary_to_json
from foveate.evals.gate import Rules, find_broken_rules, find_regressions, read_rules
from foveate.evals.measures import Measures
from foveate.evals.report import render_page, render_png, render_report, render_svg, write_report
from foveate.evals.rows import Row
from foveate.evals.summary import summarise
from foveate.evals.tables import (
    BETTER,
    WORSE,
    Table,
    left_out_table,
    set_table,
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
        "tokens": 100, "recall": recall, "full": recall, "complete": recall, "answer": None,
        "weighted": recall / 2, "redundancy": 0.0, "use": 0.5, "over": 0.0, "covered": recall,
        **{name: value for name, value in more.items() if name != "failed"},
    }  # fmt: skip
    return Row(
        dataset=dataset, id=f"q{number}", recipe=recipe,
        budget=budget, failed=more.get("failed", ""), measures=Measures(**values),
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


def test_missed_is_averaged_over_sets_and_budgets():
    """E1: every set counts the same, however many questions it has; the ratio is to naive's."""
    naive, good = summary().overall

    assert naive.missed.value == pytest.approx((0.5 + 0.5 + 0.0) / 3)
    assert good.missed.value == pytest.approx((0.2 + 0.05 + 0.5) / 3)
    assert good.ratio is not None
    assert good.ratio.value == pytest.approx(0.75)
    assert good.recall_difference.value == pytest.approx(1 / 3 - 0.25)
    assert good.weighted_difference.value == pytest.approx((1 / 3 - 0.25) / 2)
    assert good.worse == 2


def test_each_set_is_left_out_in_turn():
    """E1: the ratio over the others shows what rests on one set."""
    good = summary().overall[1]

    assert good.without == pytest.approx({"farm": 1.1, "hof": 1.4, "shan": 0.25})
    assert summary({"farm": RECALLS["farm"]}).overall[1].without == {}


def test_differences_are_paired_and_marked():
    """E1: an interval around every set and budget; a mark where it leaves out 0."""
    cells = {(c.dataset, c.budget, c.recipe): c for c in summary().cells}
    farm, shan = cells["farm", 9, "good"], cells["shan", 99, "good"]

    assert farm.recall_difference.value == pytest.approx(0.3)
    assert farm.recall_difference.verdict == "better"
    assert shan.recall_difference.verdict == "worse"
    assert cells["farm", 9, "naive"].recall_difference is None
    assert farm.price == pytest.approx(400 / 3.2)
    assert list(cells)[:4] == [("farm", b, r) for b in (9, 99) for r in ("naive", "good")]


def test_a_baseline_that_misses_nothing_has_no_ratio():
    """E1: what cannot be divided by is not; the difference still stands."""
    found = summary({"shan": RECALLS["shan"]}).overall[1]

    assert found.ratio is None
    assert found.recall_difference.value == pytest.approx(-0.5)


def test_a_summary_needs_its_baseline():
    """E1: results without the baseline cannot be compared with it."""
    with pytest.raises(BadInput, match="no recipe 'none'"):
        summarise(rows(), baseline="none")


def test_failures_and_overruns_are_counted():
    """E1: questions without a context and contexts over budget are said, not hidden."""
    found = summary(failed="too small", over=1.0).overall[1]

    assert (found.failed, found.over) == (18, 18)


def test_what_the_pool_lacks_is_not_reachable():
    """E1: missed evidence counts as reachable up to what all candidates hold."""
    found = [row("farm", n, WHOLE_POOL, 0, recall) for n, recall in enumerate((0.5, 1.0))]
    found += [row("farm", n, "naive", 9, recall) for n, recall in enumerate((0.25, 1.0))]
    (naive,) = summarise(found, resamples=50).overall
    (alone,) = summarise(found[2:], resamples=50).overall

    assert naive.missed.value == pytest.approx(0.375)
    assert naive.reachable_missed == pytest.approx(0.125)
    assert alone.reachable_missed is None


def test_questions_without_evidence_in_their_candidates_are_named():
    """E2: those of which all candidates joined hold nothing, in the set's table and in the JSON."""
    found = [row("farm", n, WHOLE_POOL, 0, recall) for n, recall in enumerate((0.0, 0.5, 0.0))]
    found += [row("farm", n, "naive", 9, 0.0) for n in range(3)]
    some = summarise(found, resamples=50)

    assert some.no_evidence == {"farm": ("q0", "q2")}
    assert summary_to_json(some)["no_evidence"] == {"farm": ["q0", "q2"]}
    assert set_table(some, "farm").title.endswith("; those of 2 questions hold none of it")
    assert "no_evidence" not in summary_to_json(summary())


def test_cells_below_the_baseline_are_counted():
    """E1: by more than 0.01 in recall and 0.03 in complete; the interval does not matter."""
    recalls = {"farm": {"naive": [0.5, 0.5], "good": [0.5, 0.46]}}
    by_much = {"farm": {"naive": [0.5, 0.5], "good": [0.5, 0.4]}}

    assert [(o.lower_recall, o.lower_complete) for o in summary(recalls).overall] == [
        (0, 0),
        (2, 0),
    ]
    assert summary(by_much).overall[1].lower_complete == 2


def test_faults_are_added_up():
    """E1, J3: over all contexts of a recipe, with a 0 for what does not occur."""
    some = [replace(r, hygiene={"no_match": 2} if r.recipe == "good" else {}) for r in rows()]
    naive, good = summarise(some, resamples=50).overall

    assert set(naive.faults.values()) == {0}
    assert good.faults["no_match"] == 2 * 18
    assert "Hygiene: naive 0, good 36" in render_report(summarise(some, resamples=50))


def test_tables_say_all_of_it():
    """E2: one overall line a recipe, every set by budget, with marks and a legend."""
    text = render_report(summary())

    assert "| good   | 0.250" in text
    assert re.search(rf"\+0\.300 \[\+0\.\d+, \+0\.\d+\] {BETTER}", text)
    assert WORSE in text
    assert "## hof: 2 questions; their candidates hold 1.000 of the evidence in 100 tokens" in text
    assert left_out_table(summary()).rows == (("good", "0.750", "1.100", "1.400", "0.250"),)
    assert set_table(summary(), "hof").rows[1][:3] == ("9", "good", "0.950")


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
def test_foreign_names_are_text_in_a_report(name):
    """E2: the name of a set or a recipe makes no element, no link and no formula."""
    recalls = {of: {"naive": [0.2, 0.4], name: [0.8, 0.8]} for of in (name, "farm")}
    said = summarise(rows(recalls), version="1", tokenizer=name, resamples=500)
    html_page = MarkdownIt("commonmark").enable("table").render(render_report(said))
    tags = Tags(render_page(said, render_svg(said)))
    read = Tags(html_page)

    assert tags.kinds & {"a", "img", "script", "b"} == set()
    assert read.kinds == {"h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td"}
    for one in (tags, read):
        # the tokenizer, the sets' titles, and rows of both recipes' tables
        assert " ".join(name.split()) in " ".join("".join(one.texts).split())
        assert "".join(one.texts).count(name.split()[0]) >= 5


def test_a_name_is_no_formula_in_a_chart():
    """E2: dollar signs of a name are drawn as such."""
    drawn = report.build_chart(summary({"a $x$ b": RECALLS["hof"]}))
    titles = [text for panel in drawn.axes for text in [panel.title, panel._left_title]]

    assert {text.get_parse_math() for text in titles} == {False}


class Tags(HTMLParser):
    """The elements of a page, and its texts; comments and the like are neither."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.kinds: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """An element."""
        self.kinds.add(tag)

    def handle_data(self, data: str) -> None:
        """A text."""
        self.texts.append(data)


def test_the_folder_holds_json_tables_and_chart(tmp_path):
    """E2: summary, report, PNG and a page that asks nobody for anything."""
    assert write_report(summary(), tmp_path) is None
    found = (tmp_path / "report.html").read_text(encoding="utf-8")
    data = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))

    assert (tmp_path / "recall.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in found
    assert re.findall(r'(?:src|href)="(?!#)', found) == []
    assert "<script" not in found
    assert "@import" not in found
    assert data["overall"][1]["ratio"]["value"] == 0.75
    assert data["recalls"]["hof"]["good"] == {"9": [0.9, 1.0], "99": [0.9, 1.0]}
    assert data == json.loads(json.dumps(summary_to_json(summary())))
    assert "![Evidence recall" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_the_chart_is_the_same_each_time():
    """E2, D1: the same figures give the same PNG and the same SVG."""
    assert render_png(summary()) == render_png(summary())
    assert render_svg(summary()) == render_svg(summary())
    assert "farm" not in render_svg(summary({"hof": RECALLS["hof"]}))


def test_without_matplotlib_the_rest_is_written(tmp_path, monkeypatch):
    """E2: tables and JSON need no extra; the missing chart says what to install."""
    write_report(summary(), tmp_path)

    def missing() -> None:
        raise MissingExtra("matplotlib", "eval")

    monkeypatch.setattr(report, "require_matplotlib", missing)
    said = write_report(summary(), tmp_path)

    assert "pip install 'foveate[eval]'" in str(said)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.md", "summary.json"]
    assert "![" not in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_the_extra_is_looked_for(monkeypatch):
    """E2: matplotlib that is not installed is MissingExtra, with the line that installs it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(MissingExtra, match=r"foveate\[eval\]"):
        render_png(summary())


GOOD = {"farm": RECALLS["farm"], "hof": RECALLS["hof"]}
RULES = {
    "ratio": (Rules(max_missed_ratio=0.2), {}, "misses this share of what naive misses: 0.25"),
    "missed": (Rules(max_missed=0.1), {}, "misses this share of the evidence: 0.125"),
    "redundancy": (Rules(), {"redundancy": 0.2}, "repeats this share of its words: 0.2"),
    "over": (Rules(), {"over": 1.0}, "12 contexts over"),
    "failed": (Rules(max_failed=0), {"failed": "x"}, "without a context: 12"),
    "weighted": (Rules(weighted_ahead=True), {}, "is ahead by +0.1875 in weighted recall"),
}


@pytest.mark.parametrize("name", RULES)
def test_every_rule_can_break(name):
    """E1: each rule says what broke it, by how much, and the limit."""
    rules, more, said = RULES[name]
    said = said.replace("12 contexts over", "contexts over their budget: 12")

    assert [said in line for line in find_broken_rules(summary(GOOD, **more), rules)] == [True]


def test_the_built_in_rules_hold_for_a_good_recipe_and_not_for_a_worse_one():
    """E1: never significantly worse on any set at any budget, and never more missed."""
    assert find_broken_rules(summary(GOOD)) == []
    said = find_broken_rules(summary())
    assert [line[:38] for line in said] == ["good is worse than naive on shan at 9 ", said[1][:38]]
    assert "99 tokens: -0.5000" in said[1]


def test_rules_are_read_strictly(tmp_path):
    """E1, X2: JSON or TOML; a rule that does not exist or cannot be is refused with its file."""
    good = tmp_path / "gate.toml"
    good.write_text('recipes = ["good"]\nmax_missed_ratio = 0.5\n', encoding="utf-8")
    assert read_rules(str(good)) == Rules(recipes=("good",), max_missed_ratio=0.5)
    for name, text, said in (
        ("a.json", '{"max_mised": 1}', "did you mean 'max_missed'"),
        ("b.json", '{"max_missed": "1"}', "field 'max_missed': must be a finite number, not str"),
        ("c.json", '{"never_worse": 1}', "must be true or false, not int"),
        ("d.json", '{"recipes": "x"}', "must be a list, not str"),
        ("e.json", "[]", "must be an object, not list"),
        ("f.toml", "=", "f.toml: "),
        ("g.json", "{", "not JSON"),
    ):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        with pytest.raises(BadInput, match=re.escape(said)) as caught:
            read_rules(str(path))
        assert str(caught.value).startswith(str(path))
    with pytest.raises(BadInput, match="no such file"):
        read_rules(str(tmp_path / "none.json"))
    with pytest.raises(UnknownName, match="did you mean 'good'"):
        find_broken_rules(summary(), Rules(recipes=("goood",)))


def test_a_loss_against_an_earlier_evaluation_is_found():
    """E1: paired by question, significant losses alone; gains and noise pass."""
    earlier = json.loads(json.dumps(summary_to_json(summary())))
    worse = {**RECALLS, "farm": {"naive": RECALLS["farm"]["naive"], "good": [0.5, 0.6, 0.5, 0.4]}}

    assert find_regressions(summary(), earlier) == []
    assert [line.partition(":")[0] for line in find_regressions(summary(worse), earlier)] == [
        "good recalls less than before on farm at 9 tokens",
        "good recalls less than before on farm at 99 tokens",
    ]
    assert find_regressions(summary({"hof": RECALLS["hof"]}), earlier) == []


def test_an_earlier_evaluation_must_be_one():
    """E1, X2: what shares nothing, or is no summary, is refused."""
    with pytest.raises(BadInput, match="has no set, recipe and budget of this one"):
        find_regressions(summary(), {"ids": {}, "recalls": {}})
    rows = ({"farm": 3}, {"farm": {"good": {"9": ["a"]}}}, {"farm": {"good": {"9": [1, 1]}}})
    ids = ({"farm": ["q1"]}, {"farm": [["q1"]]}, {})
    wrong = [{"ids": some, "recalls": row} for row in rows for some in ids]
    wrong.append({"ids": {"farm": ["q1", "q1"]}, "recalls": {"farm": {"good": {"9": [1]}}}})
    for other in ([], {}, {"ids": [], "recalls": []}, *wrong):
        with pytest.raises(BadInput, match=r"give the summary\.json of one"):
            find_regressions(summary(), other)


def test_the_gate_holds_where_the_baseline_misses_nothing() -> None:
    """E1: with a baseline that finds all, missing anything breaks the gate."""
    recalls = {"shan": RECALLS["shan"]}

    assert any(
        "misses this share of what naive misses" in said
        for said in find_broken_rules(summary(recalls))
    )

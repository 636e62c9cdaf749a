"""Rows to figures: means, differences, ratios, each set left out; then tables, files, the gate."""

from __future__ import annotations

import json
import re

import pytest

from foveate.core.errors import BadInput, MissingExtra, UnknownName
from foveate.evals import plot
from foveate.evals.against import regressions
from foveate.evals.gate import Rules, broken, read_rules
from foveate.evals.measures import Measures
from foveate.evals.plot import png, svg
from foveate.evals.report import report, write_report
from foveate.evals.rows import Row
from foveate.evals.summary import summarise
from foveate.evals.table import BETTER, WORSE, Table, html, markdown
from foveate.evals.tables import left_out_table, set_table
from foveate.evals.trials import POOL
from foveate.evals.wire import summary_to_json

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
        key=f"{dataset}{number}{recipe}{budget}", dataset=dataset, id=f"q{number}", recipe=recipe,
        budget=budget, failed=more.get("failed", ""), measures=Measures(**values),
    )  # fmt: skip


def rows(recalls=RECALLS, **more) -> list[Row]:
    """Rows of every set, with the whole pool."""
    found = []
    for dataset, by_recipe in recalls.items():
        for number, known in enumerate(by_recipe["naive"]):
            found.append(row(dataset, number, POOL, 0, max(known, 1.0)))
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


def test_tables_say_all_of_it():
    """E2: one overall line a recipe, every set by budget, with marks and a legend."""
    text = report(summary())

    assert "| good   | 0.250" in text
    assert re.search(rf"\+0\.300 \[\+0\.\d+, \+0\.\d+\] {BETTER}", text)
    assert WORSE in text
    assert "## hof: 2 questions; their candidates hold 1.000 of the evidence in 100 tokens" in text
    assert left_out_table(summary()).rows == (("good", "0.750", "1.100", "1.400", "0.250"),)
    assert set_table(summary(), "hof").rows[1][:3] == ("9", "good", "0.950")


def test_tables_hold_whatever_stands_in_them():
    """E2: bars and brackets in a name break neither Markdown nor HTML."""
    table = Table(title="", head=("a|b", "<c>"), rows=(("1", "<script>"),))

    assert markdown(table).splitlines()[0] == "| a\\|b | <c>      |"
    assert "<script>" not in html(table)
    assert "&lt;script&gt;" in html(table)


def test_the_folder_holds_json_tables_and_chart(tmp_path):
    """E2: summary, report, PNG and a page that asks nobody for anything."""
    assert write_report(summary(), tmp_path) is None
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    data = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))

    assert (tmp_path / "recall.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in page
    assert re.findall(r'(?:src|href)="(?!#)', page) == []
    assert "<script" not in page
    assert "@import" not in page
    assert data["overall"][1]["ratio"]["value"] == 0.75
    assert data["recalls"]["hof"]["good"] == {"9": [0.9, 1.0], "99": [0.9, 1.0]}
    assert data == json.loads(json.dumps(summary_to_json(summary())))
    assert "![Evidence recall" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_the_chart_is_the_same_each_time():
    """E2, D1: the same figures give the same PNG and the same SVG."""
    assert png(summary()) == png(summary())
    assert svg(summary()) == svg(summary())
    assert "farm" not in svg(summary({"hof": RECALLS["hof"]}))


def test_without_matplotlib_the_rest_is_written(tmp_path, monkeypatch):
    """E2: tables and JSON need no extra; the missing chart says what to install."""
    write_report(summary(), tmp_path)

    def missing() -> None:
        raise MissingExtra("matplotlib", "eval")

    monkeypatch.setattr(plot, "require_matplotlib", missing)
    said = write_report(summary(), tmp_path)

    assert "pip install 'foveate[eval]'" in str(said)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.md", "summary.json"]
    assert "![" not in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_the_extra_is_looked_for(monkeypatch):
    """E2: matplotlib that is not installed is MissingExtra, with the line that installs it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(MissingExtra, match=r"foveate\[eval\]"):
        png(summary())


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

    assert [said in line for line in broken(summary(GOOD, **more), rules)] == [True]


def test_the_built_in_rules_hold_for_a_good_recipe_and_not_for_a_worse_one():
    """E1: never significantly worse on any set at any budget, and never more missed."""
    assert broken(summary(GOOD)) == []
    said = broken(summary())
    assert [line[:38] for line in said] == ["good is worse than naive on shan at 9 ", said[1][:38]]
    assert "99 tokens: -0.5000" in said[1]


def test_rules_are_read_strictly(tmp_path):
    """E1, X2: JSON or TOML; a rule that does not exist or cannot be is refused with its file."""
    good = tmp_path / "gate.toml"
    good.write_text('recipes = ["good"]\nmax_missed_ratio = 0.5\n', encoding="utf-8")
    assert read_rules(str(good)) == Rules(recipes=("good",), max_missed_ratio=0.5)
    for name, text, said in (
        ("a.json", '{"max_mised": 1}', "did you mean 'max_missed'"),
        ("b.json", '{"max_missed": "1"}', "field 'max_missed': cannot be '1'"),
        ("c.json", '{"never_worse": 1}', "cannot be 1"),
        ("d.json", '{"recipes": "x"}', "cannot be 'x'"),
        ("e.json", "[]", "rules are an object"),
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
        broken(summary(), Rules(recipes=("goood",)))


def test_a_loss_against_an_earlier_evaluation_is_found():
    """E1: paired by question, significant losses alone; gains and noise pass."""
    earlier = json.loads(json.dumps(summary_to_json(summary())))
    worse = {**RECALLS, "farm": {"naive": RECALLS["farm"]["naive"], "good": [0.5, 0.6, 0.5, 0.4]}}

    assert regressions(summary(), earlier) == []
    assert [line.partition(":")[0] for line in regressions(summary(worse), earlier)] == [
        "good recalls less than before on farm at 9 tokens",
        "good recalls less than before on farm at 99 tokens",
    ]
    assert regressions(summary({"hof": RECALLS["hof"]}), earlier) == []


def test_an_earlier_evaluation_must_be_one():
    """E1, X2: what shares nothing, or is no summary, is refused."""
    with pytest.raises(BadInput, match="has no set, recipe and budget of this one"):
        regressions(summary(), {"ids": {}, "recalls": {}})
    rows = ({"farm": 3}, {"farm": {"good": {"9": ["a"]}}}, {"farm": {"good": {"9": [1, 1]}}})
    ids = ({"farm": ["q1"]}, {"farm": [["q1"]]}, {})
    wrong = [{"ids": some, "recalls": row} for row in rows for some in ids]
    for other in ([], {}, {"ids": [], "recalls": []}, *wrong):
        with pytest.raises(BadInput, match=r"give the summary\.json of one"):
            regressions(summary(), other)


def test_the_gate_holds_where_the_baseline_misses_nothing() -> None:
    """E1: with a baseline that finds all, missing anything breaks the gate."""
    recalls = {"shan": RECALLS["shan"]}

    assert any(
        "misses this share of what naive misses" in said for said in broken(summary(recalls))
    )

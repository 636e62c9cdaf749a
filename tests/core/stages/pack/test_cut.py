"""Truncated texts of records: where they end, and what the mark counts."""

from __future__ import annotations

import re

import pytest
from bench.lookup_texts import FORMS, make_text

from foveate import assemble
from foveate.core.formats.minimal import Minimal
from foveate.core.request import Recipe
from foveate.core.stages.pack import Pack

MARK = re.compile(r"\[… (\d+) of (\d+) [a-z]+\]\Z")


@pytest.mark.parametrize("form", [form for form in FORMS if form != "code"])
@pytest.mark.parametrize("budget", [300, 900])
def test_truncated_text_ends_behind_a_record_and_counts_the_rest(form: str, budget: int) -> None:
    """U2, S9: shown and left out add up, what is shown is verbatim, and no record is cut."""
    made = make_text(form, 120, 5)
    recipe = Recipe(
        name="first", stages=(Pack(policy="greedy", overflow="truncate"),), format=Minimal()
    )
    context = assemble(made.asked, [{"text": made.text}], recipe=recipe, budget=budget)

    (block,) = context.blocks
    mark = MARK.search(block.text)
    assert block.rendition == "truncated"
    assert mark is not None
    shown = block.text[: mark.start()].rstrip()
    assert made.text.startswith(shown)
    whole = sum(record.strip() in shown for record in made.records)
    assert int(mark[1]) + whole == int(mark[2]) == 120
    rest = made.text[len(shown) :].lstrip(" \t\n,")
    assert rest.startswith(made.records[whole].strip())
    assert context.token_count <= budget


HEADS = {
    "markdown table": ("| pump | bar |\n|---|---|\n", "| P-{n} | {n} bar, as read in the hall |"),
    "CSV": ("pump,bar,remark\n", "P-{n},{n},as read in the hall on that day"),
    "HTML table": (
        "<table><tr><th>pump</th><th>bar</th></tr>\n",
        "<tr><td>P-{n}</td><td>{n} bar, as read</td></tr>",
    ),
}


@pytest.mark.parametrize("form", HEADS)
def test_a_text_is_not_cut_behind_the_names_of_columns(form: str) -> None:
    """V4: at any budget the names are there with a row, or not at all."""
    head, row = HEADS[form]
    text = "The pumps of the hall are listed here. Their figures are from May.\n\n" + head
    text += "\n".join(row.format(n=n) for n in range(40))
    name, first = head.split("\n")[0].strip(), row.format(n=0)
    shown = 0
    for budget in range(70, 200, 3):
        context = assemble(
            "Which pressure has P-9?", [{"text": text}], budget=budget, recipe="chat"
        )
        assert (name in context.text) <= (first in context.text), (budget, context.text)
        shown += name in context.text
    assert shown

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

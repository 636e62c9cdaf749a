"""The cells of a sheet that a claim rests on."""

from __future__ import annotations

import pytest

import foveate
from foveate.answer.wire import check_to_json

ROWS = """part;material;price (EUR);note
valve V-17;brass;1.203,20;needs oil each spring, before the pump is started
pipe P-9;steel;7.50;[7] of the plan
"""
QUESTION = "What does the valve V-17 cost?"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> foveate.Context:
    """Both rows of the file, in two blocks."""
    folder = tmp_path_factory.mktemp("cells")
    (folder / "stock.csv").write_text(ROWS)
    with foveate.open_store(folder / "store") as store:
        store.index(folder / "stock.csv")
        return store.assemble(QUESTION, budget=200, recipe="citations")


@pytest.mark.parametrize(
    ("answer", "cells"),
    [
        ("The valve V-17 costs EUR 1,203.20 [1].", ["C2"]),
        ("The valve V-17 is made of brass and costs 1203.20 [1].", ["B2", "C2"]),
        ("It needs oil in spring [1].", ["D2"]),
        ("There is a valve V-17 [1].", ["A2"]),
        ("The pipe is of steel, as the plan says [2].", ["B3"]),
        ("There is a pipe P-8 [2].", []),
        ("Elephants live in herds of twenty [1].", []),
        ("The valve is old and leaks water since the flood of last autumn [1].", []),
    ],
)
def test_claim_names_the_cells_that_say_so(
    context: foveate.Context, answer: str, cells: list[str]
) -> None:
    """U2, C3: by their values, in any spelling; what the question names counts only alone."""
    (claim,) = check_to_json(foveate.check_answer(answer, context))["claims"]
    assert claim["support"]["cells"] == cells


def test_cells_are_those_of_the_passage(context: foveate.Context) -> None:
    """U2, C3: the same value in another row is not the one; neutralised text keeps its place."""
    checked = foveate.check_answer("The pipe P-9 costs 7.50 and is of the plan [2].", context)
    support = checked.claims[0].support
    assert support is not None
    assert support.cells == ("A3", "C3", "D3")
    assert r"[\7]" in context.text[slice(*support.context_span)]


def test_text_that_is_no_sheet_has_no_cells() -> None:
    """U2: prose and rows of Markdown have no addresses."""
    rows = [{"text": "| part | price |\n|---|---|\n| valve | 3.20 |", "source": "a.md"}]
    made = foveate.assemble("What is the price of a valve?", rows, budget=99)
    (claim,) = foveate.check_answer("The valve costs 3.20 [1].", made).claims
    assert claim.support is not None
    assert claim.support.cells == ()

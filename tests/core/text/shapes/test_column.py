"""A column of ids: one unit a line, with its name; words and prose are none."""

from __future__ import annotations

import pytest

from foveate.core.text.shapes.find import find_shapes
from foveate.pipeline.assembler import assemble
from foveate.testing.shapes import check_shapes


@pytest.mark.parametrize("name", ["id\n", ""])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_id_of_a_column_is_found(name: str, end: str) -> None:
    """U1 U2: with the column's name, and what is left out is counted."""
    text = (name + "".join(f"A-{n}\n" for n in range(300))).replace("\n", end)
    (shape,) = check_shapes(text)
    shown = assemble("Is A-150 there?", [{"text": text, "source": "ids.csv"}], budget=60).text

    assert shape.name == "column"
    assert "\nA-150" in shown
    assert ("id" in shown.replace("ids", "").split()) == bool(name)
    assert " of 300 rows]" in shown


@pytest.mark.parametrize(
    "text",
    [
        "wheel\nweir\nmill\nmiller\ncorn\nflour\nbread\nbaker\noven\n" * 5,
        "A-1\nA-2\nA-3\n" + "The wheel of the mill is old. " * 20,
    ],
)
def test_words_and_short_lists_are_no_column(text: str) -> None:
    """U1: they are read as before."""
    assert find_shapes(text) == ()


@pytest.mark.parametrize(
    "line",
    [
        "第{}条この規則は会社の従業員に適用される。",
        "{}月收入为3万元，同比增长1%。",
        "ข้อ{}กฎนี้ใช้กับพนักงาน",
    ],
)
def test_prose_without_spaces_is_no_column(line: str) -> None:
    """U1: a line of it is a sentence, though it has a digit."""
    assert find_shapes("\n".join(line.format(n) for n in range(1, 20))) == ()

"""A short row that alone is left out is shown with those around it, if there is room."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foveate.core.stages.pack import Pack
from foveate.core.text.shapes.find import find_shapes
from foveate.core.types import Candidate, Sentences
from foveate.testing.fakes import candidate, request

ROWS = [f"| pump {n} | made of steel in {1900 + n} | {n}.50 |" for n in range(60)]
REPEAT = "| pump 5 | made of steel in 1905 | 7.25 |"
OVERSIZED = replace(
    candidate("One long story of a pump. " * 900, 0.1, id="p"),
    sentences=Sentences(spans=((0, 23_399),), leans=(0,), worths=(1.0,)),
)


def table(*places: int) -> Candidate:
    """A table with rows, at some places, of which most is said in another."""
    rows = [REPEAT if n in places else own for n, own in enumerate(ROWS)]
    text = "| part | kind | price |\n|---|---|---|\n" + "\n".join(rows)
    (shape,) = find_shapes(text)
    worths = [0.4 if text[a:b].strip() == REPEAT else 0.5 for a, b in shape.spans]
    sentences = Sentences(spans=shape.spans, leans=shape.leans, worths=tuple(worths))
    return replace(candidate(text, 1.0, id="t"), sentences=sentences)


def shown(one: Candidate, budget: int = 1_300) -> str:
    """What is shown of it, beside a text that does not fit."""
    step = Pack()((one, OVERSIZED), request(budget=budget))
    return step.candidates[0].shown.text


@pytest.mark.parametrize("place", [0, 31, 59])
def test_a_short_row_between_others_is_shown(place: int) -> None:
    """U2: at the ends of the table, too; the mark of its gap would cost half as much."""
    assert shown(table(place)) == table(place).text


@pytest.mark.parametrize("budget", range(500, 1_100, 50))
def test_rows_that_close_gaps_are_counted(budget: int) -> None:
    """S9: the cost of the step is within the budget, and no gap is closed at a row's expense."""
    step = Pack()((table(10, 31, 50), OVERSIZED), request(budget=budget))

    assert step.notes["tokens"] <= budget

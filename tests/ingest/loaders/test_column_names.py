"""Names of columns in two lines."""

from __future__ import annotations

import pytest

from documents import read
from foveate.ingest.loaders.column_names import names_go_on


@pytest.mark.parametrize(
    ("upper", "lower", "goes_on"),
    [
        (["Region", "2024", "2024"], ["", "Q1", "Q2"], True),
        (["Region", "2024", "2024"], ["Region", "Q1", "Q2"], True),
        (["", "Hours", "Hours"], ["Day", "from", "to"], True),
        (["", "Hours", "Hours"], ["Mon", "9:00", "17:00"], False),
        (["Day", "Hours", "Hours"], ["Mon", "closed", "open"], False),
        (["n", "n", "n"], ["a", "b", "c"], False),
        (["Region", "Q1", "Q2"], ["North", "11", "12"], False),
    ],
)
def test_second_lines_of_names(upper: list[str], lower: list[str], *, goes_on: bool) -> None:
    """U2: names below a group of columns are some; values are not, nor what is below all."""
    assert names_go_on(upper, lower) == goes_on


def test_repeated_names_are_no_groups() -> None:
    """U2: two columns of a file may have the same name, and the row below them is a record."""
    found = read("days.csv", "Date,Note,Note\n,shop closed,late\n3 May,ok,ok\n").text

    assert "shop closed; C: late" in found

"""Rows that others cannot be read without: units of measure, titles of groups, totals."""

from __future__ import annotations

import pytest

from foveate import assemble
from foveate.core.text.shapes.shape import Shape
from foveate.testing.shapes import check_shapes

ROWS = [
    ["Position", "2023", "2024"],
    ["", "EUR", "(thousands)"],
    ["Assets", "", ""],
    *([f"Line {n}", f"{100 + n}", f"{200 + n}"] for n in range(12)),
    ["Total", "1,266", "2,466"],
    ["Cash at hand", "7", "9"],
    ["Debts", "", ""],
    *([f"Loan {n}", f"{300 + n}", f"{400 + n}"] for n in range(12)),
    ["Subtotal", "3,666", "4,866"],
]


def markdown() -> str:
    """The table with pipes and a rule."""
    lines = [f"| {' | '.join(row)} |" for row in ROWS]
    return "\n".join([lines[0], "|---|---|---|", *lines[1:]])


def rows_by_semicolons() -> str:
    """The table as a file that a spreadsheet writes."""
    return "\n".join(";".join(row) for row in ROWS)


def html() -> str:
    """The table with tags."""
    body = "\n".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in ROWS[1:])
    head = "".join(f"<th>{name}</th>" for name in ROWS[0])
    return f"<table>\n<tr>{head}</tr>\n{body}\n</table>"


FORMS = (markdown, rows_by_semicolons, html)


def chain(text: str, shape: Shape, holds: str) -> list[str]:
    """The unit that holds this and what it leans on, outermost first."""
    units = [text[a:b] for a, b in shape.spans]
    at = next(n for n, unit in enumerate(units) if holds in unit)
    found = [units[at]]
    while shape.leans[at] != at:
        at = shape.leans[at]
        found.append(units[at])
    return found[::-1]


@pytest.mark.parametrize("make", FORMS)
def test_row_leans_on_its_group_and_on_the_units(make) -> None:
    """U1: names, units of measure, the title of the group; a total is the last of its group."""
    text = make()
    (shape,) = check_shapes(text)

    for holds, *others in [
        ("Line 7", "Assets"),
        ("Total", "Assets"),
        ("Cash at hand",),
        ("Loan 3", "Debts"),
        ("Subtotal", "Debts"),
    ]:
        found = chain(text, shape, holds)
        assert len(found) == 3 + len(others)
        for part, unit in zip(("2023", "(thousands)", *others), found, strict=False):
            assert part in unit
    assert len(shape.counted[0].spans) == len(ROWS) - 2


@pytest.mark.parametrize("make", FORMS)
def test_shown_row_stands_with_what_qualifies_it(make) -> None:
    """U2: a row asked for in words, in little room."""
    rows = [{"text": make(), "source": "balance"}]
    context = assemble("How much was Loan 3 in 2024?", rows, budget=130)

    for part in ("2023", "(thousands)", "Debts", "Loan 3"):
        assert part in context.text


@pytest.mark.parametrize(
    "row",
    [
        ["Ada", "A-1", "open"],
        ["Ben", "3 kg", "4 kg"],
        ["Cid", "Bern", "Graz"],
        ["Flight", "BRU", "AMS"],
    ],
)
def test_row_of_values_is_no_row_of_units(row: list[str]) -> None:
    """U1: with digits, or with words that are no units, it is a row like the others."""
    text = "\n".join(";".join(each) for each in [["name", "one", "two"], row, row, row, row])
    (shape,) = check_shapes(text)

    assert shape.head == 0
    assert set(shape.leans) == {0}


def test_letter_above_words_is_no_unit() -> None:
    """U1: `m` below `sex` is a value, for no numbers follow."""
    text = "name;sex;town\nAda;m;\nBen;h;Bern\nCid;m;Graz\nDan;h;Bern\n"
    (shape,) = check_shapes(text)

    assert shape.head == 0
    assert set(shape.leans) == {0}


def test_value_that_is_missing_titles_no_rows() -> None:
    """U1 U2: in a table of two columns, a name without a value is a row like the others."""
    rows = [
        ["Name", "Phone"],
        ["Ada", "11"],
        ["Bob", ""],
        *([f"Cid {n}", f"{n}"] for n in range(9)),
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    text = "\n".join([lines[0], "|---|---|", *lines[1:]])
    (shape,) = check_shapes(text)

    assert not any("Bob" in unit for unit in chain(text, shape, "Cid 7"))

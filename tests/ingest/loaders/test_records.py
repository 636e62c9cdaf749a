"""Rows of sheets and CSV files are written out with what they cannot be read without."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest

import foveate
from documents import read, saved

BALANCE: list[list[str]] = [
    ["Position", "2023", "2024"],
    ["", "EUR", "(thousands)"],
    ["Assets"],
    *([f"Line {n}", f"{100 + n}", f"{200 + n}"] for n in range(12)),
    ["Total", "1,266", "2,466"],
    ["Cash at hand", "7", "9"],
    [],
    ["Debts"],
    *([f"Loan {n}", f"{300 + n}", f"{400 + n}"] for n in range(12)),
    ["Subtotal", "3,666", "4,866"],
]


def as_csv(rows: Sequence[Sequence[str]]) -> bytes:
    """The rows between semicolons, each as wide as the widest."""
    out, wide = io.StringIO(), max(map(len, rows))
    csv.writer(out, delimiter=";").writerows([*row, *[""] * (wide - len(row))] for row in rows)
    return out.getvalue().encode()


def as_xlsx(rows: Sequence[Sequence[str]]) -> bytes:
    """The rows as a sheet; empty cells are none."""
    book = openpyxl.Workbook()
    book.active.title = "Balance"
    for row, cells in enumerate(rows, 1):
        for column, cell in enumerate(cells, 1):
            if cell:
                book.active.cell(row, column, cell)
    return saved(book)


FILES = {"balance.csv": as_csv, "balance.xlsx": as_xlsx}
EVERY = pytest.mark.parametrize("name", FILES)


def records(name: str, rows: Sequence[Sequence[str]]) -> dict[int, str]:
    """What is written of each row, by its number, where the rows come through this file."""
    loaded = read(name, FILES[name](rows))
    return {s.row: loaded.text[s.start : s.end] for s in loaded.sections if s.row is not None}


@EVERY
def test_row_has_units_and_the_title_of_its_group(name: str) -> None:
    """U1 U2: up to the total; the rows of units and of titles are records of their own, too."""
    found = records(name, BALANCE)

    assert found[2] == "2023: EUR; 2024: (thousands)"
    assert found[3] == "Position: Assets"
    assert found[10] == "Assets; Position: Line 6; 2023 (EUR): 106; 2024 (thousands): 206"
    assert found[16] == "Assets; Position: Total; 2023 (EUR): 1,266; 2024 (thousands): 2,466"
    assert found[17] == "Position: Cash at hand; 2023 (EUR): 7; 2024 (thousands): 9"
    assert found[31] == "Debts; Position: Loan 11; 2023 (EUR): 311; 2024 (thousands): 411"
    assert found[32].startswith("Debts; Position: Subtotal; ")


@pytest.mark.parametrize("above", [[], [["in thousands of EUR"]]])
@EVERY
def test_row_of_a_later_chunk_is_shown_with_all_that_qualifies_it(
    tmp_path: Path, name: str, above: list[list[str]]
) -> None:
    """U2, T2: from an index, in little room, by its own row."""
    (tmp_path / name).write_bytes(FILES[name]([*above, *BALANCE]))
    with foveate.open_store(tmp_path / "store") as store:
        assert not store.index(tmp_path / name).failed
        context = store.assemble("How much was Loan 9 in 2024?", budget=60)

    measure, n = ("in thousands of EUR; ", 1) if above else ("", 0)
    shown = f"{measure}Debts; Position: Loan 9; 2023 (EUR): 309; 2024 (thousands): 409"
    assert shown in context.text
    assert 29 + n in [one.row for one in context.citations]


@EVERY
def test_lines_above_the_names_are_rows_of_their_own(name: str) -> None:
    """U2: who made a sheet and when is no name of its columns."""
    above = [["Balance of the mill"], ["as of 31 December"], []]
    found = records(name, [*above, *BALANCE])

    assert found[1] == "A: Balance of the mill"
    assert found[2] == "A: as of 31 December"
    assert found[13] == "Assets; Position: Line 6; 2023 (EUR): 106; 2024 (thousands): 206"


@EVERY
@pytest.mark.parametrize(
    ("above", "width"),
    [
        (["in thousands of EUR"], 2),
        (["in thousands of EUR"], 3),
        (["Debts of the mill (in EUR)"], 3),
        (["in EUR", "thousands"], 3),
    ],
)
def test_line_above_the_names_says_how_every_row_is_measured(
    name: str, above: list[str], width: int
) -> None:
    """U2: below a title, too; it is a record of its own as well."""
    found = records(name, [["The mill"], above, [], *(row[:width] for row in BALANCE)])
    bare = records(name, [[], *(row[:width] for row in BALANCE)])
    said = ", ".join(above)

    assert found[2].startswith("A: ")
    for row in (6, 10, 17, 31):
        assert found[row + 3] == f"{said}; {bare[row + 1]}"


@EVERY
@pytest.mark.parametrize(
    ("rows", "row", "written"),
    [
        ([["EUR", "USD"], ["1.10", "1.20"], ["2.10", "2.20"]], 3, "EUR: 2.10; USD: 2.20"),
        ([["name", "sex"], ["Ada", "m"], ["Ben", "h"]], 3, "name: Ben; sex: h"),
        ([["name", "a", "b"], ["Ada", "1", "2"], ["Bob"], ["Cid", "3"]], 4, "name: Cid; a: 3"),
        ([["name", "by", "at"], ["Ada"], ["Ben", "ben@x", "h"]], 3, "name: Ben; by: ben@x; at: h"),
        ([["id", "a", "b"], ["1"], ["2", "x", "y"]], 3, "id: 2; a: x; b: y"),
        ([["year", "n"], ["2019", "4"], ["2020", "5"]], 3, "year: 2020; n: 5"),
        ([["mill", "1999"], ["well", "2001"]], 2, "A: well; B: 2001"),
        ([["part", "size", "by"], ["ax", "3 kg", "Al"], ["pin", "1 g"]], 3, "part: pin; size: 1 g"),
        ([["only"], ["a"], ["b"]], 3, "only: b"),
        ([["part", "n"], ["kg", "m"]], 2, "part: kg; n: m"),
    ],
)  # fmt: skip
def test_row_of_values_qualifies_no_other(
    name: str, rows: list[list[str]], row: int, written: str
) -> None:
    """U1, T2: letters below `sex`, a name without values between rows, years of a column."""
    assert records(name, rows)[row] == written


def test_long_text_alone_in_its_row_is_not_repeated() -> None:
    """T2, X3: a file cannot grow by what it says once."""
    rows = [["a", "b", "c"], ["x" * 5_000], *([str(n), "1", "2"] for n in range(50))]
    assert len(read("a.csv", as_csv(rows)).text) < 6_500

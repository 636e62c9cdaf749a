"""The names of a table's columns: which row has them, and what stands above it."""

from __future__ import annotations

import re

import pytest

from foveate import assemble
from foveate.core.text.shapes.shape import Shape
from foveate.testing.shapes import check_shapes


def chain(text: str, shape: Shape, holds: str) -> list[str]:
    """The unit that holds this and what it leans on, outermost first."""
    units = [text[a:b] for a, b in shape.spans]
    at = next(n for n, unit in enumerate(units) if holds in unit)
    found = [units[at]]
    while shape.leans[at] != at:
        at = shape.leans[at]
        found.append(units[at])
    return found[::-1]


def test_years_name_columns() -> None:
    """U1: where what is below them is no year."""
    years = "Country,2023,2024\nGermany,12,14\nFrance,3,5\nItaly,7,9\n"
    values = "Country,2023,Leiden\nGermany,1999,Graz\nFrance,2004,Bern\nItaly,2011,Cork\n"

    assert check_shapes(years)[0].head == 0
    assert check_shapes(values)[0].head == -1


def test_counts_of_many_tables_are_added_up() -> None:
    """U2 B1: a mark takes no more room where more tables are left out."""
    tables = [f"| n | v |\n|---|---|\n| x{n} | {n} |\n| y{n} | {n + 9} |\n" for n in range(200)]
    text = "\nThese follow.\n\n".join(tables)
    check_shapes(text)
    shown = assemble("What is y44?", [{"text": text}], budget=300).text

    assert "y44" in shown
    counts = re.findall(r"(\d+)(?: of \d+)? rows", shown)
    assert len(counts) < 12
    assert sum(map(int, counts)) == 400 - len(re.findall(r"\| [xy]\d+", shown))


def test_names_with_digits_stand_above_numbers() -> None:
    """U1: `Q1` names numbers; above others of its kind it is one of them."""
    rows = [(name, 3 * n, 7 * n) for n, name in enumerate(("Boats", "Nets", "Oars", "Ropes"), 4)]
    numbers = "".join(f"{name},{one},{two}\n" for name, one, two in rows)
    quarters = "".join(f"{name},Q{one},{two}\n" for name, one, two in rows)

    assert check_shapes(f"Goods,Q1,Q2\n{numbers}")[0].head == 0
    assert check_shapes(f"Masts,Q1,17\n{quarters}")[0].head == -1


def test_first_row_that_titles_all_columns_is_their_head() -> None:
    """U1: where the names of the columns stand below it; the title of a group is no head."""
    rows = "".join(f"| Item {n} | {n + 7} | {n + 9} |\n" for n in range(6))
    names = "| Year ended May 31, | | |\n| | 2019 | 2018 |\n"

    assert check_shapes(names + rows)[0].head == 0
    assert check_shapes("| Assets | | |\n" + rows)[0].head == -1


@pytest.mark.parametrize("names", ["Item,qty,price", "Item,FY23,FY24"])
@pytest.mark.parametrize("form", ["csv", "pipes", "markdown", "html"])
def test_title_above_the_names_is_read_with_them(form: str, names: str) -> None:
    """U1 U2: so that no row is shown without names, in a later chunk too."""
    rows = [["Price list", "", ""], names.split(",")]
    rows += [[f"P-{n:03}", str(3 * n), str(7 * n)] for n in range(60)]
    if form == "csv":
        lines = [",".join(row) for row in rows]
    elif form == "html":
        tags = ["td", "th", *["td"] * 60]
        cells = [
            [f"<{tag}>{cell}</{tag}>" for cell in row] for tag, row in zip(tags, rows, strict=True)
        ]
        cells[0] = ["<td colspan=3>Price list</td>"]
        lines = [f"<tr>{''.join(row)}</tr>" for row in cells]
        lines[0] = f"<table>{lines[0]}"
    else:
        lines = [f"| {' | '.join(row)} |" for row in rows]
        lines[1:1] = ["|---|---|---|"] if form == "markdown" else []
    first, later = "\n".join(lines[:32]), "\n".join(lines[32:])
    (shape,) = check_shapes(first)

    for part in ("Price list", "Item"):
        assert part in first[slice(*shape.spans[0])]
        assert part in chain(first, shape, "P-007")[0]
    pool = [
        {"id": f"d{n}", "document_id": "d", "text": text, "score": 0.5 + n / 9, "sequence": n}
        for n, text in enumerate((first, later))
    ]
    shown = assemble(f"What is {names[-4:]} of P-044?", pool, budget=100).text
    for part in ("Price list", names.split(",")[1], "P-044"):
        assert part in shown


@pytest.mark.parametrize("delimiter", [",", "\t", "|"])
def test_name_alone_between_records_is_a_row(delimiter: str) -> None:
    """U1 U2: a record may lack all values but its name."""
    rows = ["name,town,trade"]
    rows += [f"Person {word},Bern,miller" for word in ("One", "Two", "Three")]
    rows += ["Ada Lovelace,,", *(f"Person {word},Graz,smith" for word in ("Four", "Five"))]
    text = "\n".join(rows).replace(",", delimiter)
    if delimiter == "|":
        lines = [f"| {row.replace('|', ' | ')} |" for row in text.splitlines()]
        text = "\n".join([lines[0], "|---|---|---|", *lines[1:]])

    (shape,) = check_shapes(text)
    assert set(shape.leans) == {0}

"""Rows that others cannot be read without: units of measure, titles of groups, totals."""

from __future__ import annotations

import re

import pytest

from foveate import assemble
from foveate.core.text.shapes.qualifiers import is_measure_line
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


@pytest.mark.parametrize(
    ("cell", "is_title"),
    [
        ("A-0027", False),
        ("A-2", False),
        ("unit_7", False),
        ("10023", False),
        ("Customer 10023", False),
        ("ada@example.org", False),
        ("https://example.org", False),
        ("Boats", True),
        ("**COVID-19 cases**", True),
        ("FY2023", True),
        ("2023/24", True),
        ("31.12.2023", True),
        ("In the 1990s", True),
        ("Loans above 1,000 EUR", True),
    ],
)
def test_record_without_values_titles_no_rows(cell: str, *, is_title: bool) -> None:
    """U1 U2: a title is a text; an identifier alone is that of a record."""
    rows = [["id", "mail", "phone"], [cell, "", ""]]
    rows += [[f"A-{n}", f"a{n}@b.org", f"{n}"] for n in range(3, 12)]
    text = "\n".join(",".join(f'"{part}"' for part in row) for row in rows)
    (shape,) = check_shapes(text)

    assert any(cell in unit for unit in chain(text, shape, "A-7")) is is_title


MEASURE = "in thousands of EUR"


def measured_markdown(above: str) -> str:
    """A line, an empty one, and the table with a rule."""
    return f"{above}\n\n{markdown()}"


def measured_row(above: str) -> str:
    """A row of one cell above the names, as a merged cell of a Word file becomes."""
    rows = [row for row in ROWS if row[0]]
    return "\n".join(f"| {' | '.join(row)} |" for row in ([above], *rows))


def measured_first_row(above: str) -> str:
    """The same in Markdown, where the first row needs a rule below it."""
    first, *others = measured_row(above).splitlines()
    return "\n".join([first[:-1] + "| | |", "|---|---|---|", *others])


def measured_semicolons(above: str) -> str:
    """A row above the names of a file that a spreadsheet writes."""
    return f"{above};;\n{rows_by_semicolons()}"


def measured_html(above: str) -> str:
    """A cell over all columns."""
    row = f"<tr><td colspan=3>{above}</td></tr>"
    return html().replace("<table>", f"<table>\n{row}")


@pytest.mark.parametrize("above", [MEASURE, "Balance of the group (EUR million)"])
@pytest.mark.parametrize(
    "make",
    [
        measured_markdown,
        measured_row,
        measured_first_row,
        measured_semicolons,
        measured_html,
    ],
)
def test_units_of_measure_above_the_names_stay_with_every_row(make, above: str) -> None:
    """U1 U2: the line is read with the names, which every row leans on."""
    text = make(above)
    (shape,) = check_shapes(text)

    assert above in chain(text, shape, "Loan 3")[0]
    assert "2023" in chain(text, shape, "Loan 3")[0]
    context = assemble(
        "How much was Loan 3 in 2024?", [{"text": text, "source": "balance"}], budget=140
    )
    for part in (above, "2023", "Debts", "Loan 3"):
        assert part in context.text


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("in thousands of EUR", True),
        ("(EUR million, unless otherwise stated)", True),
        ("Alle Beträge in TEUR", True),
        ("en milliers d'euros", False),
        ("$ in millions, except per share data", True),
        ("Table 3: Debts (in Mio. EUR)", True),
        ("# Debts (in EUR)", False),
        ("Debts rose by millions", False),
        ("in all", False),
        ("Share per million", False),
        ("EUR per share", True),
        ("Debts (unaudited)", False),
        ("", False),
    ],
)
def test_line_says_how_a_table_is_measured(line: str, says: bool) -> None:
    """U1: with words of measure alone, or with those in brackets at its end; never a heading."""
    assert is_measure_line(line) is says


def carried(make, cut: int) -> list[dict[str, object]]:
    """The table in chunks of so many lines."""
    lines = make().splitlines(keepends=True)
    texts = ["".join(lines[at : at + cut]) for at in range(0, len(lines), cut)]
    found, at = [], 0
    for n, text in enumerate(texts):
        found.append({"id": f"c{n}", "document_id": "d", "sequence": n, "text": text})
        found[-1] |= {"start": at, "end": at + len(text), "score": 0.5}
        at += len(text)
    return found


@pytest.mark.parametrize("make", [*FORMS, lambda: measured_row(MEASURE)])
def test_title_of_a_group_goes_on_in_later_chunks(make) -> None:
    """U2: from the chunk that has it, up to the total of the group or the next title."""
    chunks = carried(make, 9)
    ask = "What are the values of {}?"

    shown = assemble(ask.format("Line 11"), chunks, budget=150).text
    assert "Assets" in shown
    assert "2023" in shown
    shown = assemble(ask.format("Loan 11"), chunks, budget=150).text
    assert "Debts" in shown


def test_years_name_columns() -> None:
    """U1: where what is below them is no year."""
    years = "Country,2023,2024\nGermany,12,14\nFrance,3,5\nItaly,7,9\n"
    values = "Country,2023,Leiden\nGermany,1999,Graz\nFrance,2004,Bern\nItaly,2011,Cork\n"

    assert check_shapes(years)[0].head == 0
    assert check_shapes(values)[0].head == -1


@pytest.mark.parametrize(
    ("group", "row", "is_total"),
    [
        ("Oil", "Total Energies", False),
        ("Oil", "Total", True),
        ("Oil", "Total of both", True),
        ("Current assets:", "Total Assets", True),
        ("EXPENSE", "TOTAL EXPENSES", True),
        ("Umlaufvermögen", "Summe Umlaufvermögen", True),
    ],
)
def test_total_says_nothing_or_names_its_group(group: str, row: str, *, is_total: bool) -> None:
    """U1: a name that begins like a total does not end a group."""
    rows = [["Name", "2023", "2024"], [group, "", ""]]
    rows += [[name, "17", "19"] for name in ("Shell", "BP", row, "Eni", "Repsol")]
    (shape,) = check_shapes(text := "\n".join(";".join(each) for each in rows))

    assert any(group in unit for unit in chain(text, shape, row))
    assert any(group in unit for unit in chain(text, shape, "Eni")) is not is_total


def test_counts_of_many_tables_are_added_up() -> None:
    """U2 B1: a mark takes no more room where more tables are left out."""
    tables = [f"| n | v |\n|---|---|\n| x{n} | {n} |\n| y{n} | {n + 9} |\n" for n in range(200)]
    text = "\nThen:\n\n".join(tables)
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
def test_name_alone_between_records_titles_no_rows(delimiter: str) -> None:
    """U1 U2: a record may lack all values but its name, where no row above is a title."""
    rows = ["name,town,trade"]
    rows += [f"Person {word},Bern,miller" for word in ("One", "Two", "Three")]
    rows += ["Ada Lovelace,,", *(f"Person {word},Graz,smith" for word in ("Four", "Five"))]
    text = "\n".join(rows).replace(",", delimiter)
    if delimiter == "|":
        lines = [f"| {row.replace('|', ' | ')} |" for row in text.splitlines()]
        text = "\n".join([lines[0], "|---|---|---|", *lines[1:]])

    (shape,) = check_shapes(text)
    assert shape.title == -1
    assert set(shape.leans) == {0}
    (later,) = check_shapes(text[text.index("Person One") - 2 * (delimiter == "|") :])
    assert later.title == -1

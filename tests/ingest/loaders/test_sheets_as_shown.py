"""V1: sheets and CSV files that the tests write, with what each shows written down beforehand.

Every case of tables is written as `.csv`, `.xlsx` and `.ods`.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Sequence
from html import escape

import openpyxl
import pytest

from documents import odf, part_of, read, repacked, saved, workbook

Rows = Sequence[str]
"""Rows of cells between bars; an empty text is an empty row."""


def _cells(rows: Rows) -> list[list[str]]:
    return [row.split("|") if row else [] for row in rows]


def _csv(rows: Rows) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(_cells(rows))
    return out.getvalue().encode()


def _xlsx(rows: Rows) -> bytes:
    book = openpyxl.Workbook()
    for row, cells in enumerate(_cells(rows), 1):
        for column, cell in enumerate(cells, 1):
            if cell:
                is_number = cell.replace(".", "", 1).isdigit()
                book.active.cell(row, column, float(cell) if is_number else cell)
    return saved(book)


def _ods(rows: Rows) -> bytes:
    written = (
        "<table:table-row>"
        + "".join(
            f"<table:table-cell><text:p>{escape(cell)}</text:p></table:table-cell>"
            if cell
            else "<table:table-cell/>"
            for cell in cells or [""]
        )
        + "</table:table-row>"
        for cells in _cells(rows)
    )
    return odf("spreadsheet", f'<table:table table:name="S">{"".join(written)}</table:table>')


FILES: dict[str, Callable[[Rows], bytes]] = {"a.csv": _csv, "a.xlsx": _xlsx, "a.ods": _ods}

PARTS = ["Name|Price|Stock", "Valve|3.2|5", "Pump|4.1|6"]
PARTS_SHOWN = ["2 Name: Valve; Price: 3.2; Stock: 5", "3 Name: Pump; Price: 4.1; Stock: 6"]

TABLES: dict[str, tuple[Rows, Rows]] = {
    "second table of texts": (
        [*PARTS, "", "City|Manager|Phone", "Oslo|Ann|555"],
        [*PARTS_SHOWN, "6 City: Oslo; Manager: Ann; Phone: 555"],
    ),
    "second table with a title": (
        [*PARTS, "", "Cities", "City|Area|People", "Oslo|454|700", "Rome|1285|2800"],
        [
            *PARTS_SHOWN,
            *("5 A: Cities", "7 City: Oslo; Area: 454; People: 700"),
            "8 City: Rome; Area: 1285; People: 2800",
        ],
    ),
    "title and table without an empty row": (
        [*PARTS, "Cities", "City|Area|People", "Oslo|454|700"],
        [*PARTS_SHOWN, "4 A: Cities", "6 City: Oslo; Area: 454; People: 700"],
    ),
    "title behind two empty rows": (
        [*PARTS, "", "", "Cities", "", "City|Area|People", "Oslo|454|700"],
        [*PARTS_SHOWN, "6 A: Cities", "9 City: Oslo; Area: 454; People: 700"],
    ),
    "the same names again": (
        [*PARTS, "", *PARTS],
        [*PARTS_SHOWN, "6 Name: Valve; Price: 3.2; Stock: 5", "7 Name: Pump; Price: 4.1; Stock: 6"],
    ),
    "the same names on a new page": (
        [*PARTS, PARTS[0], "Bolt|1|2"],
        [*PARTS_SHOWN, "5 Name: Bolt; Price: 1; Stock: 2"],
    ),
    "rows behind an empty one": (
        [*PARTS, "", "Bolt|1|2", "Nut|2|n/a"],
        [
            *PARTS_SHOWN,
            *("5 Name: Bolt; Price: 1; Stock: 2", "6 Name: Nut; Price: 2; Stock: n/a"),
        ],
    ),
    "every second row is empty": (
        ["Name|Price", "", "Valve|3", "", "Pump|4", "", "Nut|-"],
        ["3 Name: Valve; Price: 3", "5 Name: Pump; Price: 4", "7 Name: Nut; Price: -"],
    ),
    "wider second table": (
        ["Item|Qty", "bolt|5", "nut|6", "", "City|Manager|Phone", "Oslo|Ann|555"],
        ["2 Item: bolt; Qty: 5", "3 Item: nut; Qty: 6", "6 City: Oslo; Manager: Ann; Phone: 555"],
    ),
    "narrower second table": (
        [*PARTS, "", "Year|Profit", "first|7", "second|8"],
        [*PARTS_SHOWN, "6 Year: first; Profit: 7", "7 Year: second; Profit: 8"],
    ),
    "second table elsewhere": (
        [*PARTS, "", "|||City|Area", "|||Oslo|454", "|||Rome|1285"],
        [*PARTS_SHOWN, "6 City: Oslo; Area: 454", "7 City: Rome; Area: 1285"],
    ),
    "three tables": (
        [*PARTS, "", "City|Area|Mayor", "Oslo|454|Ann", "", "Team|Lead|Size", "Red|Bob|4"],
        [
            *(*PARTS_SHOWN, "6 City: Oslo; Area: 454; Mayor: Ann"),
            "9 Team: Red; Lead: Bob; Size: 4",
        ],
    ),
    "texts that may be names": (
        ["Name|City", "Ann|Oslo", "Bob|Rome", "", "Team|Lead", "Red|Cid"],
        [
            "2 Name: Ann; City: Oslo",
            "3 Name: Bob; City: Rome",
            "5 A: Team; B: Lead",
            "6 A: Red; B: Cid",
        ],
    ),
    "texts of the same kind": (
        ["Name|State", "Ann|open", "Bob|done", "", "Cid|open", "Dan|late"],
        [
            "2 Name: Ann; State: open",
            "3 Name: Bob; State: done",
            "5 Name: Cid; State: open",
            "6 Name: Dan; State: late",
        ],
    ),
    "text in the place of a figure": (
        ["Name|Price", "Valve|3", "Pump|4", "", "Bolt|sold out", "Nut|5", "Pin|6"],
        [
            *("2 Name: Valve; Price: 3", "3 Name: Pump; Price: 4", "5 A: Bolt; B: sold out"),
            *("6 A: Nut; B: 5", "7 A: Pin; B: 6"),
        ],
    ),
    "signed at the end": (
        [*PARTS, "", "Prepared by|Ann", "Date|2024-01-01"],
        [*PARTS_SHOWN, "5 A: Prepared by; B: Ann", "6 A: Date; B: 2024-01-01"],
    ),
    "note at the end": (
        [*PARTS, "", "Source: the stock list"],
        [*PARTS_SHOWN, "5 A: Source: the stock list"],
    ),
    "note between rows": (
        [*PARTS, "", "counted twice", "", "Bolt|1|2"],
        [*PARTS_SHOWN, "5 A: counted twice", "7 Name: Bolt; Price: 1; Stock: 2"],
    ),
    "list of labels above": (
        ["Report|Q1", "By|Ann", "", "name|price|stock", "valve|3.2|5"],
        ["1 A: Report; B: Q1", "2 A: By; B: Ann", "5 name: valve; price: 3.2; stock: 5"],
    ),
    "list of labels right above": (
        ["Report|Q1", "By|Ann", "name|price|stock", "valve|3.2|5"],
        ["1 A: Report; B: Q1", "2 A: By; B: Ann", "4 name: valve; price: 3.2; stock: 5"],
    ),
    "title above two columns": (
        ["Export of 2024-01-01", "name|price", "valve|3.2", "pump|4.1"],
        ["1 A: Export of 2024-01-01", "3 name: valve; price: 3.2", "4 name: pump; price: 4.1"],
    ),
    "title above values": (
        ["Prices", "valve|3.2", "pump|4.1"],
        ["1 A: Prices", "2 A: valve; B: 3.2", "3 A: pump; B: 4.1"],
    ),
    "labels with colons": (
        ["Name:|Ann", "Age:|36", "City:|Oslo"],
        ["1 A: Name:; B: Ann", "2 A: Age:; B: 36", "3 A: City:; B: Oslo"],
    ),
    "an empty row ends a group": (
        ["Item|2023|2024", "Liabilities", "Loan|5|6", "", "Headcount|12|13"],
        [
            "2 Item: Liabilities",
            "3 Liabilities; Item: Loan; 2023: 5; 2024: 6",
            "5 Item: Headcount; 2023: 12; 2024: 13",
        ],
    ),
    "names that come again": (
        ["name|value|value|note|value", "Ada|36|37|x|38", "Bob|4|5|y|6"],
        [
            "2 name: Ada; value: 36; value (2): 37; note: x; value (3): 38",
            "3 name: Bob; value: 4; value (2): 5; note: y; value (3): 6",
        ],
    ),
    "two tables side by side": (
        ["Name|Price||Name|Price", "Valve|3||Pump|4", "Bolt|1||Nut|2"],
        [
            "2 Name: Valve; Price: 3; Name (2): Pump; Price (2): 4",
            "3 Name: Bolt; Price: 1; Name (2): Nut; Price (2): 2",
        ],
    ),
    "units of a second table": (
        [*PARTS, "", "City|Area|People", "|km²|(thousands)", "Oslo|454|700"],
        [
            *PARTS_SHOWN,
            "6 Area: km²; People: (thousands)",
            "7 City: Oslo; Area (km²): 454; People (thousands): 700",
        ],
    ),
    "measure of one table": (
        [
            "in thousands of EUR",
            "Item|2023|2024",
            "Sales|5|6",
            "Margin|8 %|9 %",
            "",
            "City|Mayor|People",
            "Oslo|Ann|700",
        ],
        [
            "1 A: in thousands of EUR",
            "3 in thousands of EUR; Item: Sales; 2023: 5; 2024: 6",
            "4 Item: Margin; 2023: 8 %; 2024: 9 %",
            "7 City: Oslo; Mayor: Ann; People: 700",
        ],
    ),
    "rows like the names": (["a|b", "a|b", "a|b"], ["2 a: a; b: b", "3 a: a; b: b"]),
    "one column": (["Part", "", "valve", "pump"], ["3 Part: valve", "4 Part: pump"]),
}


def _lines(name: str, data: bytes | str) -> list[str]:
    loaded = read(name, data)
    return [f"{s.row} {loaded.text[s.start : s.end]}" for s in loaded.sections]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("case", TABLES)
def test_rows_have_the_names_of_their_own_table(case: str, name: str) -> None:
    """V1, T2: no row has names of another table, and none has data for names."""
    rows, shown = TABLES[case]
    assert _lines(name, FILES[name](rows)) == [*shown]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sep=;\nname;price\nvalve;3,20\n", ["2 name: valve; price: 3,20"]),
        ('"sep=|"\r\nname|price\r\nvalve|3,20\r\n', ["2 name: valve; price: 3,20"]),
        ("SEP=,\nname,price\nvalve,3\n", ["2 name: valve; price: 3"]),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ["2 a: 1,5; b: 2,5", "3 a: 3,5; b: 4,5"]),
        ("Export, all parts\n\nname;price\nvalve;3,20\npump;4,10\n",
         ["1 A: Export, all parts", "4 name: valve; price: 3,20", "5 name: pump; price: 4,10"]),
        ('# by Ann, 2024\n# all\n"name","price"\n"valve","3"\n',
         ["1 A: # by Ann, 2024", "2 A: # all", "4 name: valve; price: 3"]),
        ("#id,price\nv1,3\nv2,4\n", ["2 #id: v1; price: 3", "3 #id: v2; price: 4"]),
        ("# id,price\n12,3\n13,4\n", ["2 # id: 12; price: 3", "3 # id: 13; price: 4"]),
        ("# done, today\nname,city\nAnn,Oslo\n", ["1 A: # done, today", "3 name: Ann; city: Oslo"]),
        ("'name','note'\n'valve','a,b'\n", ["2 name: valve; note: a,b"]),
    ],
)  # fmt: skip
def test_first_lines_of_csv_files(text: str, shown: list[str]) -> None:
    """V1, T2: the separator that a file says, comments, and decimal commas."""
    assert _lines("a.csv", text) == shown


SHOWN = [
    (-1234.5, "#,##0.00_);[Red]\\(#,##0.00\\)", "(1,234.50)"),
    (-1234.5, '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)', "($1,234.50)"),
    (0, '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)', "$-"),
    (1500, '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "1.5K"),
    (-0.125, "0.0%;[Red]-0.0%", "-12.5%"),
    (45352, "[$-407]dd.mm.yyyy", "01.03.2024"),
    (-5, "0;;;@", None),
    (12.5, "#,##0.00\\ [$€-407]", "12.50 €"),
    ("n/a", "0.0;-0.0;0.0;@\\*", "n/a*"),
]
BY_NUMBER = [
    (45352, 27, "2024-03-01"),
    (45352, 58, "2024-03-01"),
    (0.5, 33, "12:00:00"),
    (0.5, 55, "12:00:00"),
    (45352, 34, "2024-03-01"),
    (-5, 6, "($5)"),
    (1234.5, 7, "$1,234.50"),
    (-5, 41, "(5)"),
    (-1234.5, 44, "$(1,234.50)"),
    (0.0007, 47, "01:00.5"),
    (12345, 48, "12.3E+3"),
]


def test_numbers_of_a_workbook_are_as_shown() -> None:
    """V1: by formats that are written, and by those that a file has by their numbers alone."""
    book = openpyxl.Workbook()
    for row, (value, code, _) in enumerate(SHOWN, 1):
        book.active.cell(row, 1, value).number_format = code
    found = dict(line.split(" A: ", 1) for line in _lines("a.xlsx", saved(book)))
    assert [found.get(str(row)) for row in range(1, len(SHOWN) + 1)] == [s for _, _, s in SHOWN]

    book = openpyxl.Workbook()
    for row, (value, _, _) in enumerate(BY_NUMBER, 1):
        book.active.cell(row, 1, value).number_format = f'0.0"{row}"'
    data = saved(book)
    styles = part_of(data, "xl/styles.xml")
    for row, (_, number, _) in enumerate(BY_NUMBER):
        styles = styles.replace(f'<xf numFmtId="{164 + row}"', f'<xf numFmtId="{number}"')
    lines = _lines("a.xlsx", repacked(data, {"xl/styles.xml": styles.encode()}))
    assert [line.split(" A: ")[1] for line in lines] == [shown for _, _, shown in BY_NUMBER]


def test_formats_that_are_not_understood_are_counted() -> None:
    """V1: the number is shown as it is stored, with its sign."""
    book = openpyxl.Workbook()
    codes = ["bogus", "[DBNum1]0", "[$-2060401]yyyy", "0.0.0", '[>5]0;[<2]"low"']
    for row, code in enumerate([*codes, "0.0"], 1):
        book.active.cell(row, 1, -5 if row < 5 else 3).number_format = code
    loaded = read("a.xlsx", saved(book))

    assert loaded.text.split("\n\n") == [*["A: -5"] * 4, "A: 3", "A: 3.0"]
    assert loaded.left_out == {"number formats": len(codes)}


def test_signs_that_are_escaped_in_a_workbook() -> None:
    """V1: `_x000D_` is the end of a line."""
    assert read("a.xlsx", workbook({"S": [["one_x000D_\ntwo _x2264_ 5"]]})).text == "A: one two ≤ 5"


def test_values_of_cells_that_an_open_document_has_no_text_for() -> None:
    """V1: some programs write the value alone."""
    cells = (
        '<table:table-cell office:value-type="float" office:value="-5"/>'
        '<table:table-cell office:value-type="date" office:date-value="2024-03-01"/>'
        '<table:table-cell office:value-type="string" office:string-value="x"/>'
    )
    table = f"<table:table><table:table-row>{cells}</table:table-row></table:table>"
    assert read("a.ods", odf("spreadsheet", table)).text == "A: -5; B: 2024-03-01; C: x"


def _tables(count: int) -> list[str]:
    rows: list[str] = []
    for n in range(count):
        rows += [f"Table {n} of all", f"Name {n}x|Price {n}x|Stock"]
        rows += [f"v{n}|3|4", f"w{n}|5|6", ""]
    return rows


@pytest.mark.parametrize("name", FILES)
def test_a_thousand_small_tables(name: str) -> None:
    """V1, X2: each has its own names."""
    lines = _lines(name, FILES[name](_tables(1_000)))
    assert len(lines) == 3_000
    for n in range(1_000):
        assert lines[3 * n : 3 * n + 3] == [
            f"{5 * n + 1} A: Table {n} of all",
            f"{5 * n + 3} Name {n}x: v{n}; Price {n}x: 3; Stock: 4",
            f"{5 * n + 4} Name {n}x: w{n}; Price {n}x: 5; Stock: 6",
        ]


@pytest.mark.parametrize("rows", [_tables(250), ["Part|Price|Stock", *["", "v|3|4"] * 500]])
def test_rows_with_which_a_table_may_begin_are_read_in_linear_time(rows: list[str]) -> None:
    """X2: what is looked at for each of them is bounded."""

    def seconds(data: bytes) -> float:
        start = time.process_time()
        read("a.csv", data)
        return time.process_time() - start

    few, many = _csv(rows), _csv(rows * 4)
    assert min(seconds(many) for _ in range(3)) < 12 * min(seconds(few) for _ in range(3))

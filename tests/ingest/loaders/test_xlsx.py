"""Excel: records with the names of their columns, values as shown, rows and sheets in sections."""

from __future__ import annotations

import io
import math
from datetime import date, datetime

import openpyxl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl.utils.datetime import to_excel

from documents import PRICES, part_of, read, repacked, saved, workbook
from foveate.ingest.loaders.merged_cells import MergedRanges
from foveate.ingest.loaders.number_formats import format_number, format_stored, format_text


def _rows(data: bytes) -> list[tuple[str, int | None, str]]:
    loaded = read("prices.xlsx", data)
    return [(s.path, s.row, loaded.text[s.start : s.end]) for s in loaded.sections]


def test_a_row_is_a_record() -> None:
    """T2: sheet, row as the sheet numbers it, and each value with its column's name."""
    rows = _rows(workbook({"Parts": PRICES}))
    assert rows[0] == ("Parts", 2, "Part: Part 2; Price: 0.5; Checked: 2024-03-02")
    assert rows[15][:2] == ("Parts", 17)
    assert rows[15][2].endswith("Note: opens above three bar")


def test_without_names_columns_have_letters() -> None:
    """T2: where the first row is data, or the only one, it is a record like the others."""
    numbers = workbook({"A": [[1, 2], [3, None, "x"]], "B": [["alone"]]})
    assert _rows(numbers) == [
        ("A", 1, "A: 1; B: 2"),
        ("A", 2, "A: 3; C: x"),
        ("B", 1, "A: alone"),
    ]


def test_empty_rows_and_hidden_sheets() -> None:
    """T2: empty rows count but say nothing; a hidden sheet is not read."""
    book = openpyxl.Workbook()
    book.active["B3"] = "Part"
    book.active["B7"] = "valve"
    hidden = book.create_sheet("secret")
    hidden["A1"] = "hidden"
    hidden.sheet_state = "hidden"
    assert _rows(saved(book)) == [("Sheet", 7, "Part: valve")]


def test_values_are_those_that_openpyxl_reads() -> None:
    """T2: texts, truths and errors, as another reader finds them."""
    cells = ["plain", "ünïcode 値", "two\nlines", True, False, "#DIV/0!", "a < b & c"]
    data = workbook({"S": [["n"] * len(cells), cells]})
    sheet = openpyxl.load_workbook(io.BytesIO(data))["S"]
    others = [str(c.value).upper() if c.value in (True, False) else c.value for c in sheet[2]]
    said = _rows(data)[1][2].split("; ")
    assert said == [
        f"{name}: {' '.join(v.split())}" for name, v in zip("ABCDEFG", others, strict=True)
    ]


def test_a_formula_without_a_value_is_shown_as_it_is_written() -> None:
    """T2: a column of totals does not vanish because no program has computed it."""
    rows = [["Part", "May", "June", "Total"], ["valve", 2, 3, "=SUM(B2:C2)"], ["pump", 1, 4, 5]]
    data = workbook({"S": rows})
    assert _rows(data)[0][2] == "Part: valve; May: 2; June: 3; Total: =SUM(B2:C2)"

    sheet = "xl/worksheets/sheet1.xml"
    written = part_of(data, sheet)
    assert "</f><v></v>" in written
    computed = repacked(data, {sheet: written.replace("<v></v>", "<v>5</v>").encode()})
    assert _rows(computed)[0][2] == "Part: valve; May: 2; June: 3; Total: 5"
    empty = repacked(data, {sheet: written.replace('r="D2"', 'r="D2" t="str"').encode()})
    assert _rows(empty)[0][2] == "Part: valve; May: 2; June: 3"


def test_days_may_count_from_1904() -> None:
    """T2: the file's own epoch is used."""
    book = openpyxl.Workbook()
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    book.active["A1"] = date(2024, 3, 1)
    assert read("prices.xlsx", saved(book)).text == "A: 2024-03-01"


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        ("0.30000000000000004", "General", "0.3"),
        ("1e20", "General", "100000000000000000000"),
        ("1234567.891", "#,##0.00", "1,234,567.89"),
        ("0.5", "0%", "50%"),
        ("-3", '0.00;(0.00);"nil"', "(3.00)"),
        ("0", '0.00;(0.00);"nil"', "nil"),
        ("-0.004", "0.00", "0.00"),
        ("7", "000", "007"),
        ("12.5", "[$£-809]#,##0.00", "£12.50"),
        ("0.75", "# ?/?", "3/4"),
        ("12345", "0.00E+00", "1.23E+04"),
        ("45352", "d mmmm yyyy", "1 March 2024"),
        ("45352", "dddd dd/mm/yy", "Friday 01/03/24"),
        ("45352.354166667", "yyyy-mm-dd hh:mm", "2024-03-01 08:30"),
        ("0.75", "h:mm AM/PM", "6:00 PM"),
        ("1.5", "[h]:mm", "36:00"),
        ("61", "yyyy-mm-dd", "1900-03-01"),
        ("59", "yyyy-mm-dd", "1900-02-28"),
        ("-5", "yyyy-mm-dd", None),
        ("99999999", "yyyy-mm-dd", None),
        ("2958465.9999999", "yyyy-mm-dd", None),
        ("-5", "0.00E+00;-0.00E+00", "-5.00E+00"),
        ("-0.5", "# ?/?;-# ?/?", "-1/2"),
        ("-5", '0.00;;"-"', ""),
        ("0", '0.00;;"-"', "-"),
        ("1234567", '#,##0.0,,"M"', "1.2M"),
        ("-500", '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "-500"),
        ("2500000", '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "2.5M"),
        ("5", '[>5]0;[<2]"low"', None),
        ("-5", "[Blue]0;[Red]0", "-5"),
        ("-5", "0.00;0.00", "5.00"),
        ("123456789", "000-00-0000", "123-45-6789"),
        ("-1234567", "##0.0E+0", "-1.2E+6"),
        ("3.14159265", "# ??/??", "3 1/7"),
        ("1.5", "# ?/8", "1 4/8"),
        ("0.0007", "mm:ss.0", "01:00.5"),
        ("-0.5", "[h]:mm", "-12:00"),
        ("0", "yyyy-mm-dd", "1900-01-00"),
        ("45352", '[$-411]ggge"年"m"月"d"日"', "令和6年3月1日"),
        ("45352", "[$-107041E]d mmm yyyy", "1 Mar 2567"),
        ("45352", "[$-2060401]yyyy", None),
        ("0.7", '上午/下午h"時"mm"分"', "下午4時48分"),
        ("123.456", ".00", "123.46"),
        ("12.5", ".##", "12.5"),
        ("-1.5", ".0", "-1.5"),
        ("-3", "[<=-1]0;[>=1]0;0.00", "-3"),
        ("-12", "[>=10]0;[<=-10]0;0.0", "-12"),
        ("12.5", '"text "@', "12.5"),
        ("5", "bogus", None),
        ("5", '"open', None),
        ("1e999999", "0.00", "1e999999"),
        ("no number", "0.00", "no number"),
    ],
)
def test_numbers_are_as_shown(value: str, code: str, expected: str | None) -> None:
    """T2, V1: what the cell's format shows, if it is understood, and never without its sign."""
    assert format_number(value, code) == expected


@given(
    moment=st.datetimes(datetime(1901, 1, 1), datetime(2199, 1, 1)).map(  # noqa: DTZ001
        lambda m: m.replace(microsecond=0)
    )
)
def test_moments_are_those_that_openpyxl_wrote(moment: datetime) -> None:
    """T2: any second of three centuries, as another library counts it."""
    assert format_number(repr(to_excel(moment)), "yyyy-mm-dd hh:mm:ss") == str(moment)


@given(value=st.text(max_size=12), code=st.text(max_size=24))
def test_no_format_is_fatal(value: str, code: str) -> None:
    """X2: whatever the format code, nothing raises."""
    assert isinstance(format_number(value, code), str | None)
    assert isinstance(format_text(value, code), str)


@example(number=1e28, code="0")
@example(number=1e40, code="#.################")
@given(
    number=st.floats(allow_nan=False, allow_infinity=False),
    code=st.text('0#?.,%;"\\[]$yYmdhsgeb/E+-@<>= ', max_size=16),
)
def test_no_number_is_fatal(number: float, code: str) -> None:
    """X2: the same for numbers of all sizes and codes made of what codes are made of."""
    assert isinstance(format_number(repr(number), code), str | None)
    assert math.isclose(float(format_stored(repr(number))), number, rel_tol=1e-14)


def test_spoken_texts_are_not_read() -> None:
    """T2: how a shared text is pronounced is no part of it; a text in runs is one."""
    shared = (
        "<s><si><t>No</t></si><si><r><t>値</t></r><r><t>段</t></r><rPh><t>ね</t></rPh></si></s>"
    )
    sheet = '<w><sheetData><row><c t="s"><v>1</v></c></row></sheetData></w>'
    data = workbook({"S": [["x"]]})
    name = "xl/_rels/workbook.xml.rels"
    relation = '<Relationship Id="r9" Type="x/sharedStrings" Target="sharedStrings.xml"/></Rel'
    changes = {
        "xl/sharedStrings.xml": shared,
        "xl/worksheets/sheet1.xml": sheet,
        name: part_of(data, name).replace("</Rel", relation),
    }
    packed = {part: text.encode() for part, text in changes.items()}
    assert read("prices.xlsx", repacked(data, packed)).text == "A: 値段"


def test_merged_cells_without_end_cost_no_more_than_their_rows() -> None:
    """T2, X2: a range may be all of a sheet, and there may be thousands of them."""
    data = workbook({"S": [["a", "b"]] * 500})
    part = "xl/worksheets/sheet1.xml"
    merged = '<mergeCell ref="A1:XFD1048576"/>' * 5_000
    sheet = part_of(data, part).replace(
        "</sheetData>", f"</sheetData><mergeCells>{merged}</mergeCells>"
    )
    found = read("wide.xlsx", repacked(data, {part: sheet.encode()})).text

    assert len(found) == len(read("plain.xlsx", data).text)


def test_merged_cells_that_end_before_their_start_are_none() -> None:
    """T2, X2: they have no cells, and so would be open over all rows at no cost."""
    ranges, cells = MergedRanges(), {1: "a"}
    ranges.add(1, 1_000_000, 1, 0)
    ranges.add(1, 0, 1, 2)

    assert ranges.fill(1, cells) is cells

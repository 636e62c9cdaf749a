"""Merged cells in every format that has them: one table, written by each format's own writer."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import openpyxl
import pptx
import pytest

from documents import odf, read, saved, word, workbook

ROWS = (
    ("Region", "2024", "", "Note"),
    ("", "Q1", "Q2", ""),
    ("North", "11", "12", "new"),
    ("", "closed", "", ""),
    ("Overseas", "", "", ""),
)
MERGED = ((0, 0, 1, 0), (0, 1, 0, 2), (0, 3, 1, 3), (2, 0, 3, 0), (3, 1, 3, 2), (4, 0, 4, 3))
"""The first and the last cell of each, by row and column."""
SPANS = {(a, b): (d - b + 1, c - a + 1) for a, b, c, d in MERGED}
COVERED = {
    (row, column)
    for a, b, c, d in MERGED
    for row in range(a, c + 1)
    for column in range(b, d + 1)
    if (row, column) != (a, b)
}


def _fill(table: Any) -> None:
    """Of python-docx and python-pptx."""
    for row, texts in enumerate(ROWS):
        for column, text in enumerate(texts):
            if text:
                table.cell(row, column).text = text
    for a, b, c, d in MERGED:
        table.cell(a, b).merge(table.cell(c, d))


def _docx() -> bytes:
    return word(lambda document: _fill(document.add_table(5, 4)))


def _pptx() -> bytes:
    show, out = pptx.Presentation(), io.BytesIO()
    slide = show.slides.add_slide(show.slide_layouts[6])
    _fill(slide.shapes.add_table(5, 4, 0, 0, 4_000_000, 900_000).table)
    show.save(out)
    return out.getvalue()


def _xlsx() -> bytes:
    rows = [[text or None for text in texts] for texts in ROWS]
    book = openpyxl.load_workbook(io.BytesIO(workbook({"S": rows})))
    for a, b, c, d in MERGED:
        book["S"].merge_cells(None, a + 1, b + 1, c + 1, d + 1)
    return saved(book)


def _tags(cell: str, covered: str, row: str) -> str:
    """The rows of a language of tags; a cell has its text and how many columns and rows it has."""
    written = ""
    for n, texts in enumerate(ROWS):
        cells = (
            covered
            if (n, column) in COVERED
            else cell.format(text, *SPANS.get((n, column), (1, 1)))
            for column, text in enumerate(texts)
        )
        written += row.format("".join(cells))
    return written


def _odf(kind: str) -> bytes:
    spans = 'table:number-columns-spanned="{1}" table:number-rows-spanned="{2}"'
    cell = f"<table:table-cell {spans}><text:p>{{0}}</text:p></table:table-cell>"
    row = "<table:table-row>{}</table:table-row>"
    inside = _tags(cell, "<table:covered-table-cell/>", row)
    return odf(kind, f'<table:table table:name="S">{inside}</table:table>')


def _html() -> bytes:
    inside = _tags("<td colspan={1} rowspan={2}>{0}</td>", "", "<tr>{}</tr>")
    return f"<table>{inside}</table>".encode()


FILES: dict[str, Callable[[], bytes]] = {
    "a.docx": _docx,
    "a.pptx": _pptx,
    "a.odt": lambda: _odf("text"),
    "a.html": _html,
    "a.xlsx": _xlsx,
    "a.ods": lambda: _odf("spreadsheet"),
}
IN_TEXTS = [
    "| Region | 2024 Q1 | 2024 Q2 | Note |",
    "| North | 11 | 12 | new |",
    "| North | closed | closed |  |",
    "| Overseas |",
]
IN_SHEETS = [
    "Region: North; 2024 Q1: 11; 2024 Q2: 12; Note: new",
    "Region: North; 2024 Q1: closed; 2024 Q2: closed",
    "Region: Overseas",
]


@pytest.mark.parametrize("name", FILES)
def test_each_row_has_the_values_that_span_into_it(name: str) -> None:
    """V1, T2, U2: names of two lines are one, and a title over all columns stands once."""
    lines = [line for line in read(name, FILES[name]()).text.splitlines() if line]
    assert lines == (IN_SHEETS if name.endswith(("xlsx", "ods")) else IN_TEXTS)

"""Cells of spreadsheets in citations: from a file, by an index and a search, to each face."""

from __future__ import annotations

import json
import random
from pathlib import Path
from string import ascii_uppercase

import openpyxl
import pytest
from openpyxl.utils import get_column_letter

import foveate
from foveate.cli.show import citation_lines
from foveate.core.cells import format_cells
from foveate.integrations.pieces import BLOCK_FIELDS

QUESTION = "What does the valve V-17 cost?"


def make_sheet(folder: Path, rows: int, seed: int) -> openpyxl.Workbook:
    """A table that does not begin in the corner, with empty cells, and one on a second sheet."""
    drawn, book = random.Random(seed), openpyxl.Workbook()
    book.active.title = "Parts"
    names = ["part", "", "price", "stock; place", "note"]
    for column, name in enumerate(names, 2):
        book.active.cell(3, column, name or None)
    for row in range(4, 4 + rows):
        book.active.cell(row, 2, f"valve V-{row}")
        for column in range(3, 7):
            if drawn.random() < 0.7:
                book.active.cell(row, column, drawn.choice(["a; b", "3.20", "hot: cold", row]))
    other = book.create_sheet("Notes")
    other.append(["note", "by"])
    other.append(["The valve V-17 leaks.", "Ada"])
    book.save(folder / "parts.xlsx")
    return book


@pytest.mark.parametrize("rows", [30, 1_200])
def test_cited_cells_are_those_of_the_workbook(tmp_path: Path, rows: int) -> None:
    """U2, T2: each address has the value that is shown at its place, in small and large tables."""
    book = make_sheet(tmp_path, rows, rows)
    with foveate.open_store(tmp_path / "store") as store:
        assert not store.index(tmp_path / "parts.xlsx").failed
        context = store.assemble(QUESTION, budget=600)
        text = store.store.document("parts.xlsx").text

    cited = [cell.address for one in context.citations for cell in one.cells]
    assert "B17" in cited
    for entry in context.citations:
        sheet = book[entry.section]
        rows_shown = {int(cell.address.lstrip(ascii_uppercase)) for cell in entry.cells}
        for cell in entry.cells:
            shown = text[slice(*cell.span)]
            assert shown.endswith(f": {sheet[cell.address].value}")
            assert any(a <= cell.span[0] < b for a, b in entry.document_spans)
        held = {
            cell.coordinate for row in rows_shown for cell in sheet[row] if cell.value is not None
        }
        assert held == {cell.address for cell in entry.cells}


def test_cells_are_in_json_pieces_and_lines(tmp_path: Path) -> None:
    """U2: in the JSON that is sent and read back, for frameworks, and on the command line."""
    (tmp_path / "stock.csv").write_text("part;stock\nvalve V-17;40\npipe P-9;12\n")
    with foveate.open_store(tmp_path / "store") as store:
        store.index(tmp_path / "stock.csv")
        context = store.assemble("How many of valve V-17 are in stock?", budget=24)

    sent = json.loads(json.dumps(context.to_dict()))
    assert sent["citations"][0]["cells"] == [
        {"address": "A2", "span": [0, 16]},
        {"address": "B2", "span": [18, 27]},
    ]
    assert foveate.Context.from_dict(sent, query="q").citations == context.citations
    assert "cells" in BLOCK_FIELDS
    assert "row 2; cells A2:B2; " in " ".join(citation_lines(context, 200))


@pytest.mark.parametrize("known", [7, None, ["0:A1"], "0:A1x", "A1", "-3:B2", "0:ABCD1", {}])
def test_metadata_of_other_kinds_names_no_cells(known: object) -> None:
    """U2, X2: the key may be somebody else's, or wrong."""
    chunk = {"text": "part: valve", "source": "a.csv", "start": 0, "end": 11}
    rows = [{**chunk, "metadata": {"table_cells": known}}]
    (entry,) = foveate.assemble("Which part?", rows, budget=60).citations
    assert entry.cells == ()


def test_a_part_of_a_row_cites_its_cells_alone() -> None:
    """U2: of a long row that is shown in part, the cells that are shown."""
    ends = ("Paint is dry.", "The second pump is loud.", "Tea is hot.")
    notes = ["Nothing is said here at all. " * 12 + each for each in ends]
    starts, text = [], ""
    for column, note in enumerate(notes):
        starts.append(f"{len(text)}:{get_column_letter(column + 1)}5")
        text += f"note {column}: {note}; "
    chunk = {"text": text, "source": "a.xlsx", "start": 0, "row": 5}
    rows = [{**chunk, "metadata": {"table_cells": " ".join(starts)}}]
    (entry,) = foveate.assemble("Is the second pump loud?", rows, budget=30).citations
    assert format_cells(entry.cells) == "B5"

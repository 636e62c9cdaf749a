"""CSV and TSV: records a row, whatever the separator; encodings as everywhere."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import read
from foveate.core.errors import BadInput
from foveate.ingest.chunk import each_chunk
from foveate.ingest.loaders.blocks import Rows
from foveate.ports import Section

CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8).map("x".__add__)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found_out(separator: str) -> None:
    """T2: comma, semicolon, tab or bar; quoted cells may hold it."""
    lines = ["part,stock,note", 'valve,4,"brass,new"', "bend,7,iron"]
    data = "\n".join(lines).replace(",", separator).encode()
    assert read("stock.csv", data).text == (
        f"part: valve; stock: 4; note: {' '.join(f'brass{separator}new'.split())}\n\n"
        "part: bend; stock: 7; note: iron"
    )


def test_rows_are_counted_as_a_spreadsheet_does() -> None:
    """T2: the names are row 1, a cell of two lines is one row, an empty one counts."""
    loaded = read("stock.csv", 'a,b\n1,"x\ny"\n\n2,z\n')
    assert [(s.row, loaded.text[s.start : s.end]) for s in loaded.sections] == [
        (2, "a: 1; b: x y"),
        (4, "a: 2; b: z"),
    ]


@given(rows=st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=5))
def test_nothing_is_lost(rows: list[list[str]]) -> None:
    """T2: every cell that says anything is in the text."""
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    try:
        text = read("stock.csv", out.getvalue()).text
    except BadInput:
        return  # another dialect was found, in which the file has no end of a quote
    for word in " ".join(cell for row in rows for cell in row).split():
        bare = word.strip("\",;|'")
        assert not bare.isalnum() or bare in text


def test_a_tsv_of_one_row() -> None:
    """T2: where nothing tells, the suffix does."""
    assert read("a.tsv", "left\tright").text == "A: left; B: right"


def test_rows_of_16384_columns_are_chunked_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """T2: a row is hundreds of chunks, and its cells are not read again for each of them."""
    made: list[int] = []
    build = Rows._build

    def counted(self: Rows, at: int) -> Section:
        made.append(at)
        return build(self, at)

    monkeypatch.setattr(Rows, "_build", counted)
    lines = (",".join(f"{name}{n}" for n in range(16_384)) for name in ("c", "A-", "B-"))
    loaded = read("wide.csv", "\n".join(lines))
    pieces = list(
        each_chunk(loaded.text, loaded.sections, lambda texts: [len(t) // 4 for t in texts])
    )

    assert len(pieces) > 300
    assert len(made) <= 4 * len(loaded.sections)

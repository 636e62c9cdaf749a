"""However large a file comes out, what it takes is bounded, and what is over a bound is refused."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from documents import read, repacked, workbook
from foveate.ingest import ingest
from foveate.ingest.loaders.blocks import Rows
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.sandbox import answer_from_parts, parts_from_answer
from foveate.plugins import tokenizer
from foveate.ports import LoadedDocument, Section
from foveate.stores import open_store
from foveate.stores.sqlite.check import check
from peak_memory import peak_mib

TOKENIZER = tokenizer("cl100k_base")


def test_many_short_rows_are_few_chunks(tmp_path: Path) -> None:
    """X6, T2: chunks of short rows are full, stand where they say, and name their first row."""
    path = tmp_path / "rows.csv"
    path.write_text("a\n" * 20_000)
    with open_store(tmp_path / "store") as store:
        report = ingest(path, store, None, TOKENIZER)
        chunks = store.neighbours([("rows.csv", 0)], report.chunks)
        text = store.document("rows.csv").text
    assert (report.added, report.failed) == (1, ())
    assert len(chunks) == report.chunks < 20_000 / 80
    at = 0
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.row == 2 + text.count("\n\n", 0, chunk.start)
        assert text[at : chunk.start].strip() == ""
        at = chunk.end
    assert at == len(text)


class Counting:
    """A tokenizer that notes how much it was given."""

    def __init__(self) -> None:
        self.fingerprint, self.breaks = TOKENIZER.fingerprint, TOKENIZER.breaks
        self.characters = 0

    def count(self, text: str) -> int:
        """The text's tokens."""
        self.characters += len(text)
        return TOKENIZER.count(text)


def test_a_document_of_too_many_chunks_is_refused_early(tmp_path: Path) -> None:
    """X6, X2: the error says the limit, how far it reaches and what to do; the rest is not read."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "good.txt").write_text("The boiler holds forty litres.")
    (folder / "long.txt").write_text("The kettle sings when the water boils.\n\n" * 200_000)
    counting = Counting()
    with open_store(tmp_path / "store") as store:
        report = ingest(folder, store, None, counting, limits=Limits(chunks=100))
        assert [name for name, _ in store.documents()] == ["in/good.txt"]
    (failure,) = report.failed
    assert failure.path == "in/long.txt"
    assert failure.reason.startswith("more than 100 chunks: so many reach to character ")
    assert failure.reason.endswith(
        "of 8000000 (limit `chunks`); divide the document, or raise the limit"
    )
    assert counting.characters < 1_000_000


def test_a_refused_version_leaves_the_one_that_is_there(tmp_path: Path) -> None:
    """X6, T5: a document that has grown over the limit stays as it was, and so does the store."""
    path = tmp_path / "a.txt"
    with open_store(tmp_path / "store") as store:
        path.write_text("The boiler holds forty litres.")
        ingest(path, store, None, TOKENIZER)
        before = store.state_root()
        path.write_text("The kettle sings when the water boils. " * 2_000)
        report = ingest(path, store, None, TOKENIZER, limits=Limits(chunks=3))
        assert (len(report.failed), report.deleted) == (1, 0)
        assert store.state_root() == before
    assert check(tmp_path / "store").findings == ()


def test_a_sheet_that_is_named_again_is_read_once() -> None:
    """X6, X2: a workbook that names one sheet many times has its rows once."""
    data = workbook({"Parts": [["part", "price"], ["valve", 3]]})
    book = "xl/workbook.xml"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        text = archive.read(book).decode()
    (sheet,) = re.findall(r"<sheet [^>]*/>", text)
    data = repacked(data, {book: text.replace(sheet, sheet * 50).encode()})
    assert read("a.xlsx", data).text == "part: valve; price: 3"


def test_rows_are_the_sections_that_they_stand_for() -> None:
    """X6, T2: kept as numbers, they are equal to sections, also behind the reading process."""
    rows = Rows()
    rows.add(0, 3, 2, "A")
    rows.add(5, 9, 4, "A")
    rows.add(11, 12, 1, "B")
    same = (
        Section(start=0, end=3, path="A", row=2),
        Section(start=5, end=9, path="A", row=4),
        Section(start=11, end=12, path="B", row=1),
    )
    assert rows == same
    assert rows[1:] == same[1:]
    assert rows.names == ["A", "B"]
    loaded = LoadedDocument(text="abc  defg  h", sections=rows)
    assert parts_from_answer(answer_from_parts([loaded])) == [loaded]


@pytest.mark.parametrize("columns", [[], [""] * 3, ["AAAAAAAAAAA=", "", "", ""]])
def test_rows_that_do_not_fit_together_are_refused(columns: list[str]) -> None:
    """X2: a reader that was taken over can hand in no column that is shorter than another."""
    plain = answer_from_parts([LoadedDocument(text="a")])["parts"][0]
    plain["sections"] = {"columns": columns, "names": []}
    with pytest.raises(ValueError, match="columns"):
        parts_from_answer({"parts": [plain]})


MEASURED = """
import sys
from pathlib import Path
from foveate.stores import open_store
from foveate.ingest import ingest
from foveate.plugins import tokenizer
with open_store(Path(sys.argv[2])) as store:
    report = ingest(Path(sys.argv[1]), store, None, tokenizer("cl100k_base"))
assert report.added == 1, report
"""


def test_a_table_of_many_rows_takes_little_memory(
    tmp_path: Path, figure: Callable[[str], None]
) -> None:
    """X6: a hundred thousand rows take less than 150 MiB; a chunk a row took over a gigabyte."""
    path = tmp_path / "rows.csv"
    path.write_text("a\n" * 100_000)
    most = peak_mib(MEASURED, path, tmp_path / "store")
    figure(f"100,000 rows: {most} MiB")
    assert most < 150

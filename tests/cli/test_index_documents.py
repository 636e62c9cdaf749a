"""From documents of every format to a citation by page, section and row, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from documents import PRICES, SENT, pdf, slides, word, workbook
from foveate.cli import main
from foveate.cli.index_run import parse_limits
from foveate.core.errors import BadOption, UnknownName

HASHING = ("--embedder", "hashing")


def _manual(document: Any) -> None:
    document.add_heading("Boiler", 1)
    document.add_heading("Pressure", 2)
    document.add_paragraph("Keep the pressure at one bar.")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one file of each format."""
    folder = tmp_path_factory.mktemp("index") / "house"
    folder.mkdir()
    pages = ["The garden has roses.", "The roof is of slate.", "The safety valve opens at noon."]
    files = {
        "prices.xlsx": workbook({"Parts": PRICES}),
        "report.pdf": pdf(pages, bookmarks=[("Safety", 2)]),
        "manual.docx": word(_manual),
        "talk.pptx": slides([("Intro", "Welcome", ""), ("Filters", "Clean the pump filter", "")]),
        "stock.csv": b"part;stock\nbrass elbow;4\niron bend;7\n",
        "mail.eml": f"{SENT}Subject: Chimney\n\nThe chimney sweep comes late.\n".encode(),
        "plan.eml": (
            f"{SENT}Subject: Plan\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
            "Content-Type: text/plain\n\nSee the list.\n--b\nContent-Type: text/csv\n"
            'Content-Disposition: attachment; filename="beds.csv"\n\nbed;crop\nnorth;leek\n--b--\n'
        ).encode(),
        "notes.md": b"# Attic\n\nThe attic is dry.\n",
        "rules.txt": b"House rules\n===========\n\nQuiet hours begin at ten.\n",
        "page.html": b"<h1>Laundry</h1><h2>Spin</h2><p>The dryer spins at night.</p>",
        "list.jsonl": b'{"text": "Ladders stand in the shed."}\n',
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def store(house: Path) -> Path:
    """The folder's store."""
    path = house.parent / "store"
    assert main(["index", str(house), "--store", str(path), *HASHING]) == 0
    return path


@pytest.mark.parametrize(
    ("query", "place", "header"),
    [
        ("copper valve price", "prices.xlsx; prices; Parts; row 17", "prices.xlsx § Parts, row 17"),
        ("when does the safety valve open at noon", "report.pdf; report; Safety; page 3",
         "report.pdf"),
        ("crop of the north bed leek", "plan.eml; beds.csv; row 2",
         "plan.eml § beds.csv, row 2"),
        ("is the attic dry", "notes.md; Attic; line 1", "notes.md"),
    ],
)  # fmt: skip
def test_the_citation_says_the_place(
    run: Any, store: Path, query: str, place: str, header: str
) -> None:
    """T2, U1, F2: page, section and row of a file end in the citation of what it says.

    A short header has the sheet and the row, and no page.
    """
    ran = run("assemble", "--query", query, "--store", store, "--budget", 200, "--citations")
    told = " ".join(ran.err.partition("Citations")[2].split())
    assert told.startswith(f"[1] house/{place};")
    assert ran.out.startswith(f"[1] {header}\n")


@pytest.mark.parametrize(
    ("query", "found", "said"),
    [
        ("copper valve price", {"source": "prices.xlsx", "section": "Parts", "row": 17}, ""),
        ("safety valve at noon", {"source": "report.pdf", "section": "Safety", "page": 3},
         "Safety; page 3; chunk "),
        ("clean the pump filter", {"source": "talk.pptx", "section": "Filters", "page": 2}, ""),
        ("iron bend stock", {"source": "stock.csv", "row": 3}, "row 3; chunk "),
        ("pressure of one bar", {"source": "manual.docx", "section": "Boiler > Pressure"}, ""),
        ("chimney sweep", {"source": "mail.eml", "title": "Chimney"}, ""),
        ("ladders in the shed", {"source": "list.jsonl", "row": 1}, ""),
        ("quiet hours", {"source": "rules.txt", "section": "House rules", "line": 1},
         "House rules; line 1; chunk "),
        ("dryer spins at night", {"source": "page.html", "section": "Laundry > Spin"}, ""),
        ("is the attic dry", {"source": "notes.md", "section": "Attic", "line": 1}, ""),
    ],
)  # fmt: skip
def test_a_search_says_the_place(
    run: Any, store: Path, query: str, found: dict[str, Any], said: str
) -> None:
    """T2, F2: one file of each format; page, row, section and line are in what a search gives.

    Without --json too, they stand where the hit does.
    """
    best = run("search", "--query", query, "--store", store, "--json").json["candidates"][0]
    expected = {**found, "source": f"house/{found['source']}"}
    assert {name: best.get(name) for name in found} == expected
    if said:
        lines = run("search", "--query", query, "--store", store).out.splitlines()
        assert f"{expected['source']}; {said}" in " ".join(line.strip() for line in lines[1:3])


def test_a_second_run_reads_nothing_again(run: Any, house: Path) -> None:
    """T2: what is unchanged is not written, whatever its format."""
    first, again = (run("index", house, *HASHING, "--json").json for _ in range(2))
    assert (first["failed"], first["unchanged"]) == ([], 0)
    assert (again["unchanged"], again["chunks"]) == (first["added"], 0)
    assert again["state_root"] == first["state_root"]


def test_a_limit_can_be_set(run: Any, house: Path) -> None:
    """X2, F2: a file over a limit is named with it; a higher one lets it in."""
    low = run("index", house, "--store", "low", *HASHING, "--file-limit", "pages=2", "--json")
    assert low.json["failed"] == [
        {"path": "house/report.pdf", "reason": "more than 2 pages (limit `pages`)"}
    ]
    high = run("index", house, "--store", "low", *HASHING, "--file-limit", "pages=3", "--json")
    assert (high.json["added"], high.json["failed"]) == (1, [])


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ("pagse=3", UnknownName),
        ("pages", BadOption),
        ("pages=-1", BadOption),
        ("pages=0", BadOption),
        ("pages=1e9", BadOption),
        ("cell_chars=999999", BadOption),
    ],
)
def test_limits_that_are_none(told: str, error: type[Exception]) -> None:
    """X2: a name or a number that is none is refused before anything is read."""
    with pytest.raises(error):
        parse_limits([told])


def test_summaries_are_indexed_on_demand(run, tmp_path):
    """T3: two pages that differ in their summary alone are told apart by its word."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, summary in (("a", "Geriatrics, second floor."), ("b", "Urology, first floor.")):
        (folder / f"{name}.md").write_text(
            f"---\nsummary: {summary}\n---\n\nReport at the desk with your card.\n"
        )
    found = {}
    for flags in ((), ("--index-summaries",)):
        store = str(tmp_path / f"store{len(flags)}")
        indexed = run("index", str(folder), "--store", store, "--embedder", "hashing", *flags)
        assert indexed.code == 0
        done = run("search", "urology", "--store", store, "--json").json
        found[flags] = (done["lexical_matches"], [c["source"] for c in done["candidates"]])

    assert found[()][0] == 0
    matches, sources = found["--index-summaries",]
    assert (matches, sources[0].rpartition("/")[2]) == (1, "b.md")

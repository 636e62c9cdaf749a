"""Look-up by identifier from the command line: index files, search them, assemble a context."""

from __future__ import annotations

import csv
import re
from random import Random

import pytest
from bench.lookup import COUNTED, MARK
from bench.lookup_texts import COLUMNS, FORMS, RecordText, make_text

FILES = {
    "JSON, one line": "orders.json",
    "JSON, indented": "orders.json",
    "JSON Lines": "orders.jsonl",
    "CSV": "orders.csv",
    "TSV": "orders.tsv",
    "HTML table": "orders.html",
    "Markdown table": "orders.md",
    "log": "orders.log",
    "YAML": "orders.yaml",
    "XML": "orders.xml",
    "code": "orders.py",
}
PATHS = ("JSON, one line", "JSON, indented", "YAML", "XML", "code")
"""What leads to a record is the section of its chunk."""
TABLES = ("HTML table", "Markdown table")
NAMES = f"| {' | '.join(COLUMNS)} |"
COUNT = 120


def written(made: RecordText, number: int) -> str:
    """The record as it stands in the index: rows of CSV and HTML are written out."""
    record = made.records[number]
    if made.form in ("CSV", "TSV"):
        cells = next(csv.reader([record], delimiter="," if made.form == "CSV" else "\t"))
        return "; ".join(f"{name}: {cell}" for name, cell in zip(COLUMNS, cells, strict=True))
    if made.form == "HTML table":
        return f"| {' | '.join(re.findall('<td>(.*?)</td>', record))} |"
    return record.strip()


@pytest.mark.parametrize("form", FORMS)
def test_record_of_an_indexed_file_is_found_by_its_identifier(run, tmp_path, form: str) -> None:
    """U2, T2: the first, one in the middle and the last, whole, with the names of their columns.

    What a block's marks count and the records that it shows are all records of its chunks.
    """
    made = make_text(form, COUNT, 11)
    (tmp_path / FILES[form]).write_text(made.text)
    assert run("index", FILES[form]).code == 0
    for number in (0, COUNT // 2, COUNT - 1):
        found = run("search", f"What about {made.ids[number]}?", "--limit", 1, "--json").json

        assert written(made, number) in found["candidates"][0]["text"]
        said = run("assemble", f"What about {made.ids[number]}?", "--budget", 150, "--json").json
        block = next(block for block in said["blocks"] if written(made, number) in block["text"])

        path = re.findall(r"\w+", made.header)[-1:] if form in PATHS else ()
        assert all(name in block["text"] + block["section"] for name in path)
        assert form not in TABLES or said["text"].count(NAMES) == 1
        for block in said["blocks"] if form != "code" else ():  # whose lines are counted
            check_numbers([written(made, n) for n in range(COUNT)], block["text"])


@pytest.mark.parametrize("suffix", ["md", "html"])
def test_row_of_words_is_found_with_the_names_of_its_columns(run, tmp_path, suffix: str) -> None:
    """U2: where nothing but the place tells names from rows, in a table of many chunks."""
    random = Random(1)
    words = [
        "".join(random.choices(("ba", "re", "lo", "mi", "tu", "ka"), k=6)) for _ in range(4_800)
    ]
    rows = [words[n : n + 4] for n in range(0, len(words), 4)]
    names = ["gate", "colour", "keeper", "mill"]
    lines = {
        "md": [f"| {' | '.join(row)} |" for row in (names, ["---"] * 4, *rows)],
        "html": [
            "<table>",
            *(f"<tr>{''.join(f'<t{c}>{cell}</t{c}>' for cell in row)}</tr>"
              for c, row in (("h", names), *(("d", row) for row in rows))),
            "</table>",
        ],
    }  # fmt: skip
    (tmp_path / f"gates.{suffix}").write_text("\n".join(lines[suffix]))
    assert run("index", f"gates.{suffix}").code == 0
    written = [f"| {' | '.join(row)} |" for row in rows]
    for number in (0, 150, -1):
        question = f"Which mill has the gate {rows[number][0]}?"
        said = run("assemble", question, "--budget", 300, "--json").json

        assert written[number] in said["text"]
        assert said["text"].count(f"| {' | '.join(names)} |") == 1
        for block in said["blocks"]:
            check_numbers(written, block["text"])


def test_row_of_a_long_file_is_cited_by_its_own_number(run, tmp_path) -> None:
    """T2, U2: where rows share a chunk; those that are left out are counted."""
    rows = [(f"ORD-{n}", f"{n}.50") for n in range(2_000, 3_100)]
    (tmp_path / "orders.csv").write_text("id,total\n" + "".join(f"{a},{b}\n" for a, b in rows))
    assert run("index", "orders.csv").code == 0
    records = [f"id: {a}; total: {b}" for a, b in rows]
    for number in (3, 518, 1_099):
        said = run("assemble", f"What about {rows[number][0]}?", "--budget", 120, "--json").json
        (block,) = [one for one in said["blocks"] if records[number] in one["text"]]
        first = next(n for n, record in enumerate(records, 2) if record in block["text"])

        (entry,) = [one for one in said["citations"] if one["marker"] == block["marker"]]
        assert entry["row"] == first
        assert f"[{block['marker']}] orders.csv, row {first}\n" in said["text"]
        check_numbers(records, block["text"])


def check_numbers(records: list[str], shown: str) -> None:
    """What the marks count and the records that are shown are the total that every mark names."""
    numbers = [(int(n), int(total)) for n, total in COUNTED.findall("".join(MARK.findall(shown)))]
    whole = sum(record in shown for record in records)
    assert {total for _, total in numbers} <= {whole + sum(n for n, _ in numbers)}

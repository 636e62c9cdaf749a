"""Look-up by identifier through files, an index and a search, from eleven kinds of files."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from bench.lookup import COUNTED, MARK
from bench.lookup_texts import COLUMNS, RecordText, make_text

import foveate
from foveate.core.types import TABLE_NAMES

FILES = {
    "JSON, one line": "one.json",
    "JSON, indented": "two.json",
    "JSON Lines": "three.jsonl",
    "CSV": "four.csv",
    "TSV": "five.tsv",
    "HTML table": "six.html",
    "Markdown table": "seven.md",
    "log": "eight.log",
    "YAML": "nine.yaml",
    "XML": "eleven.xml",
    "code": "ten.py",
}
AS_IN_THE_FILE = (
    "JSON, one line",
    "JSON, indented",
    "Markdown table",
    "log",
    "YAML",
    "XML",
    "code",
)
"""Of the others, lines are documents, or rows are written out."""
PATHS = ("JSON, one line", "JSON, indented", "YAML", "XML", "code")
"""What leads to a record is the section of its chunk."""
TABLES = ("HTML table", "Markdown table")
SIZES = (60, 120, 500)
BUDGETS = (150, 300, 600)
"""At each another record is asked for: one of the first, of the middle, and of the last."""


class Indexed(NamedTuple):
    """All files of one size in one store; of each form the records that no other file names."""

    store: foveate.DocumentStore
    texts: dict[str, RecordText]
    own: dict[str, list[int]]


@pytest.fixture(scope="module", params=SIZES)
def indexed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Indexed]:
    """The store, opened as a user opens it."""
    folder, size = tmp_path_factory.mktemp("files"), request.param
    texts = {form: make_text(form, size, size + 400 + n) for n, form in enumerate(FILES)}
    named = Counter(name for made in texts.values() for name in made.ids)
    own = {
        form: [n for n, name in enumerate(made.ids) if named[name] == 1]
        for form, made in texts.items()
    }
    for form, name in FILES.items():
        (folder / name).write_text(texts[form].text)
    with foveate.open_store(folder / "store") as store:
        for name in FILES.values():
            assert not store.index(folder / name).failed
        yield Indexed(store, texts, own)


def chunks_of(store: foveate.DocumentStore, document: str) -> dict[str, str]:
    """The chunks of a document by their ids."""
    places = [(document, n) for n in range(0, 700, 7)]
    return {chunk.id: chunk.text for chunk in store.store.neighbours(places, 3)}


def joined(text: str, following: str) -> str:
    """Both texts; what one ends with and the other begins with stands there once."""
    ends = range(min(len(text), len(following)), 0, -1)
    shared = next((n for n in ends if text.endswith(following[:n])), 0)
    return f"{text}{following[shared:]}" if shared else f"{text}\n{following}"


def written(made: RecordText, number: int) -> str:
    """The record as it stands in the index: rows of CSV and HTML are written out by their names."""
    record = made.records[number]
    if made.form in ("CSV", "TSV"):
        cells = next(csv.reader([record], delimiter="," if made.form == "CSV" else "\t"))
        return "; ".join(f"{name}: {cell}" for name, cell in zip(COLUMNS, cells, strict=True))
    if made.form == "HTML table":
        return f"| {' | '.join(re.findall('<td>(.*?)</td>', record))} |"
    return record.strip()


def check_numbers(records: Sequence[str], shown: str) -> None:
    """What the marks count and the records that are shown are the total that every mark names."""
    numbers = [
        (int(n), int(total or n)) for n, total in COUNTED.findall("".join(MARK.findall(shown)))
    ]
    whole = sum(record in shown for record in records)
    assert {total for _, total in numbers} <= {whole + sum(n for n, _ in numbers)}


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("budget", BUDGETS)
def test_record_of_a_file_is_found_by_its_identifier(
    indexed: Indexed, form: str, budget: int
) -> None:
    """U2, T2: whole, with the names of its columns, from a search over all files.

    Whatever is shown of a file stands so in its chunks. What a block's marks count and the records
    that it shows are all records of its chunks.
    """
    made, own = indexed.texts[form], indexed.own[form]
    number = {150: own[1], 300: own[len(own) // 2], 600: own[-1]}[budget]
    record = written(made, number)
    asked = made.asked.replace(made.ids[made.target], made.ids[number])
    context = indexed.store.assemble(asked, budget=budget)

    assert record in context.text
    assert Path(context.blocks[0].source).name == FILES[form]
    assert context.token_count <= budget
    blocks = [block for block in context.blocks if Path(block.source).name == FILES[form]]
    (shown,) = [block for block in blocks if record in block.text]
    path = re.findall(r"\w+", made.header)[-1:] if form in PATHS else ()
    assert all(name in shown.text + shown.section for name in path)
    if form in TABLES:
        texts = "\n".join(block.text for block in blocks)
        assert texts.count(f"| {' | '.join(COLUMNS)} |") == 1
    if form != "code":  # whose lines are counted
        records = [written(made, n) for n in range(len(made.records))]
        for block in blocks:
            check_numbers(records, block.text)
    for block in context.blocks:
        chunks = chunks_of(indexed.store, block.document_id)
        held = reduce(joined, (chunks[name] for name in block.chunk_ids))
        for piece in MARK.split(block.text.removeprefix("…").removesuffix("…")):
            assert piece.strip() in held


@pytest.mark.parametrize("suffix", ["md", "html"])
def test_row_of_words_is_found_with_the_names_of_its_columns(tmp_path: Path, suffix: str) -> None:
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
    records = [f"| {' | '.join(row)} |" for row in rows]
    with foveate.open_store(tmp_path / "store") as store:
        store.index(tmp_path / f"gates.{suffix}")
        for number in (0, 150, -1):
            question = f"Which mill has the gate {rows[number][0]}?"
            context = store.assemble(question, budget=300)

            assert records[number] in context.text
            assert context.text.count(f"| {' | '.join(names)} |") == 1
            for block in context.blocks:
                check_numbers(records, block.text)


def test_row_of_a_long_file_is_cited_by_its_own_number(tmp_path: Path) -> None:
    """T2, U2: where rows share a chunk; those that are left out are counted."""
    rows = [(f"ORD-{n}", f"{n}.50") for n in range(2_000, 3_100)]
    (tmp_path / "orders.csv").write_text("id,total\n" + "".join(f"{a},{b}\n" for a, b in rows))
    records = [f"id: {a}; total: {b}" for a, b in rows]
    with foveate.open_store(tmp_path / "store") as store:
        store.index(tmp_path / "orders.csv")
        for number in (3, 518, 1_099):
            context = store.assemble(f"What about {rows[number][0]}?", budget=120)
            (block,) = [one for one in context.blocks if records[number] in one.text]
            first = next(n for n, record in enumerate(records, 2) if record in block.text)

            (entry,) = [one for one in context.citations if one.marker == block.marker]
            assert entry.row == first
            assert f"[{block.marker}] orders.csv, row {first}\n" in context.text
            check_numbers(records, block.text)


@pytest.mark.parametrize("form", AS_IN_THE_FILE)
def test_every_record_is_whole_in_a_chunk(indexed: Indexed, form: str) -> None:
    """U1: chunks end between records."""
    chunks = chunks_of(indexed.store, FILES[form]).values()

    assert chunks
    assert all(any(own.strip() in text for text in chunks) for own in indexed.texts[form].records)


def test_rows_know_where_the_names_of_their_columns_are(indexed: Indexed) -> None:
    """U2: in the metadata of the chunk, so that the names can be fetched with it."""
    places = [(FILES["Markdown table"], n) for n in range(0, 700, 7)]
    first, *others = indexed.store.store.neighbours(places, 3)

    assert TABLE_NAMES not in first.metadata
    assert {chunk.metadata[TABLE_NAMES] for chunk in others} == {0}


def test_a_method_is_shown_with_its_class_from_an_index(tmp_path: Path) -> None:
    """U1 U2: the class stands chunks before it, and another class between."""

    def methods(letter: str) -> str:
        return "".join(
            f"    def step_{n}(self):\n"
            f'        """Step {letter}-{n}00 of the work."""\n'
            f"        self.pump.turn({n}, speed={n * 7})\n"
            f"        return self.state[{n}]\n\n"
            for n in range(1, 40)
        )

    text = f"class Weir:\n    level = 1\n\n{methods('W')}\nclass Mill:\n\n{methods('M')}"
    (tmp_path / "weir.py").write_text(text)
    with foveate.open_store(tmp_path / "store") as store:
        store.index(tmp_path / "weir.py")
        for asked, owner in (("W-3800", "Weir"), ("M-3700", "Mill"), ("M-200", "Mill")):
            context = store.assemble(f"What is step {asked}?", budget=150)
            assert f"{asked} of the work" in context.text
            before = context.text[: context.text.index(f"{asked} of the work")]
            assert re.findall(r"^class \w+", before, re.MULTILINE)[-1] == f"class {owner}"


def test_what_is_shown_is_cited_by_its_own_row_and_sections(tmp_path: Path) -> None:
    """U2 C1: short records of a long list, and short sections, share a chunk."""
    records = [{"id": f"BIG-{n}", "v": n} for n in range(2_500)]
    (tmp_path / "big.json").write_text(json.dumps(records))
    tables = "".join(f"[server.T-{n}]\nport = {8000 + n}\n\n" for n in range(60))
    (tmp_path / "ports.toml").write_text(tables)
    with foveate.open_store(tmp_path / "store") as store:
        store.index(tmp_path)
        record = store.assemble("What is the v of BIG-1777?", budget=90)
        port = store.assemble("Which port has server T-33?", budget=60)

    first = re.search(r'"BIG-(\d+)"', record.text)
    assert first is not None
    assert '"BIG-1777"' in record.text
    assert record.citations[0].row == int(first[1]) + 1
    assert port.citations[0].section == port.citations[0].sections[0]
    shown = re.findall(r"^\[(server\S+)\]", port.blocks[0].text, re.MULTILINE)
    assert list(port.citations[0].sections) == shown
    assert len(shown) > 1


@pytest.mark.parametrize("form", FILES)
def test_a_search_has_what_holds_the_identifier_first(indexed: Indexed, form: str) -> None:
    """U2: candidates are best first; one that the vectors did not know came last."""
    own = indexed.own[form]
    name = indexed.texts[form].ids[own[len(own) // 2]]
    found = indexed.store.search(f"What is the state of {name}?", limit=3)

    assert name in found.candidates[0].chunk.text
    scores = [candidate.score for candidate in found.candidates]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("name", ["A4", "LJ-4200"])
def test_a_name_that_many_texts_hold_is_no_reason_to_come_first(tmp_path: Path, name: str) -> None:
    """U2: notes that have the name alone do not come before the text that answers."""
    notes = tmp_path / "notes"
    notes.mkdir()
    answer = "To print a report in landscape, choose Layout, then Orientation, before you print.\n"
    (notes / "print.md").write_text(answer)
    for n in range(30):
        (notes / f"{n}.md").write_text(f"The {name} number {n} stands in hall {n % 7}.\n")
        (notes / f"paper-{n}.md").write_text(f"Store {n} keeps sheets of a landscape.\n")
    with foveate.open_store(tmp_path / "store") as store:
        store.index(notes)
        context = store.assemble(f"How do I print a report in landscape on {name}?", budget=90)

    assert context.citations[0].source.endswith("print.md")

"""Look-up by identifier through files, an index and a search, from eleven kinds of files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import pytest
from bench.lookup_texts import COLUMNS, RecordText, make_text

import foveate
from foveate.core.types import TABLE_NAMES, TABLE_TITLE

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
SIZES = (60, 120, 500)
BUDGETS = (150, 300, 600)
MARK = re.compile(r"\s*\[…[^\]\n]*\]\s*")


def make_texts(size: int) -> dict[str, RecordText]:
    """A text of so many records in each form; only its own has the identifier that is asked for."""
    for seed in range(size, size + 10_000, 100):
        texts = {form: make_text(form, size, seed + n) for n, form in enumerate(FILES)}
        alone = (sum(m.ids[m.target] in o.text for o in texts.values()) for m in texts.values())
        if set(alone) == {1}:
            return texts
    raise AssertionError("no seed gives identifiers of their own")


class Indexed(NamedTuple):
    """All files of one size in one store."""

    store: foveate.DocumentStore
    texts: dict[str, RecordText]


@pytest.fixture(scope="module", params=SIZES)
def indexed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Indexed]:
    """The store, opened as a user opens it."""
    folder, texts = tmp_path_factory.mktemp("files"), make_texts(request.param)
    for form, name in FILES.items():
        (folder / name).write_text(texts[form].text)
    with foveate.open_store(folder / "store") as store:
        for name in FILES.values():
            assert not store.index(folder / name).failed
        yield Indexed(store, texts)


def chunks_of(store: foveate.DocumentStore, document: str) -> dict[str, str]:
    """The chunks of a document by their ids."""
    places = [(document, n) for n in range(0, 700, 7)]
    return {chunk.id: chunk.text for chunk in store.store.neighbours(places, 3)}


def joined(text: str, following: str) -> str:
    """Both texts; what one ends with and the other begins with stands there once."""
    ends = range(min(len(text), len(following)), 0, -1)
    shared = next((n for n in ends if text.endswith(following[:n])), 0)
    return f"{text}{following[shared:]}" if shared else f"{text}\n{following}"


def written(made: RecordText) -> str:
    """The record as it stands in the index: rows of CSV and HTML are written out by their names."""
    record = made.records[made.target]
    if made.form in ("CSV", "TSV"):
        return f"id: {made.ids[made.target]}; state: "
    if made.form == "HTML table":
        return f"| {' | '.join(re.findall('<td>(.*?)</td>', record))} |"
    return record.strip()


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("budget", BUDGETS)
def test_record_of_a_file_is_found_by_its_identifier(
    indexed: Indexed, form: str, budget: int
) -> None:
    """U2, T2: whole, with the names of its columns, from a search over all files.

    Whatever is shown of a file stands so in its chunks.
    """
    made = indexed.texts[form]
    context = indexed.store.assemble(made.asked, budget=budget)

    assert written(made) in context.text
    assert Path(context.blocks[0].source).name == FILES[form]
    assert context.token_count <= budget
    if form in ("HTML table", "Markdown table"):
        own = [block.text for block in context.blocks if Path(block.source).name == FILES[form]]
        assert "\n".join(own).count(f"| {' | '.join(COLUMNS)} |") == 1
    for block in context.blocks:
        chunks = chunks_of(indexed.store, block.document_id)
        held = reduce(joined, (chunks[name] for name in block.chunk_ids))
        for piece in MARK.split(block.text.removeprefix("… ").removesuffix(" …")):
            assert piece.strip() in held


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


def test_rows_know_where_the_title_of_their_group_is(tmp_path: Path) -> None:
    """U2: in the metadata of a chunk whose first rows go on with it."""
    lines = ["| part | kg | town |", "|---|---|---|"]
    for group in ("Boats", "Mills"):
        lines += [f"| {group} |  |  |", *(f"| {group}-{n} | {n} | Bern |" for n in range(200))]
    (tmp_path / "towns.md").write_text("\n".join(lines))
    with foveate.open_store(tmp_path / "store") as store:
        store.index(tmp_path / "towns.md")
        found = store.store.neighbours([("towns.md", n) for n in range(0, 50, 7)], 3)
    chunks = {chunk.sequence: chunk for chunk in found}
    told = {n: chunk.metadata.get(TABLE_TITLE) for n, chunk in chunks.items()}

    assert len(chunks) > 4
    assert told[0] is None
    for n, place in told.items():
        group = chunks[n].text.partition("-")[0].lstrip("| ")
        if place is not None:
            assert f"| {group} |  |  |" in chunks[place].text
    assert set(told.values()) - {None} == {
        n for n, chunk in chunks.items() if "|  |  |" in chunk.text
    }


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
    made = indexed.texts[form]
    found = indexed.store.search(made.asked, limit=3)

    assert made.ids[made.target] in found.candidates[0].chunk.text
    scores = [candidate.score for candidate in found.candidates]
    assert scores == sorted(scores, reverse=True)

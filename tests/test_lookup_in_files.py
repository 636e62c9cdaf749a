"""Look-up by identifier through files, an index and a search, from eleven kinds of files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.lookup_texts import COLUMNS, RecordText, make_text

from foveate.core.types import TABLE_NAMES
from foveate.ingest import ingest
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Store
from foveate.providers import embedders, tokenizers
from foveate.stores import open_store

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
MADE = {form: make_text(form, 120, 20 + n) for n, form in enumerate(FILES)}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """All files in one store."""
    folder: Path = tmp_path_factory.mktemp("files")
    for form, name in FILES.items():
        (folder / name).write_text(MADE[form].text)
    embedder = embedders.load_embedder("hashing")
    opened = open_store(folder / "store", embedder_name=embedder.name, dimensions=256)
    names = [folder / name for name in FILES.values()]
    report = ingest(names, opened, embedder, tokenizers.load_tokenizer("cl100k_base"))
    assert not report.failed
    yield opened
    opened.close()


def written(made: RecordText) -> str:
    """The record as it stands in the index: rows of CSV and HTML are written out by their names."""
    record = made.records[made.target]
    if made.form in ("CSV", "TSV"):
        return f"id: {made.ids[made.target]}; state: "
    if made.form == "HTML table":
        return f"| {' | '.join(re.findall('<td>(.*?)</td>', record))} |"
    return record.strip()


@pytest.mark.parametrize("form", FILES)
def test_record_of_a_file_is_found_by_its_identifier(store: Store, form: str) -> None:
    """U2, T2: whole, at 300 tokens, with the names of its columns, from a search over all files."""
    made = MADE[form]
    context = Assembler(
        store=store,
        embedder=embedders.load_embedder("hashing"),
        options=AssembleOptions(budget=300),
    ).assemble(made.asked)

    assert written(made) in context.text
    assert context.blocks[0].source == FILES[form]
    if form in ("HTML table", "Markdown table"):
        own = "\n".join(block.text for block in context.blocks if block.source == FILES[form])
        assert own.count(f"| {' | '.join(COLUMNS)} |") == 1


@pytest.mark.parametrize("form", AS_IN_THE_FILE)
def test_every_record_is_whole_in_a_chunk(store: Store, form: str) -> None:
    """U1: chunks end between records."""
    made = MADE[form]
    chunks = store.neighbours([(FILES[form], n) for n in range(0, 400, 7)], 3)

    assert chunks
    assert all(any(own.strip() in chunk.text for chunk in chunks) for own in made.records)


def test_rows_know_where_the_names_of_their_columns_are(store: Store) -> None:
    """U2: in the metadata of the chunk, so that the names can be fetched with it."""
    first, *others = store.neighbours([("seven.md", n) for n in range(0, 40, 7)], 3)

    assert TABLE_NAMES not in first.metadata
    assert {chunk.metadata[TABLE_NAMES] for chunk in others} == {0}

"""A context as tables of the real libraries: typed, the same columns whatever is in it."""

from __future__ import annotations

import json
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from foveate import ExternalError, MissingExtra, assemble
from foveate.core.context_json import context_to_json
from foveate.core.request import Recipe
from foveate.integrations import tables
from foveate.plugins import recipe

FOUND = [
    {
        "id": f"c{n}",
        "document_id": f"d{n % 2}",
        "source": f"d{n % 2}.md",
        "text": f"Pump {n} runs at {n} bar and is cleaned every spring.",
        "score": 1 - n / 10,
        "page": n if n % 2 else None,
        "start": 100 * n,
        "metadata": {"author": "Ada"},
    }
    for n in range(5)
]
FOUND.append({**FOUND[0], "id": "copy", "document_id": "d9", "source": "d9.md", "score": 0.1})
MAKERS = (tables.blocks, tables.citations, tables.stages, tables.decisions)


def context(budget=90):
    """Some shown, some not, a copy, chosen metadata."""
    known = recipe("default")
    own = {name: getattr(known, name) for name in ("name", "stages", "format")}
    mine = Recipe(**own, include_metadata=("author",))
    return assemble("Which pump?", FOUND, budget=budget, recipe=mine)


def empty():
    """Nothing is shown of it."""
    found = [{"text": "A.", "principals": ["x"], "score": 0.5}]
    return assemble("Which?", found, budget=90, recipe="local-llm", principals=["x"])


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_table_says_what_the_json_says(make):
    """C2, D7: rows are the blocks, citations, stages and decisions of the context, all of them."""
    found = context()
    said = context_to_json(found)
    rows = make(found).rows()

    expected = {
        "blocks": said["blocks"],
        "citations": said["citations"],
        "stages": said["trace"],
        "decisions": [one for stage in said["trace"] for one in stage["decisions"]],
    }[make.__name__]
    assert len(rows) == len(make(found)) == len(expected) > 1
    for row, other in zip(rows, expected, strict=True):
        same = row.keys() & other.keys() - {"numbers", "notes", "decisions"}
        assert {"marker", "stage", "chunk_id"} & same
        spans = {name for name in same if name.endswith("spans")}
        assert {name: row[name] for name in same - spans} == {
            name: other[name] for name in same - spans
        }
        for name in spans:
            assert [[span["start"], span["end"]] for span in row[name]] == other[name]
        for name in {"numbers", "notes"} & row.keys():
            assert json.loads(row[name]) == other[name]


def test_blocks_carry_their_places():
    """C2, R4: places in the context, chosen metadata and copies are columns of their own."""
    found = context()
    rows = tables.blocks(found).rows()

    for row, block in zip(rows, found.blocks, strict=True):
        body = found.text[row["context_start"] : row["context_end"]]
        assert body == block.text
        assert row["shown_metadata"] == [{"name": "author", "value": "Ada"}]
    assert [one["source"] for row in rows for one in row["corroborating"]] == ["d9.md"]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_every_library_holds_the_same_rows(make):
    """F1: Arrow, polars, pandas and whoever reads the stream get the same values."""
    made = make(context())

    assert made.to_arrow().to_pylist() == made.rows()
    assert made.to_polars().to_dicts() == made.rows()
    assert pl.DataFrame(made).to_dicts() == made.rows()
    assert pa.table(made).equals(made.to_arrow())
    missing = made.to_pandas().astype(object)
    assert missing.where(missing.notna(), None).to_dict("records") == made.rows()


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_the_schema_does_not_depend_on_the_rows(make):
    """F1: columns and types are the same for a full and for an empty context."""
    full, none = make(context()), make(empty())

    assert full.to_arrow().schema == none.to_arrow().schema
    assert full.to_polars().schema == none.to_polars().schema
    assert list(full.to_pandas().dtypes) == list(none.to_pandas().dtypes)
    assert list(full.to_arrow().schema.names) == list(full.schema) == list(full.columns)
    assert full.to_polars().schema == pl.from_arrow(full.to_arrow()).schema


def test_an_empty_context_has_no_blocks():
    """F1: no rows is a table, too."""
    found = empty()

    assert found.blocks == ()
    assert len(tables.blocks(found)) == 0
    assert tables.blocks(found).to_arrow().num_rows == 0
    assert isinstance(tables.blocks(found).to_pandas()["page"].dtype, pd.Int64Dtype)


def test_a_tables_rows_go_in_again():
    """I1: what came out as a table goes in as candidates, through the stream alone."""
    first = context()

    again = assemble("Which pump?", tables.blocks(first), budget=200, recipe="citations")

    assert {block.text for block in again.blocks} == {block.text for block in first.blocks}


@pytest.mark.parametrize(
    ("package", "method", "error", "said"),
    [
        ("pyarrow", "to_arrow", MissingExtra, r"pip install 'foveate\[tables\]'"),
        ("polars", "to_polars", ExternalError, "pip install polars"),
        ("pandas", "to_pandas", ExternalError, "pip install pandas"),
    ],
)
def test_a_missing_package_is_named(monkeypatch, package, method, error, said):
    """X1: where a library is not installed, the error says how to get it."""
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(error, match=said):
        getattr(tables.blocks(context()), method)()

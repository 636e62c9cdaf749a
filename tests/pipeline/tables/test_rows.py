"""Tables of the real libraries as candidates: the same rows, whoever holds them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveate import BadInput, Session, assemble, converse, proceed
from foveate.core.candidates import candidate_to_json
from foveate.pipeline.inputs import candidates_of
from foveate.pipeline.tables import rows_from_table

AMSTERDAM = timezone(timedelta(hours=1))
ROWS = [
    {
        "id": "b",
        "document_id": "pump",
        "source": "pump.md",
        "text": "The pump starts at one bar.",
        "score": 0.5,
        "semantic_score": None,
        "page": 3,
        "modified_at": datetime(2026, 1, 2, 12, 30, tzinfo=AMSTERDAM),
        "principals": ["staff", "guests"],
        "metadata": {"lang": "en", "rating": None, "tags": ["a", "b"]},
        "embedding": [0.5, 0.25, -1.0],
        "colour": "red",
    },
    {
        "id": "a",
        "document_id": "boiler",
        "source": "boiler.md",
        "text": "The boiler holds forty litres.",
        "score": 0.25,
        "semantic_score": 0.75,
        "page": None,
        "modified_at": datetime(2025, 12, 24, 6, 0, tzinfo=UTC),
        "principals": [],
        "metadata": {"lang": "nl", "rating": "good", "tags": []},
        "embedding": [1.0, 0.0, 0.125],
        "colour": "red",
    },
]
ARROW = pa.schema(
    [
        ("id", pa.string()),
        ("document_id", pa.large_string()),
        ("source", pa.dictionary(pa.int32(), pa.string())),
        ("text", pa.string()),
        ("score", pa.float64()),
        ("semantic_score", pa.float64()),
        ("page", pa.int32()),
        ("modified_at", pa.timestamp("us", tz="Europe/Amsterdam")),
        ("principals", pa.list_(pa.string())),
        (
            "metadata",
            pa.struct(
                [("lang", pa.string()), ("rating", pa.string()), ("tags", pa.list_(pa.string()))]
            ),
        ),
        ("embedding", pa.list_(pa.float32(), 3)),
        ("colour", pa.dictionary(pa.int8(), pa.string())),
    ]
)


class Stream:
    """All that is known of it: it hands out Arrow's C stream."""

    def __init__(self, held):
        self._held = held

    def __arrow_c_stream__(self, requested_schema=None):
        return self._held.__arrow_c_stream__(requested_schema)


def arrow():
    """As Arrow holds it: dictionaries, a struct, vectors of one length, a zone."""
    return pa.Table.from_pylist(ROWS, schema=ARROW)


def in_chunks():
    """The same in two chunks a column, the first of them cut out of a longer one."""
    whole = arrow()
    return pa.concat_tables([pa.concat_tables([whole, whole]).slice(2, 1), whole.slice(1, 1)])


def frame():
    """As pandas holds it: categories, times with a zone, arrays and mappings as objects."""
    made = pd.DataFrame(ROWS).astype({"source": "category", "colour": "category"})
    made["modified_at"] = pd.to_datetime(made["modified_at"], utc=True).dt.tz_convert(
        "Europe/Amsterdam"
    )
    made["embedding"] = [np.array(row["embedding"], dtype=np.float32) for row in ROWS]
    made["principals"] = [np.array(row["principals"], dtype=object) for row in ROWS]
    return made


def nullable():
    """Pandas with its own types for what may be missing, and the id as index."""
    made = frame().astype({"page": "Int64", "semantic_score": "Float64", "text": "string"})
    return made.set_index("id")


def of_polars():
    """As polars holds it: categories, an enumeration, a struct, an array."""
    schema = {
        "source": pl.Categorical,
        "colour": pl.Enum(["red", "green"]),
        "modified_at": pl.Datetime("ms", "Europe/Amsterdam"),
        "embedding": pl.Array(pl.Float32, 3),
        "page": pl.Int16,
    }
    return pl.from_arrow(arrow()).cast(schema)


TABLES = {
    "arrow": arrow,
    "arrow in chunks": in_chunks,
    "arrow batch": lambda: arrow().to_batches()[0],
    "arrow reader": lambda: arrow().to_reader(),
    "pandas": frame,
    "pandas nullable": nullable,
    "pandas on arrow": lambda: arrow().to_pandas(types_mapper=pd.ArrowDtype),
    "pandas from arrow": lambda: arrow().to_pandas(),
    "polars": of_polars,
    "stream of arrow": lambda: Stream(arrow()),
    "stream of polars": lambda: Stream(of_polars()),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_gives_what_its_rows_give(name):
    """I1, D1: every kind of table gives the candidates, the context and the hashes of its rows."""
    plain = [{**row, "modified_at": row["modified_at"].astimezone(UTC)} for row in ROWS]
    for row in plain:
        row["metadata"] = {k: v for k, v in row["metadata"].items() if v is not None}

    found = candidates_of(TABLES[name]())
    context = assemble("Which?", TABLES[name](), budget=200, principals=["staff"])

    expected = candidates_of(plain)
    assert [candidate_to_json(one) for one in found] == [candidate_to_json(one) for one in expected]
    assert [one.chunk.metadata for one in found] == [one.chunk.metadata for one in expected]
    assert context == assemble("Which?", plain, budget=200, principals=["staff"])


def test_a_conversation_and_a_session_take_tables_too():
    """I1, F1: whatever takes candidates takes a table of them."""
    table = arrow()

    talked = converse("Which?", table, budget=300, principals=["staff"])
    turn = proceed(Session(), "Which?", table, budget=300, principals=["staff"])

    assert {block.source for block in talked.context.blocks} == {"pump.md", "boiler.md"}
    assert {block.source for block in turn.context.blocks} == {"pump.md", "boiler.md"}


@settings(max_examples=30)
@given(st.lists(st.integers(0, 10_000), max_size=30, unique=True))
def test_rows_keep_their_order(numbers):
    """I1: rows come in the order of the table, however many chunks it has."""
    records = [{"text": f"Row {n}.", "id": str(n)} for n in numbers]
    schema = pa.schema([("text", pa.string()), ("id", pa.string())])
    table = pa.Table.from_pylist(records, schema=schema)
    halves = pa.concat_tables([table.slice(0, 7), table.slice(7)])

    for made in (table, halves, halves.to_pandas(), pl.from_arrow(halves)):
        assert rows_from_table(made) == records


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame(), pl.DataFrame(), pa.table({}), pl.DataFrame(schema={"id": pl.String})],
    ids=["pandas", "polars", "arrow", "columns"],
)
def test_an_empty_table_is_an_empty_pool(table):
    """I1, X2: a search that found nothing is said as such, whatever columns it has."""
    assert rows_from_table(table) == []
    context = assemble("Which?", table, budget=200)

    assert context.text == ""
    assert "found nothing" in context.trace[0].notes["no_candidates"]


REFUSED = {
    "a missing column": (
        pl.DataFrame({"passage": ["A."], "score": [1.0]}),
        "field 'text': the table has no such column, but 'passage'; rename that to 'text'",
    ),
    "nothing like it": (
        pa.table({"a": [1], "b": [2]}),
        "field 'text': the table has no such column, but 'a', 'b'; rename the one",
    ),
    "two of a name": (
        pd.DataFrame([["A.", 1.0, 2.0]], columns=["text", "score", "score"]),
        "field 'score': the table has 2 columns of this name",
    ),
    "two of a name, in arrow": (
        pa.Table.from_arrays([pa.array(["A."]), pa.array(["B."])], names=["text", "text"]),
        "field 'text': the table has 2 columns of this name",
    ),
    "a column and an index": (
        pd.DataFrame({"id": ["x"], "text": ["A."]}).set_index("id", drop=False),
        "field 'id': the table has 2 columns of this name",
    ),
    "no text in a row": (
        pl.DataFrame({"text": ["A.", None]}),
        "row 2, field 'text': is missing",
    ),
    "no text in a row, in pandas": (
        pd.DataFrame({"text": ["A.", None]}),
        "row 2, field 'text': is missing",
    ),
    "a score that is none": (
        pd.DataFrame({"text": ["A.", "B."], "score": [1.0, float("nan")]}),
        "row 2, field 'score': must be a finite number, not nan",
    ),
    "a score that is missing": (
        pl.DataFrame({"text": ["A.", "B."], "score": [-1.0, None]}),
        "row 2, field 'score': is missing, and other rows have one; fill it",
    ),
    "a score that is missing, in pandas": (
        pd.DataFrame({"text": ["A.", "B."], "score": pd.array([pd.NA, 0.5], dtype="Float64")}),
        "row 1, field 'score': is missing, and other rows have one; fill it",
    ),
    "a score that is none, in polars": (
        pl.DataFrame({"text": ["A.", "B."], "semantic_score": [1.0, float("nan")]}),
        "row 2, field 'semantic_score': must be a finite number, not nan",
    ),
    "an infinite score": (
        pa.table({"text": ["A."], "score": [float("inf")]}),
        "row 1, field 'score': must be a finite number, not inf",
    ),
    "a text that is none": (
        pa.table({"text": pa.array([b"A."], pa.binary())}),
        "row 1, field 'text': must be a string, not bytes",
    ),
    "a number missing in a vector": (
        pa.table({"text": ["A."], "embedding": pa.array([[1.0, None]], pa.list_(pa.float32(), 2))}),
        "row 1, field 'embedding': must be a finite number, not None",
    ),
    "vectors of two lengths": (
        pl.DataFrame({"text": ["A.", "B."], "embedding": [[1.0], [1.0, 2.0]]}),
        "row 2, field 'embedding': 2 numbers where others have 1",
    ),
    "a vector that holds no number": (
        pl.DataFrame(
            {"text": ["A."], "embedding": [[1.0, float("nan")]]},
            schema_overrides={"embedding": pl.Array(pl.Float32, 2)},
        ),
        "row 1, field 'embedding': holds a number that is not finite",
    ),
    "a key that comes twice": (
        pa.table(
            {
                "text": ["A."],
                "metadata": pa.array([[("k", "1"), ("k", "2")]], pa.map_(pa.string(), pa.string())),
            }
        ),
        "field 'metadata': the column (map<string, string>) holds what cannot be read",
    ),
    "a time that no calendar has": (
        pa.table({"text": ["A."], "modified_at": pa.array([1 << 62], pa.timestamp("s", tz="UTC"))}),
        "field 'modified_at': the column (timestamp[s, tz=UTC]) holds what cannot be read",
    ),
    "a time that no calendar has, in pandas": (
        pd.DataFrame({"text": ["A."], "at": np.array(["20000-01-01"], dtype="M8[s]")}),
        "row 1, field 'at': holds what cannot be read: year 20000 is out of range; cast it",
    ),
    "a time that no calendar has, in polars": (
        pl.DataFrame({"text": ["A."], "at": pl.Series([1 << 60]).cast(pl.Datetime("ms"))}),
        "field 'at': the column (Datetime",
    ),
    "a number for a time": (
        pl.DataFrame({"text": ["A."], "modified_at": [1_700_000_000]}),
        "row 1, field 'modified_at': must be an ISO 8601 date and time, not 1700000000",
    ),
    "metadata that is none": (
        pl.DataFrame({"text": ["A."], "metadata": ["{}"]}),
        "row 1, field 'metadata': must be an object, not str",
    ),
    "a column that the metadata has, too": (
        pl.DataFrame({"text": ["A."], "author": ["Ada"], "metadata": [{"author": "Bea"}]}),
        "row 1, field 'author': stands in the metadata with another value; give it once",
    ),
    "a lazy frame": (pl.LazyFrame({"text": ["A."]}), "is a lazy frame, .* call .collect"),
    "one column": (Stream(pl.Series(["A."])), "is no table of rows"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_said_with_row_and_column(name):
    """I3: a table that cannot be read as it stands is refused, and says what to do about it."""
    table, message = REFUSED[name]
    pattern = message if ".*" in message else message.replace("(", r"\(").replace(")", r"\)")

    with pytest.raises(BadInput, match=pattern.replace("[", r"\[")):
        candidates_of(table)


def test_cells_that_are_missing_are_left_out():
    """I1: a null, and pandas' ways of writing one, is a field that was not given."""
    missing = pd.DataFrame(
        {
            "text": ["A.", "B."],
            "page": [1.0, float("nan")],
            "rerank_score": pd.array([0.5, pd.NA], dtype="Float64"),
            "modified_at": [pd.Timestamp("2026-01-02", tz="UTC"), pd.NaT],
            "title": ["One", pd.NA],
            "colour": pd.Categorical(["red", None]),
        }
    )

    one, two = rows_from_table(missing)

    assert one["page"] == 1
    assert one["modified_at"] == datetime(2026, 1, 2, tzinfo=UTC)
    assert two == {"text": "B."}


def test_values_of_one_library_alone_become_pythons():
    """I1: times to the nanosecond, arrays, decimals and single numbers of numpy are read."""
    found = rows_from_table(
        pd.DataFrame(
            {
                "text": ["A."],
                "score": [Decimal("0.5")],
                "modified_at": [date(2026, 1, 2)],
                "metadata": [{"at": pd.Timestamp(1_700_000_000_000_000_001), "n": np.int64(3)}],
                "lasts": [pd.Timedelta(90, "s")],
                "section": [np.array(["One", "Two"], dtype=object)],
                7: [np.float32(0.5)],
            }
        )
    )

    assert found == [
        {
            "text": "A.",
            "score": 0.5,
            "modified_at": datetime(2026, 1, 2, tzinfo=UTC),
            "metadata": {"at": datetime(2023, 11, 14, 22, 13, 20), "n": 3},  # noqa: DTZ001
            "lasts": timedelta(seconds=90),
            "section": ["One", "Two"],
            "7": 0.5,
        }
    ]
    assert [type(value) for value in found[0]["metadata"].values()] == [datetime, int]
    assert type(found[0]["lasts"]) is timedelta


def test_vectors_of_one_length_are_not_copied_number_by_number():
    """I1: fixed-size lists of Arrow and arrays of polars come as rows of one array."""
    for table in (arrow(), of_polars(), Stream(arrow())):
        first, second = (row["embedding"] for row in rows_from_table(table))

        assert isinstance(first, np.ndarray)
        assert first.dtype == np.float32
        assert [*first, *second] == [0.5, 0.25, -1.0, 1.0, 0.0, 0.125]


def test_a_map_is_one_whoever_holds_it():
    """I1: pandas holds a map of Arrow's as pairs; a key that comes twice is refused there, too."""
    kind = pa.map_(pa.string(), pa.string())
    table = pa.table({"text": ["A."], "metadata": pa.array([[("author", "Ada")]], kind)})
    frames = [table, table.to_pandas(), table.to_pandas(types_mapper=pd.ArrowDtype)]

    for frame in frames:
        assert rows_from_table(frame) == [{"text": "A.", "metadata": {"author": "Ada"}}]
    twice = pd.DataFrame({"text": ["A."], "metadata": [[("k", 1), ("k", 2)]]})
    with pytest.raises(BadInput, match="row 1, field 'metadata': .* a key comes twice"):
        rows_from_table(twice)


def test_vectors_come_in_chunks_of_which_some_are_empty():
    """I1: what a filter or a join leaves of a table has empty chunks, or is empty."""
    kind = pa.list_(pa.float32(), 2)
    parts = [pa.array([], kind), pa.array([[1.0, 2.0]], kind), pa.array([], kind)]
    table = pa.table({"text": ["A."], "embedding": pa.chunked_array(parts)})

    assert [list(row["embedding"]) for row in rows_from_table(table)] == [[1.0, 2.0]]
    assert rows_from_table(table.slice(0, 0)) == []
    assert (
        rows_from_table(pa.table({"text": pa.array([], pa.string()), "embedding": parts[0]})) == []
    )


def test_a_column_without_any_score_is_none():
    """I1: rows of which none has a score are as those of a table without the column."""
    found = candidates_of(pl.DataFrame({"text": ["A.", "B."], "score": [None, None]}))

    assert found == candidates_of(pl.DataFrame({"text": ["A.", "B."]}))
    assert [one.score for one in found] == [1 / 61, 1 / 62]


def test_a_stream_without_pyarrow_says_what_to_install(monkeypatch):
    """X1: where nothing can read a stream, the extra is named."""
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)

    with pytest.raises(Exception, match=r"pip install 'foveate\[tables\]'"):
        rows_from_table(Stream(pl.DataFrame({"text": ["A."]})))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist])
def test_the_blocks_of_a_context_go_in_again(make):
    """I1: what came out goes in as candidates, whichever library has held it."""
    question = "When does the pump start, and what does the boiler hold?"
    first = assemble(question, ROWS, budget=200, principals=["staff"])

    again = assemble(question, make(first.to_dict()["blocks"]), budget=200)

    assert {block.text for block in again.blocks} == {row["text"] for row in ROWS}

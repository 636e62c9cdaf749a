"""Parquet: requests from rows, answers to rows, the same answers as from JSON Lines."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import CHUNKS, QUERY
from foveate.batch.requests import Slice, answer_line, answer_slice
from foveate.batch.tables import MAX_GROUP_ROWS, AnswerTable, count_rows, read_table
from foveate.core.errors import BadInput

REQUESTS = [
    {"id": "a", "query": QUERY, "chunks": CHUNKS, "budget": 60},
    {"id": "b", "query": QUERY, "chunks": CHUNKS[:2], "principals": ["staff"]},
    {"id": "c", "query": QUERY, "chunks": CHUNKS, "budget": 2},
    {"id": "d", "query": QUERY, "chunks": CHUNKS, "messages": [{"role": "user", "content": "Hi"}]},
]


def answers_of(path, table: pa.Table, **options) -> list[dict[str, object]]:
    """What the table's requests are answered, through a file."""
    pq.write_table(table, path, **options)
    return [answer_line(line, number) for number, line in read_table(str(path))]


def expected(requests=REQUESTS) -> list[dict[str, object]]:
    """The same from JSON Lines."""
    return [answer_line(json.dumps(r).encode(), n) for n, r in enumerate(requests, 1)]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_a_column_of_json_is_the_lines(tmp_path, kind):
    """F2, D1: `request` holds what a line would, byte for byte; other columns are not read."""
    texts = [json.dumps(request, ensure_ascii=False) for request in REQUESTS]
    table = pa.table({"day": [1, 2, 3, 4], "request": pa.array(texts).cast(kind)})

    found = answers_of(tmp_path / "r.parquet", table)

    assert found == expected()
    assert [line for _, line in read_table(str(tmp_path / "r.parquet"))] == [
        text.encode() for text in texts
    ]
    assert count_rows(str(tmp_path / "r.parquet")) == 4


def test_columns_with_lists_of_structs_are_the_same_requests(tmp_path):
    """F2, I2: a null is a key that is left out, on every level; nothing else changes."""
    table = pa.Table.from_struct_array(pa.array(REQUESTS))

    assert table.schema.field("chunks").type.value_type.num_fields == 7
    assert answers_of(tmp_path / "r.parquet", table) == expected()


def test_lists_may_be_written_as_json(tmp_path):
    """F2: `chunks` and `messages` as strings, and a budget that a data frame made a float."""
    columns = {
        "id": ["a", "c"],
        "query": [QUERY] * 2,
        "chunks": [json.dumps(CHUNKS)] * 2,
        "budget": [60.0, float("nan")],
    }
    wanted = [REQUESTS[0], {"id": "c", "query": QUERY, "chunks": CHUNKS}]

    assert answers_of(tmp_path / "r.parquet", pa.table(columns)) == expected(wanted)


def test_json_in_a_column_brings_in_no_other_key(tmp_path):
    """X5, I4: what stands in `chunks` cannot say who asks."""
    sly = json.dumps(CHUNKS) + ', "principals": ["staff"]'
    table = pa.table({"id": [1], "query": ["Where is the key?"], "chunks": [sly]})

    found = answers_of(tmp_path / "r.parquet", table)

    assert found[0]["error"]["message"] == "field 'chunks': must be a list, not str"


def test_dates_maps_and_vectors_are_read(tmp_path):
    """I1, I2: types that data frames have and JSON has not become what a line would say."""
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    kind = pa.struct(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("modified_at", pa.timestamp("us", "UTC")),
            ("metadata", pa.map_(pa.string(), pa.string())),
            ("embedding", pa.list_(pa.float32())),
        ]
    )
    chunk = {"id": "c", "text": CHUNKS[0]["text"], "modified_at": at, "embedding": [0.6, 0.8]}
    rows = [[{**chunk, "metadata": [("team", "yard")]}]]
    table = pa.table({"id": [1], "query": [QUERY], "chunks": pa.array(rows, pa.list_(kind))})
    vector = [float(x) for x in pa.array([0.6, 0.8], pa.float32()).to_pylist()]
    plain = {**chunk, "modified_at": at.isoformat(), "metadata": {"team": "yard"}}
    request = {"id": 1, "query": QUERY, "chunks": [{**plain, "embedding": vector}]}

    assert answers_of(tmp_path / "r.parquet", table) == expected([request])


def test_a_row_without_a_request_is_refused_by_its_number(tmp_path):
    """F2, X2: a null stands for no request, and its answer in its place says so."""
    texts = [json.dumps(REQUESTS[0]), None, "{"]

    found = answers_of(tmp_path / "r.parquet", pa.table({"request": texts}), row_group_size=2)

    assert "text" in found[0]
    assert [a["error"]["message"].partition(":")[0] for a in found[1:]] == ["line 2", "line 3"]


BAD = {
    "columns": ({"query": ["q"], "chunkz": ["[]"]}, "did you mean 'chunks'"),
    "no chunks": ({"query": ["q"]}, "has no column 'chunks'"),
    "none": ({}, "has no column 'query'"),
    "numbers": ({"request": [1]}, "column 'request' is int64; it must hold JSON"),
    "bytes": ({"query": ["q"], "chunks": [[b"x"]]}, "column 'chunks' holds binary"),
    "deep": ({"query": ["q"], "chunks": [[{"a": [{"b": b"x"}]}]]}, "'chunks' holds binary"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_table_that_holds_no_requests_is_refused(tmp_path, name):
    """X2, I3: wrong columns and types are said by name before anything is answered."""
    columns, said = BAD[name]
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table(columns), path)

    with pytest.raises(BadInput, match=said) as caught:
        list(read_table(str(path)))

    assert str(caught.value).startswith(f"{path}: ")


def chunks_with(name, kind, values) -> pa.Table:
    """A row for each value, which its chunk has in the field of that name."""
    kind = pa.list_(pa.struct([("text", pa.string()), (name, kind)]))
    rows = [[{"text": CHUNKS[0]["text"], name: value}] for value in values]
    return pa.table({"query": [QUERY] * len(rows), "chunks": pa.array(rows, kind)})


UNFIT = {
    "twice": ("metadata", pa.map_(pa.string(), pa.string()), [("a", "1")], [("a", "1")] * 2),
    "far": ("modified_at", pa.timestamp("us"), 10**15, 10**18),
    "before": ("modified_at", pa.date32(), 1, -(10**6)),
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_row_that_no_request_can_hold_is_refused_by_its_number(tmp_path, name):
    """X2: a map with a key twice, a time of no calendar: the file and the row are named."""
    field, kind, good, bad = UNFIT[name]
    path = tmp_path / "r.parquet"
    pq.write_table(chunks_with(field, kind, [good] * 70 + [bad, good]), path)

    with pytest.raises(BadInput, match="row 71 holds what cannot be read") as caught:
        list(read_table(str(path)))

    assert str(caught.value).startswith(f"{path}: ")
    pq.write_table(chunks_with(field, kind, [good] * 70), path)
    assert len(list(read_table(str(path)))) == 70


def test_a_map_without_names_is_refused(tmp_path):
    """X2, I3: keys of a JSON object are strings; a map with others is said by its type."""
    path = tmp_path / "r.parquet"
    times = pa.map_(pa.timestamp("us"), pa.string())
    pq.write_table(chunks_with("metadata", times, [[(1, "a")]]), path)

    with pytest.raises(BadInput, match=r"column 'chunks' holds map<timestamp"):
        list(read_table(str(path)))


def test_a_column_that_is_there_twice_is_refused(tmp_path):
    """X2: which of them is meant is not guessed."""
    path = tmp_path / "r.parquet"
    columns = [pa.array(each) for each in (["q"], ["z"], ["[]"])]
    pq.write_table(pa.table(columns, names=["query", "query", "chunks"]), path)

    with pytest.raises(BadInput, match="column 'query' more than once"):
        list(read_table(str(path)))


def test_half_a_surrogate_pair_in_a_column_is_what_the_line_says(tmp_path):
    """X2: JSON can say it, UTF-8 cannot; the request is answered as that of a line."""
    chunks = '[{"text": "A boiler \\ud800 is tested.", "id": "c"}]'
    table = pa.table({"query": [QUERY], "chunks": [chunks]})

    assert answers_of(tmp_path / "r.parquet", table) == [
        answer_line(f'{{"query": "{QUERY}", "chunks": {chunks}}}'.encode(), 1)
    ]


def test_what_is_not_parquet_is_refused(tmp_path):
    """X2: an empty file, a text, half a file, a file with a hole: each is said, none crashes."""
    path = tmp_path / "r.parquet"
    texts = [
        json.dumps({**REQUESTS[0], "id": n, "query": f"{QUERY} {n * 7919}"}) for n in range(99)
    ]
    pq.write_table(pa.table({"request": texts}), path, compression="gzip", use_dictionary=False)
    good = path.read_bytes()
    middle = len(good) // 3
    spoilt = [
        b"",
        b'{"id": 1}\n',
        good[: len(good) // 2],
        good[:middle] + bytes(64) + good[middle + 64 :],
    ]

    for data in spoilt:
        path.write_bytes(data)
        with pytest.raises(BadInput, match=r"is not Parquet|is damaged"):
            list(read_table(str(path)))
    with pytest.raises(BadInput, match="no such file"):
        list(read_table(str(tmp_path / "none.parquet")))


def written(count: int) -> bytes:
    """A table of that many answers."""
    lines = [(n, json.dumps({**REQUESTS[n % 4], "id": n}).encode()) for n in range(1, 9)]
    rows = answer_slice(Slice(partition=0, lines=tuple(lines)))
    file = io.BytesIO()
    with AnswerTable.open(file) as table:
        for number in range(count):
            table.write(rows[number % 8])
    return file.getvalue()


def test_answers_are_a_table_with_the_whole_answer():
    """F2, D1: `answer` is the line of JSON Lines; the other columns say the same; no clock."""
    data = written(8)
    rows = pq.read_table(io.BytesIO(data)).to_pylist()

    for row in rows:
        whole = json.loads(row["answer"])
        assert row["id"] == str(whole["id"])
        assert row["text"] == whole.get("text")
        assert row["token_count"] == whole.get("token_count")
        assert row["error"] == whole.get("error")
    assert [row["error"] is None for row in rows] == [True, False, True, True] * 2
    assert data == written(8)
    assert b"2026-11" not in data


def test_row_groups_have_a_bound():
    """D1: where a row group ends is decided by the answers alone."""
    file = pq.ParquetFile(io.BytesIO(written(MAX_GROUP_ROWS + 1)))

    assert [file.metadata.row_group(n).num_rows for n in range(2)] == [MAX_GROUP_ROWS, 1]
    assert file.metadata.num_row_groups == 2
    assert file.schema_arrow.names == ["id", "text", "token_count", "error", "answer"]


def test_no_answers_are_an_empty_table():
    """F2: a partition without requests has a table without rows, of the same columns."""
    table = pq.read_table(io.BytesIO(written(0)))

    assert (table.num_rows, table.num_columns) == (0, 5)

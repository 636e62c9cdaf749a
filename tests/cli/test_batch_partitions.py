"""`foveate assemble-batch` on folders: names, resume, bad partitions; and Parquet in and out."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import CHUNKS, QUERY, jsonl, on_terminal

COUNTS = {"a.jsonl": 3, "b.parquet": 2, "c.jsonl": 1}


def request(name: object) -> dict[str, object]:
    """A request that is answered."""
    return {"id": name, "query": f"{QUERY} {name}", "chunks": CHUNKS, "budget": 60}


@pytest.fixture
def folder(run, tmp_path) -> Path:
    """`in` with three partitions."""
    Path("in").mkdir()
    for name, count in COUNTS.items():
        requests = [request(f"{name}-{number}") for number in range(count)]
        if name.endswith(".parquet"):
            pq.write_table(pa.table({"request": [json.dumps(r) for r in requests]}), f"in/{name}")
        else:
            Path("in", name).write_text(jsonl(requests), encoding="utf-8")
    return tmp_path


def batch(run, *flags: str):
    """From `in` to `out`."""
    return run("assemble-batch", "--in", "in", "--out", "out", *flags)


def outs() -> dict[str, bytes]:
    """The partitions that were written."""
    return {path.name: path.read_bytes() for path in sorted(Path("out").glob("[!_]*"))}


def test_each_partition_has_its_answers_under_its_name(run, folder):
    """F2: the same names and orders, JSON Lines and Parquet side by side."""
    ran = batch(run, "--json")
    lines = Path("out/a.jsonl").read_text("utf-8").splitlines()

    assert ran.code == 0
    assert list(outs()) == list(COUNTS)
    assert [json.loads(line)["id"] for line in lines] == [f"a.jsonl-{n}" for n in range(3)]
    assert pq.read_table("out/b.parquet")["id"].to_pylist() == ["b.parquet-0", "b.parquet-1"]
    assert ran.json == {
        "contexts": 6, "refused": 0, "partitions": 3, "unchanged": 0, "failed": [], "left_over": []
    }  # fmt: skip


def test_a_second_run_does_what_is_not_done(run, folder):
    """T5, F2: done is whole answers of these very requests; anything else is done again."""
    batch(run)
    before = outs()
    stamps = {name: Path("out", name).stat().st_mtime_ns for name in before}

    again = batch(run, "--json").json
    same = {name: Path("out", name).stat().st_mtime_ns for name in before}
    Path("in/a.jsonl").write_text(jsonl([request("new")]), encoding="utf-8")
    Path("out/b.parquet").write_bytes(before["b.parquet"][:-1])
    Path("out/c.jsonl").unlink()
    changed = batch(run, "--json").json

    assert (again["partitions"], again["unchanged"], again["contexts"]) == (0, 3, 0)
    assert same == stamps
    assert (changed["partitions"], changed["unchanged"]) == (3, 0)
    assert json.loads(outs()["a.jsonl"])["id"] == "new"
    assert outs()["b.parquet"] == before["b.parquet"]
    assert outs()["c.jsonl"] == before["c.jsonl"]


def test_anew_does_all_again(run, folder):
    """F2: for what the hashes do not cover, such as a recipe's file."""
    batch(run)

    assert batch(run, "--anew", "--json").json["partitions"] == 3


def test_answers_without_requests_are_named(run, folder):
    """F2, X2: a partition that is gone leaves answers that somebody could still read."""
    batch(run)
    Path("in/a.jsonl").unlink()

    ran = batch(run)

    assert ran.code == 0
    assert ran.err.splitlines() == [
        "0 contexts, 0 refused in 0 partitions, 2 unchanged",
        "left over: a.jsonl has no requests any more; delete it if it is not needed",
    ]
    assert "a.jsonl" in outs()


def test_a_bad_partition_costs_itself_alone(run, folder):
    """X2, F2: not Parquet, wrong columns, damaged: named with the reason, exit code 3."""
    Path("in/b.parquet").write_bytes(b"no table")
    pq.write_table(pa.table({"chunkz": ["[]"]}), "in/d.parquet")
    Path("in/e.parquet").write_bytes(b"")
    Path("in/f.jsonl").write_bytes(b"")

    ran = batch(run)
    lines = ran.err.splitlines()

    assert (ran.code, ran.out) == (3, "")
    assert list(outs()) == ["a.jsonl", "c.jsonl", "f.jsonl"]
    assert outs()["f.jsonl"] == b""
    assert lines[0] == "4 contexts, 0 refused in 3 partitions, 3 failed"
    assert [line.split(": ")[1] for line in lines[1:]] == ["b.parquet", "d.parquet", "e.parquet"]
    assert "is not Parquet" in lines[1]
    assert "did you mean 'chunks'" in lines[2]
    assert list(Path().rglob("*.part")) == []


def test_a_bad_row_of_a_table_costs_its_partition_alone(run, folder):
    """X2, T5: what JSON cannot say in one row ends that partition, not the run."""
    times = pa.array([[{"text": "Late.", "modified_at": 10**18}]], pa.list_(pa.struct(
        [("text", pa.string()), ("modified_at", pa.timestamp("us"))]
    )))  # fmt: skip
    pq.write_table(pa.table({"query": [QUERY], "chunks": times}), "in/b.parquet")

    ran = batch(run, "--json")

    assert list(outs()) == ["a.jsonl", "c.jsonl"]
    assert ran.json["contexts"] == 4
    assert [each["partition"] for each in ran.json["failed"]] == ["b.parquet"]
    assert "row 1 holds what cannot be read" in ran.json["failed"][0]["reason"]


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        ((), "in: has no partitions (.jsonl or .parquet)"),
        (("_SUCCESS", ".hidden.jsonl"), "in: has no partitions"),
        (("a.jsonl", "notes.txt"), "notes.txt: is no partition"),
        (("a.jsonl", "day=1/b.jsonl"), "day=1: is no partition"),
    ],
)
def test_a_folder_without_partitions_is_refused(run, prepare, said):
    """X2, I3: nothing is passed over in silence but what is marked as no data."""
    Path("in").mkdir()
    for name in prepare:
        Path("in", name).parent.mkdir(exist_ok=True)
        Path("in", name).touch()

    ran = batch(run)

    assert ran.code == 3
    assert said in ran.complaint
    assert not Path("out").exists()


@pytest.mark.parametrize("out", ["-", "out.jsonl", "out.parquet", "in", "in/out", "."])
def test_a_folder_goes_to_a_folder(run, folder, out):
    """F2, X2: not to a file, and neither into the other."""
    ran = run("assemble-batch", "--in", "in", "--out", out)

    assert ran.code == 2
    assert "--in is a folder" in ran.complaint or "in the other" in ran.complaint


def test_a_file_may_change_its_format(run, folder):
    """F2, D1: the ending decides; both formats hold the same answers."""
    flags = ("assemble-batch", "--in")
    codes = [
        run(*flags, "in/a.jsonl", "--out", "a.jsonl").code,
        run(*flags, "in/a.jsonl", "--out", "a.parquet").code,
        run(*flags, "in/b.parquet", "--out", "b.jsonl").code,
        run(*flags, "in/b.parquet", "--out", "b.parquet").code,
    ]

    for name in "ab":
        lines = Path(f"{name}.jsonl").read_text("utf-8").splitlines()
        assert pq.read_table(f"{name}.parquet")["answer"].to_pylist() == lines
    assert codes == [0, 0, 0, 0]


def test_a_single_table_that_is_none_is_bad_input(run):
    """X2, F2: without other partitions there is nothing to report but the reason."""
    Path("in.parquet").write_bytes(b"no table")

    ran = run("assemble-batch", "--in", "in.parquet", "--out", "out.parquet")

    assert ran.code == 3
    assert "in.parquet: is not Parquet" in ran.complaint
    assert [path.name for path in Path().iterdir()] == ["in.parquet"]


def test_half_a_surrogate_pair_in_an_id_stops_nothing(run):
    """F2, X2: the id comes back as its JSON escape, in both formats."""
    text = '{"id": "\\ud800", "query": "q", "chunks": []}\n'
    Path("in.jsonl").write_text(text + jsonl([request("b")]), encoding="utf-8")

    codes = [
        run("assemble-batch", "--in", "in.jsonl", "--out", f"out.{ending}").code
        for ending in ("jsonl", "parquet")
    ]
    lines = Path("out.jsonl").read_text("utf-8").splitlines()

    assert codes == [0, 0]
    assert lines[0].startswith('{"id": "\\ud800", "text": ""')
    assert json.loads(lines[1])["id"] == "b"
    assert pq.read_table("out.parquet")["id"].to_pylist() == ["\\ud800", "b"]


def test_no_time_stands_in_an_answer(run, folder):
    """D1: what a batch writes says nothing of when; the manifest's hashes are all there is."""
    batch(run)
    manifest = json.loads(outs()["c.jsonl"])["manifest"]

    assert "created_at" not in manifest
    assert not any("2026" in str(value) for value in manifest.values())


def test_on_a_terminal_there_is_a_bar(run, folder):
    """F2: requests done and in all, with a rate, on stderr alone."""
    said, shown = on_terminal(folder, "assemble-batch", "--in", "in", "--out", "out")

    assert said == ""
    assert "6/6" in shown
    assert "6 contexts, 0 refused in 3 partitions" in shown


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--engine", "rai"), "did you mean 'ray'"),
        (("--workers", "0"), "1 or more"),
        (("--address", "auto"), "--engine ray"),
        (("--json", "--out", "-"), "both want stdout"),
        (("--in", "in/a.jsonl", "--out", "x.txt"), "x.txt: answers are JSON Lines or Parquet"),
        (("--in", "in/a.jsonl", "--out", "x.jsonl.gz"), "name a file .jsonl or .ndjson or .parq"),
    ],
)
def test_flags_that_cannot_be_meant(run, folder, flags, said):
    """F2: usage is checked before a cluster is started or a file is read."""
    ran = batch(run, *flags)

    assert ran.code == 2
    assert said in ran.complaint

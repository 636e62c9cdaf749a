"""`foveate assemble-batch` on folders: names, resume, bad partitions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import CHUNKS, QUERY, jsonl, on_terminal

COUNTS = {"a.jsonl": 3, "b.jsonl": 2, "c.jsonl": 1}


def request(name: object) -> dict[str, object]:
    """A request that is answered."""
    return {"id": name, "query": f"{QUERY} {name}", "chunks": CHUNKS, "budget": 60}


@pytest.fixture
def folder(run, tmp_path) -> Path:
    """`in` with three partitions."""
    Path("in").mkdir()
    for name, count in COUNTS.items():
        requests = [request(f"{name}-{number}") for number in range(count)]
        Path("in", name).write_text(jsonl(requests), encoding="utf-8")
    return tmp_path


def batch(run, *flags: str):
    """From `in` to `out`."""
    return run("assemble-batch", "--in", "in", "--out", "out", *flags)


def outs() -> dict[str, bytes]:
    """The partitions that were written."""
    return {path.name: path.read_bytes() for path in sorted(Path("out").glob("[!_]*"))}


def test_each_partition_has_its_answers_under_its_name(run, folder):
    """F2: the same names and orders."""
    ran = batch(run, "--json")
    lines = Path("out/a.jsonl").read_text("utf-8").splitlines()

    assert ran.code == 0
    assert list(outs()) == list(COUNTS)
    assert [json.loads(line)["id"] for line in lines] == [f"a.jsonl-{n}" for n in range(3)]
    assert ran.json == {
        "contexts": 6, "refused": 0, "too_small": 0, "partitions": 3, "unchanged": 0,
        "earlier": {"contexts": 0, "refused": 0, "too_small": 0}, "failed": [], "left_over": [],
    }  # fmt: skip


def test_a_second_run_does_what_is_not_done(run, folder):
    """T5, F2: done is whole answers of these very requests; anything else is done again."""
    batch(run)
    before = outs()
    stamps = {name: Path("out", name).stat().st_mtime_ns for name in before}

    again = batch(run, "--json").json
    same = {name: Path("out", name).stat().st_mtime_ns for name in before}
    Path("in/a.jsonl").write_text(jsonl([request("new")]), encoding="utf-8")
    Path("out/b.jsonl").write_bytes(before["b.jsonl"][:-1])
    Path("out/c.jsonl").unlink()
    changed = batch(run, "--json").json

    assert (again["partitions"], again["unchanged"], again["contexts"]) == (0, 3, 0)
    assert same == stamps
    assert (changed["partitions"], changed["unchanged"]) == (3, 0)
    assert json.loads(outs()["a.jsonl"])["id"] == "new"
    assert outs()["b.jsonl"] == before["b.jsonl"]
    assert outs()["c.jsonl"] == before["c.jsonl"]


@pytest.mark.parametrize(("line", "code"), [({"budget": 1}, 4), ({"recipe": "nosuch"}, 3)])
def test_a_second_run_ends_as_the_first_where_all_were_refused(run, folder, line, code):
    """F2, X1: a scheduler that runs the command again must not read that all is well."""
    for path in Path("in").iterdir():
        path.write_text(jsonl([{**request("q"), **line}]), encoding="utf-8")

    first, again = batch(run), batch(run)
    counted = batch(run, "--json")
    Path("in/a.jsonl").write_text(jsonl([request("fits")]), encoding="utf-8")

    assert (first.code, again.code, counted.code) == (code, code, code)
    assert again.err.splitlines()[1:] == first.err.splitlines()[1:]
    assert counted.json["earlier"] == {"contexts": 0, "refused": 3, "too_small": 3 * (code == 4)}
    assert batch(run).code == 0


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
    """X2, F2: one that cannot be read is named with the reason, exit code 3."""
    Path("in/b.jsonl").unlink()
    Path("in/b.jsonl").symlink_to("/proc/self/mem")  # opens, and fails at the first byte
    Path("in/f.jsonl").write_bytes(b"")

    ran = batch(run)
    lines = ran.err.splitlines()

    assert (ran.code, ran.out) == (3, "")
    assert list(outs()) == ["a.jsonl", "c.jsonl", "f.jsonl"]
    assert outs()["f.jsonl"] == b""
    assert lines[0] == "4 contexts, 0 refused in 3 partitions, 1 failed"
    assert [line.split(": ")[1] for line in lines[1:]] == ["b.jsonl"]
    assert "in/b.jsonl: cannot be read" in lines[1]
    assert list(Path().rglob("*.part")) == []


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        ((), "in: has no partitions (.jsonl)"),
        (("_SUCCESS", ".hidden.jsonl"), "in: has no partitions"),
        (("a.jsonl", "notes.txt"), "notes.txt: is no partition"),
        (("a.jsonl", "b.parquet"), "b.parquet: is no partition (.jsonl)"),
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


@pytest.mark.parametrize("out", ["-", "out.jsonl", "in", "in/out", "."])
def test_a_folder_goes_to_a_folder(run, folder, out):
    """F2, X2: not to a file, and neither into the other."""
    ran = run("assemble-batch", "--in", "in", "--out", out)

    assert ran.code == 2
    assert "--in is a folder" in ran.complaint or "in the other" in ran.complaint


def test_a_table_is_refused_before_it_is_read(run, folder):
    """X2, F2: as a file it would be lines of bytes; what to do is said, and nothing is written."""
    Path("in.parquet").write_bytes(b"PAR1")

    ran = run("assemble-batch", "--in", "in.parquet", "--out", "out.jsonl")

    assert ran.code == 3
    assert "in.parquet: requests are JSON Lines; write each row as" in ran.complaint
    assert not Path("out.jsonl").exists()


def test_half_a_surrogate_pair_in_an_id_stops_nothing(run):
    """F2, X2: the id comes back as its JSON escape."""
    text = '{"id": "\\ud800", "query": "q", "chunks": []}\n'
    Path("in.jsonl").write_text(text + jsonl([request("b")]), encoding="utf-8")

    ran = run("assemble-batch", "--in", "in.jsonl", "--out", "out.jsonl")
    lines = Path("out.jsonl").read_text("utf-8").splitlines()

    assert ran.code == 0
    assert lines[0].startswith('{"id": "\\ud800", "text": ""')
    assert json.loads(lines[1])["id"] == "b"


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
        (("--in", "in/a.jsonl", "--out", "x.txt"), "x.txt: answers are JSON Lines; name"),
        (("--in", "in/a.jsonl", "--out", "x.jsonl.gz"), "name a file .jsonl or .ndjson, or -"),
        (("--in", "in/a.jsonl", "--out", "x.parquet"), "x.parquet: answers are JSON Lines; name"),
    ],
)
def test_flags_that_cannot_be_meant(run, folder, flags, said):
    """F2: usage is checked before a cluster is started or a file is read."""
    ran = batch(run, *flags)

    assert ran.code == 2
    assert said in ran.complaint

"""Where output goes: links, pipes, devices and modes stay what they are; closed streams."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from stat import S_IMODE, S_ISFIFO

import pytest

from command_line import QUERY
from foveate.stores.atomic_write import atomic_write
from source_tree import PACKAGE

ASK = ["assemble", "--query", QUERY]


def test_a_bundle_through_a_link_leaves_the_link(run, chunks, tmp_path):
    """F2: what a link leads to is written, there or not yet there, and the link stays."""
    (tmp_path / "far").mkdir()
    for name in ("there", "new"):
        (tmp_path / name).symlink_to(f"far/{name}.json")
    (tmp_path / "far" / "there.json").write_text("old", encoding="utf-8")

    for name in ("there", "new"):
        assert run(*ASK, "--chunks", chunks, "--bundle", name).code == 0

        assert (tmp_path / name).is_symlink()
        assert json.loads((tmp_path / "far" / f"{name}.json").read_bytes())
    assert sorted(path.name for path in (tmp_path / "far").iterdir()) == ["new.json", "there.json"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_file_that_is_written_anew_keeps_its_mode(run, chunks, tmp_path, mode):
    """F2: who could read the old one can read the new one, and nobody else."""
    path = tmp_path / "b.json"
    path.write_text("old", encoding="utf-8")
    path.chmod(mode)

    assert run(*ASK, "--chunks", chunks, "--bundle", "b.json").code == 0

    assert S_IMODE(path.stat().st_mode) == mode
    assert json.loads(path.read_bytes())


def test_a_named_pipe_is_written_to(run, chunks, tmp_path):
    """F2: a pipe stays one, and its reader gets the bundle."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    ran = run(*ASK, "--chunks", chunks, "--bundle", "pipe")
    got = os.read(reader, 1 << 16)  # what a pipe holds; the bundle is smaller
    os.close(reader)

    assert ran.code == 0
    assert S_ISFIFO(path.stat().st_mode)
    assert json.loads(got)


def test_a_device_is_written_to(run, tmp_path):
    """F2: a device behind a link stays, and so does the link."""
    (tmp_path / "null").symlink_to("/dev/null")
    request = '{"query": "Which?", "chunks": [{"text": "Which one it is."}]}'

    ran = run("assemble-batch", "--in", "-", "--out", "null", stdin=request.encode())

    assert ran.code == 0
    assert (tmp_path / "null").is_symlink()
    assert (tmp_path / "null").is_char_device()
    assert [path.name for path in tmp_path.iterdir()] == ["null"]


CLOSED = [
    ("assemble --query q --chunks - <&-", 3, "standard input is closed"),
    ("assemble-batch --in - --out o <&-", 3, "standard input is closed"),
    ("replay - <&-", 3, "standard input is closed"),
    ("assemble --query Which --chunks chunks.jsonl >&-", 5, "standard output is closed"),
    ("assemble-batch --in chunks.jsonl --out - >&-", 5, "standard output is closed"),
    ("recipes list >&-", 5, "standard output is closed"),
    ("assemble --query q --chunks none 2>&-", 3, None),
]


@pytest.mark.parametrize(("words", "code", "said"), CLOSED, ids=[words for words, _, _ in CLOSED])
def test_a_closed_stream_is_one_line(tmp_path, chunks, words, code, said):
    """F2, X1: a stream that was closed from the start is one clear line and the right code."""
    program = shlex.join([sys.executable, "-m", "foveate"])
    done = subprocess.run(
        ["/bin/sh", "-c", f"{program} {words}"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )

    assert done.returncode == code, done.stderr
    if said is not None:
        assert done.stderr.startswith("foveate: ")
        assert done.stderr.count("\n") == 1
        assert said in done.stderr
        assert "fault" not in done.stderr


@pytest.mark.parametrize("words", [[*ASK, "--chunks", "-"], ["replay", "-"]], ids=" ".join)
def test_standard_input_has_a_name(run, words):
    """F2: an error does not call it by a dash."""
    said = run(*words, stdin=b"{'a\n").complaint

    assert said.startswith("standard input: ")


def test_what_is_read_is_not_overwritten(run, chunks):
    """X2: naming the file that is read as the one to write is refused; it stays as it was."""
    before = chunks.read_bytes()
    bundle = run("assemble", "--query", QUERY, "--chunks", chunks, "--bundle", chunks)
    batch = run("assemble-batch", "--in", chunks, "--out", chunks)

    assert (bundle.code, batch.code) == (2, 2)
    assert "is the file that is read" in bundle.err
    assert "is the file that is read" in batch.err
    assert chunks.read_bytes() == before


WRITES = """
import sys
from pathlib import Path
from foveate.stores.atomic_write import atomic_write

with atomic_write(Path("b.json")) as file:
    file.write(b"half")
    file.flush()
    print("writes", flush=True)
    sys.stdin.read()
    file.write(b", whole")
"""


def writing() -> subprocess.Popen[bytes]:
    """A process of ours in the midst of writing `b.json` in this folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITES],
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"writes\n"
    return process


def test_what_a_killed_run_left_aside_is_removed_by_the_next(run, chunks, tmp_path):
    """X1, F2: a file aside whose writer is gone goes, one that is being written stays."""
    with writing() as process:
        process.kill()
    (tmp_path / ".b.json.mine.part").write_text("not ours", encoding="utf-8")
    (left_over,) = [path for path in tmp_path.glob(".b.json.*.part") if "mine" not in path.name]
    assert left_over.read_bytes() == b"half"

    with writing() as process:
        assert run(*ASK, "--chunks", chunks, "--bundle", "b.json").code == 0

        assert not left_over.exists()
        assert len(list(tmp_path.glob(".b.json.*.part"))) == 2
        assert json.loads((tmp_path / "b.json").read_bytes())
        process.communicate()

    assert (tmp_path / "b.json").read_bytes() == b"half, whole"
    assert [path.name for path in tmp_path.glob(".b.json*")] == [".b.json.mine.part"]


def test_a_planted_link_is_not_written_through(tmp_path, monkeypatch):
    """M4: a temporary name that is there already is refused, and what it points to stays."""
    monkeypatch.setattr("foveate.stores.atomic_write.secrets.token_hex", lambda _: "0badcafe")
    (tmp_path / "victim").write_bytes(b"whole")
    (tmp_path / ".keys.0badcafe.part").symlink_to(tmp_path / "victim")

    with pytest.raises(FileExistsError), atomic_write(tmp_path / "keys", private=True) as file:
        file.write(b"secret")

    assert (tmp_path / "victim").read_bytes() == b"whole"

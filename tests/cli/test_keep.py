"""`foveate store`: what it prints, and how it ends."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest


@pytest.fixture
def indexed(run, tmp_path):
    """A store of two documents in `.foveate`."""
    (tmp_path / "manual").mkdir()
    (tmp_path / "manual" / "boiler.md").write_text("# Boiler\n\nKeep it between one and two bar.\n")
    (tmp_path / "manual" / "pump.md").write_text("# Pump\n\nIt starts at one bar.\n")
    assert run("index", "manual", "--embedder", "hashing").code == 0
    return tmp_path / ".foveate"


def test_documents_are_listed_and_deleted(run, indexed):
    """F2: by their ids; where one is not there, nothing is deleted."""
    names = ["manual/boiler.md", "manual/pump.md"]
    assert run("store", "list").out.splitlines() == names
    assert run("store", "list", "--json").json["documents"] == names

    refused = run("store", "delete", names[0], "manual/pumps.md")
    assert refused.code == 3
    assert "there is no document 'manual/pumps.md'" in refused.err
    assert run("store", "list").out.splitlines() == names

    assert run("store", "delete", names[0], names[0], "--json").json["deleted"] == names[:1]
    assert run("store", "list").out.splitlines() == names[1:]
    assert "boiler" not in run("search", "pressure of the boiler").out


def test_stats_show_what_is_there(run, indexed):
    """F2: figures for people, and the same as one JSON object."""
    record = run("store", "stats", "--json").json
    assert list(record) == [
        *("store", "documents", "chunks", "vectors", "embedder", "dimensions", "schema"),
        *("state_root", "bytes"),
    ]
    assert (record["documents"], record["chunks"], record["vectors"]) == (2, 2, 2)

    ran = run("store", "stats")
    assert (ran.code, ran.err) == (0, "")
    assert "documents   2" in ran.out
    assert "on disk: " in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    assert run("store", "stats", "--principal", "x", "--json").json["bytes"] == {}


def test_check_ends_with_3_where_something_is_wrong(run, indexed):
    """F2, T5: each finding on stdout by its part; the exit code tells a script."""
    ran = run("store", "check")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("whole: 2 documents, 2 chunks, state root ")
    record = run("store", "check", "--json").json
    assert (record["ok"], record["findings"]) == (True, [])

    with closing(sqlite3.connect(indexed / "store.db")) as connection, connection:
        connection.execute("DELETE FROM postings WHERE term >= 'a'")
    ran = run("store", "check")
    assert (ran.code, ran.err) == (3, "")
    assert ran.out.startswith("words: the places of ")
    assert ran.out.endswith("findings in 2 documents, 2 chunks\n")
    ran = run("store", "check", "--json")
    record = json.loads(ran.out)
    assert (ran.code, record["ok"], record["findings"][0]["part"]) == (3, False, "words")


def test_a_backup_is_opened_like_a_store(run, indexed):
    """F2, T5: the copy is checked and searched by name; a second one to the same place is not."""
    ran = run("store", "backup", "copy")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("copied to copy: ")
    root = run("store", "stats", "--json").json["state_root"]
    assert run("store", "check", "--store", "copy", "--json").json["state_root"] == root

    ran = run("store", "backup", "copy")
    assert ran.code == 3
    assert "is there already; name a new folder" in ran.complaint
    record = run("store", "backup", "other", "--json").json
    assert list(record) == ["store", "copy", "bytes"]
    assert record["bytes"] > 0


def test_compact_says_what_it_gave_back(run, indexed):
    """F2: bytes before and after."""
    record = run("store", "compact", "--json").json
    assert record["bytes_before"] >= record["bytes_after"] > 0
    assert " before, " in run("store", "compact").out


@pytest.mark.parametrize(
    "words", [("store", "stats"), ("store", "check"), ("store", "compact"), ("assemble", "Why?")]
)
def test_where_no_store_is_none_is_made(run, tmp_path, words):
    """T1, X1, X2: one line, exit code 3, and an empty folder stays empty."""
    ran = run(*words, "--store", "missing")
    assert ran.code == 3
    assert "no store in 'missing'" in ran.complaint
    assert run("store", "backup", "copy", "--store", "missing").code == 3
    assert run(*words, "--store", "postgress:x").code == 2
    assert list(tmp_path.iterdir()) == []

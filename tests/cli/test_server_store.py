"""The commands with a store on a real server."""

from __future__ import annotations

import pytest

PASSWORD = "s3cr-t%2Fpw"


@pytest.fixture
def url(new_schema, tmp_path, run) -> str:
    """A store of two documents on the server, its URL with a password in it."""
    (tmp_path / "manual").mkdir()
    (tmp_path / "manual" / "boiler.md").write_text("# Boiler\n\nKeep it between one and two bar.\n")
    (tmp_path / "manual" / "pump.md").write_text("# Pump\n\nIt starts at one bar.\n")
    named = new_schema().replace("postgres@", f"postgres:{PASSWORD}@", 1)
    ran = run("index", "manual", "--embedder", "hashing", "--store", named)
    assert (ran.code, ran.err) == (0, "")
    assert "2 added" in ran.out
    assert PASSWORD not in ran.out
    return named


def test_a_store_on_a_server_is_indexed_searched_and_assembled(run, url):
    """T1, F2: the same commands, the store chosen by URL; only what changed is read again."""
    again = run("index", "manual", "--embedder", "hashing", "--store", url, "--json").json
    assert (again["added"], again["unchanged"]) == (0, 2)
    assert again["store"].startswith("postgresql://postgres@/postgres?")

    found = run("search", "--query", "When does the pump start?", "--store", url, "--json").json
    assert found["exact"]
    assert found["candidates"][0]["document_id"].endswith("pump.md")
    ran = run("assemble", "--query", "When does the pump start?", "--store", url, "--budget", 500)
    assert (ran.code, "It starts at one bar." in ran.out) == (0, True)


def test_a_store_on_a_server_is_looked_after(run, url):
    """T1, F2: figures, check and compaction work; a copy is the server's to make."""
    folder = run("index", "manual", "--embedder", "hashing", "--json").json
    record = run("store", "stats", "--store", url, "--json").json
    assert (record["documents"], record["chunks"], record["vectors"]) == (2, 2, 2)
    assert record["state_root"] == folder["state_root"]
    assert sum(record["bytes"].values()) > 0
    assert run("store", "check", "--store", url).out.startswith("whole: 2 documents, 2 chunks")
    assert run("store", "compact", "--store", url, "--json").json["bytes_after"] > 0
    ran = run("store", "backup", "copy", "--store", url)
    assert ran.code == 2
    assert "pg_dump --format=custom --schema=test" in ran.complaint


@pytest.mark.parametrize(
    "command",
    [
        ("store", "stats"),
        ("store", "stats", "--json"),
        ("store", "check", "--json"),
        ("store", "compact", "--json"),
        ("store", "backup", "copy"),
        ("search", "--query", "pump", "--json"),
        ("assemble", "--query", "pump", "--json"),
    ],
)
def test_a_password_is_never_printed(run, url, command):
    """T1, X1: neither in what is printed nor in errors, where the server or the store is wrong."""
    wrong = (
        url,
        url.replace("schema=", "schema=not"),
        url.replace("host=", "host=/nowhere"),
        url.replace("schema=", "pool=0&schema="),
        url.replace("@/postgres", "@local host:12/postgres"),
        url.replace("@/", "@[::/"),
        url.replace("?host", "?nonsense=1&host"),
    )
    for each in wrong:
        ran = run(*command, "--store", each)
        assert (ran.code == 0) == (each == url and "backup" not in command), each
        for secret in (PASSWORD, "s3cr", "pw@"):
            assert secret not in ran.out + ran.err, (command, each)

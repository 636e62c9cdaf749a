"""`foveate index` and `search`, and `assemble` from a store."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from command_line import Ran, on_terminal
from foveate.core.errors import BadOption, MissingExtra
from foveate.pipeline import store_with_embedder

PAGES = {
    "boiler.md": "# Boiler\n\nThe boiler holds forty litres of water.\n\n## Pressure\n\n"
    "Keep the pressure between one and two bar. Above three bar the valve opens.\n",
    "pump.md": "# Pump\n\nThe pump starts at one bar. Clean its filter every spring.\n",
    "attic/roof.txt": "The roof is of slate. A loose slate is nailed before the winter.\n",
}
HASHING = ("--embedder", "hashing")  # needs no weights, so most of these tests are quick


@pytest.fixture
def manual(tmp_path) -> Path:
    """A small folder of documents."""
    for name, text in PAGES.items():
        path = tmp_path / "manual" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "manual"


@pytest.fixture
def indexed(run, manual) -> Ran:
    """The folder's store, in the default place."""
    return run("index", manual, *HASHING)


def counts(ran: Ran) -> tuple[int, ...]:
    """What a run says it did."""
    return tuple(ran.json[name] for name in ("added", "updated", "unchanged", "deleted"))


def test_only_what_changed_is_written_again(run, manual):
    """T2, F2: added, then unchanged, then updated and deleted, as the files are."""
    index = ["index", manual, "--store", "s", *HASHING, "--json"]

    first = run(*index)
    again = run(*index)
    (manual / "pump.md").write_text("# Pump\n\nThe pump is new.\n", encoding="utf-8")
    (manual / "boiler.md").unlink()
    changed = run(*index)

    assert counts(first) == (3, 0, 0, 0)
    assert counts(again) == (0, 0, 3, 0)
    assert again.json["chunks"] == 0
    assert counts(changed) == (0, 1, 1, 1)
    assert first.json["state_root"] == again.json["state_root"] != changed.json["state_root"]


def test_the_report_is_the_same_in_words(run, manual, indexed):
    """F2: without --json one line says what was done, and nothing is on stderr."""
    assert indexed.code == 0
    assert indexed.out == (
        "3 added, 0 updated, 0 unchanged, 0 deleted; 3 chunks written to .foveate\n"
    )
    assert indexed.err == ""


def test_bad_files_are_reported_and_the_rest_go_on(run, manual):
    """T2, X2: a broken file is named with its reason; the run is ok."""
    (manual / "broken.md").write_bytes(b"\0\1\2" * 50)
    (manual / "photo.png").write_bytes(b"\x89PNG")

    said = run("index", manual, *HASHING)
    record = run("index", manual, *HASHING, "--json").json

    assert said.code == 0
    assert "1 failed:\n  manual/broken.md: " in said.out
    assert "1 skipped:\n  manual/photo.png: " in said.out
    assert [failure["path"] for failure in record["failed"]] == ["manual/broken.md"]
    assert [failure["path"] for failure in record["skipped"]] == ["manual/photo.png"]
    assert record["unchanged"] == 3


def test_a_store_of_another_embedder_is_refused(run, manual, indexed, monkeypatch):
    """X1, T6: vectors of two models are never mixed, at writing or at reading."""
    ran = run("index", manual)

    assert ran.code == 2
    assert "holds vectors of 'hashing-256@1'" in ran.complaint
    with pytest.raises(BadOption, match="installed is 'hashing-256@1'"):
        store_with_embedder.load_recorded_embedder("hashing-256@0")
    assert store_with_embedder.load_recorded_embedder("") is None


def test_a_missing_package_is_5_with_the_install_line(run, manual, monkeypatch):
    """X1, F2: without the extra, `index` says what to install."""

    def missing(_: str) -> None:
        raise MissingExtra("wordllama", "local")

    monkeypatch.setattr("foveate.providers.embedders.load_embedder", missing)

    ran = run("index", manual)

    assert ran.code == 5
    assert "pip install 'foveate[local]'" in ran.complaint


def test_search_finds_by_words_and_meaning(run, indexed):
    """T4, I2, F2: how it found, what and where, best first, as lines that --chunks takes."""
    ran = run("search", "--query", "valve pressure", "--store", ".foveate", "--json")
    record = ran.json

    assert list(record) == ["query", "badge", "lexical_matches", "exact", "candidates"]
    assert record["badge"] == "hybrid"
    assert record["lexical_matches"] == 1
    assert record["candidates"][0]["source"] == "manual/boiler.md"
    assert all("embedding" not in candidate for candidate in record["candidates"])
    lines = "".join(json.dumps(candidate) + "\n" for candidate in record["candidates"])
    ran = run("assemble", "--query", "valve pressure", "--chunks", "-", stdin=lines.encode())
    assert (ran.code, "Keep the pressure" in ran.out) == (0, True)


def test_search_limits_and_reads_well(run, indexed):
    """F2: --limit is the most that is found; the lines fit the terminal."""
    ran = run("search", "--query", "the", "--limit", "2")
    lines = ran.out.splitlines()

    assert ran.code == 0
    assert lines[0].startswith("2 found (")
    assert max(map(len, lines)) <= 80


def test_the_limit_cuts_and_decides_nothing_else(run, tmp_path):
    """T4: 50 and 50 are looked at whatever the limit is, so a short list begins a long one."""
    rows = ({"id": f"r{n}", "text": f"Gate {n} " + "gate " * (n % 9)} for n in range(130))
    (tmp_path / "gates.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in rows))
    run("index", "gates.jsonl", *HASHING)
    ask = ["search", "--query", "gate", "--json", "--limit"]

    records = {limit: run(*ask, limit).json for limit in (3, 50, 100)}
    found = {limit: [c["id"] for c in r["candidates"]] for limit, r in records.items()}

    assert [len(found[3]), len(found[50])] == [3, 50]
    assert found[100][:50] == found[50]
    assert found[100][:3] == found[3]
    assert {r["lexical_matches"] for r in records.values()} == {50}
    assert run(*ask, "101").code == 2


def test_assemble_from_a_store(run, indexed):
    """T1, F1, F2: a store's context names the store's state and replays without the store."""
    root = run("index", "manual", *HASHING, "--json").json["state_root"]
    ask = ["assemble", "--query", "valve pressure", "--store", ".foveate"]

    ran = run(*ask, "--json", "--bundle", "b.json")
    shutil.rmtree(".foveate")

    assert ran.code == 0
    assert ran.json["manifest"]["state_root"] == root
    assert ran.json["blocks"][0]["source"] == "manual/boiler.md"
    assert run("replay", "b.json").out == "identical\n"


def test_restricted_documents_are_found_by_those_who_may(run, tmp_path):
    """I4, D3, F2: --principal opens what is restricted, for search and assemble alike."""
    rows = [
        {"id": "open", "text": "The gate opens at eight in the morning, every day of the week."},
        {"id": "shut", "text": "The gate code is 4711, for the staff.", "principals": ["staff"]},
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "gate.jsonl").write_text(lines, encoding="utf-8")
    run("index", "gate.jsonl", *HASHING)

    for words in (["search"], ["assemble", "--store", ".foveate", "--json"]):
        anybody = run(*words, "--query", "gate code")
        staff = run(*words, "--query", "gate code", "--principal", "staff")

        assert "4711" not in anybody.out
        assert "shut" not in anybody.out
        assert "4711" in staff.out


def test_the_two_commands_of_the_first_screen(run, manual):
    """F2, T6: index and assemble with the default embedder, offline, in two commands."""
    first = run("index", "manual")
    second = run("assemble", "--query", "When does the valve open?", "--store", ".foveate")

    assert (first.code, second.code) == (0, 0)
    assert "Above three bar the valve opens." in second.out


def test_progress_is_shown_on_a_terminal_only(manual, tmp_path):
    """F2, T2: how many, and the time left, are on a terminal's stderr; stdout is as in a pipe."""
    out, shown = on_terminal(tmp_path, "index", "manual", *HASHING)

    assert out.startswith("3 added, ")
    assert "\x1b" not in out
    assert "3/3" in shown
    assert re.search(r"\d\d:\d\d", shown)

"""`foveate diagnose`, on a store of files that have changed since."""

from __future__ import annotations

import json

import pytest

from golden_cases import FILE

OLD = "The night ferry to the island is suspended until further notice from the harbour."
NEW = "The night ferry to the island sails again every Friday evening at ten from pier four."


@pytest.fixture
def dataset(tmp_path):
    """One question, without candidates, about a file that has changed since it was indexed."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "ferry.md").write_text(f"# Ferry\n\n{OLD}\n", encoding="utf-8")
    evidence = {"doc_id": "docs/ferry.md", "start": 0, "end": 1, "text": NEW, "chunk_ids": []}
    record = {
        "id": "f1",
        "dataset": "own",
        "question": "When does the ferry sail?",
        "answers": [],
        "gold_doc_ids": [],
        "evidence": [evidence],
    }
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return path


def test_a_store_that_is_behind_its_folder(run, dataset, tmp_path):
    """E4, F2: the evidence stands in the file by now, and not in the store."""
    docs = dataset.parent / "docs"
    assert run("index", docs, "--store", "s").code == 0
    (docs / "ferry.md").write_text(f"# Ferry\n\n{NEW}\n", encoding="utf-8")
    ran = run("diagnose", "--dataset", dataset, "--store", "s", "--folder", docs, "--json")
    assert (ran.code, ran.err) == (0, "")
    record = json.loads(ran.out)
    assert [one["layer"] for one in record["verdicts"]] == ["index freshness"]
    table = run("diagnose", "--dataset", dataset, "--store", "s")
    assert "1 of 1 questions lost something" in table.out
    assert "evaluation gap" in table.out  # without the folder nobody knows better
    assert "What to try\n\n  evaluation gap  mend the golden set" in table.out
    assert "\n  own f1  evaluation gap: docs/ferry.md does not say it" in table.out
    assert max(map(len, table.out.splitlines())) <= 80
    assert run("index", docs, "--store", "s").code == 0
    mended = run("diagnose", "--dataset", dataset, "--store", "s", "--folder", docs)
    assert mended.out.startswith("0 of 1 questions")


def test_a_file_that_cannot_be_read_is_passed_over(run, dataset):
    """E4, X2: nothing is known of that document; one that is new in the folder is said to be."""
    docs = dataset.parent / "docs"
    (docs / "other.md").write_text("# Other\n\nA text.\n", encoding="utf-8")
    record = json.loads(dataset.read_text())
    broken = {**record, "id": "f2", "evidence": [{"doc_id": "docs/broken.pdf", "text": NEW}]}
    dataset.write_text(f"{json.dumps(record)}\n{json.dumps(broken)}\n")
    (docs / "ferry.md").unlink()
    assert run("index", docs, "--store", "s").code == 0
    (docs / "ferry.md").write_text(f"# Ferry\n\n{NEW}\n", encoding="utf-8")
    (docs / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    ran = run("diagnose", "--dataset", dataset, "--store", "s", "--folder", docs, "--json")

    assert (ran.code, ran.err) == (0, "")
    assert [(one["layer"], one["detail"]) for one in json.loads(ran.out)["verdicts"]] == [
        ("index freshness", "docs/ferry.md was not indexed yet"),
        ("evaluation gap", "docs/broken.pdf is not in the store"),
    ]


@pytest.mark.parametrize("flag", ["--answers", "--sessions"])
def test_what_is_of_no_case_is_refused(run, tmp_path, flag):
    """E4, X1: it would be passed over without a word."""
    notes = tmp_path / "notes.jsonl"
    notes.write_text('{"id": "nobody", "answer": "x", "turns": []}\n', encoding="utf-8")
    ran = run("diagnose", "--dataset", FILE, flag, notes)

    assert (ran.code, ran.out) == (3, "")
    assert "none of its ids is a case's, such as 'nobody'; use those of --dataset" in ran.err
    assert "notes.jsonl" in ran.err


@pytest.mark.parametrize(
    ("flag", "line", "said"),
    [
        ("answers", '{"id": 1, "answer": "x"}', "field 'id': must be a string"),
        ("answers", "[1]", "must be an object, not list"),
        ("answers", '{"id": "a"}', "field 'answer': is missing"),
        ("answers", "{", "notes.jsonl"),
        ("sessions", '{"id": "a", "turns": "x"}', "turns"),
        ("sessions", '{"id": "a", "turns": [1]}', "turns"),
        ("sessions", '{"id": "a", "turns": [{"tokens": -1}]}', "tokens"),
        ("sessions", '{"id": "a", "turns": [{"tokens": 1, "chunk_ids": "a"}]}', "chunk_ids"),
    ],
)
def test_notes_that_are_none_are_refused(run, tmp_path, flag, line, said):
    """E4, X2: with the file and the line, before any work."""
    notes = tmp_path / "notes.jsonl"
    notes.write_text(f"\n{line}\n", encoding="utf-8")
    ran = run("diagnose", "--dataset", FILE, f"--{flag}", notes)
    assert ran.code == 3
    assert said in ran.err
    assert "notes.jsonl" in ran.err
    assert "line 2" in ran.err

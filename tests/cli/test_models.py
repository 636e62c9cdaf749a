"""Models by name, in every command that asks one: what is missing is said before the work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CASE = {
    "id": "q1",
    "dataset": "farm",
    "question": "How deep is the well?",
    "answers": [],
    "chunks": [{"id": "w", "doc_id": "w", "text": "Nine metres deep.", "score": 1.0}],
    "evidence": [{"doc_id": "w", "text": "Nine metres deep."}],
}


@pytest.mark.parametrize(
    "words",
    [
        ("eval", "--dataset", "farm.jsonl", "--out", "out"),
        ("index", "docs", "--embedder", "hashing", "--summaries"),
    ],
)
def test_a_key_that_is_missing(run, words, monkeypatch):
    """X1, F8: exit code 5 and one line that names the variable; nothing was done or made."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    Path("farm.jsonl").write_text(json.dumps(CASE) + "\n")
    Path("docs").mkdir()
    Path("docs/well.md").write_text("The well is nine metres deep.\n")
    before = sorted(Path().rglob("*"))

    done = run(*words, "--model", "openai:gpt-4.1-mini")

    assert (done.code, done.out) == (5, "")
    assert "no key; set OPENAI_API_KEY" in done.err
    assert sorted(Path().rglob("*")) == before

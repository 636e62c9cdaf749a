"""JSON Lines: a document a line, a reason for each line that is none."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from foveate.core.errors import BadInput
from foveate.ingest.loaders.jsonl import load_jsonl
from foveate.ports import LoadedDocument

PATH = Path("data/rows.jsonl")


def test_all_fields() -> None:
    """T2: known keys become fields, others metadata."""
    row = {
        "text": "Boil water.\u2028Wait.",
        "id": "tea-1",
        "title": "Tea",
        "summary": "On tea",
        "source": "https://example.org/tea",
        "modified_at": "2026-03-01T10:00:00Z",
        "principals": ["staff"],
        "metadata": {"a": 1},
        "shelf": 3,
    }
    (loaded,) = load_jsonl((json.dumps(row, ensure_ascii=False) + "\n").encode(), PATH)
    assert isinstance(loaded, LoadedDocument)
    assert (loaded.id, loaded.title, loaded.summary) == ("tea-1", "Tea", "On tea")
    assert (loaded.text, loaded.source) == (row["text"], row["source"])
    assert loaded.modified_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert loaded.principals == ("staff",)
    assert loaded.metadata == {"a": 1, "shelf": 3}
    assert loaded.sections[0].row == 1


def test_bad_lines_do_not_cost_the_others() -> None:
    """X2, X6: a line that is not usable is told with its number; each line is read by itself."""
    data = b'{"text": "a"}\n\nnonsense\r\n{"text": "b", "id": "x"}\r\n'
    found = load_jsonl(data, PATH)
    first, (second, third) = next(found), found
    assert isinstance(first, LoadedDocument)
    assert isinstance(third, LoadedDocument)
    assert (first.id, third.id) == ("#1", "x")
    assert isinstance(second, BadInput)
    assert second.line == 3
    assert str(second).startswith("line 3: not JSON: Expecting value at character 1;")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "line 1: must be an object, not list"),
        ("{}", "line 1, field 'text': missing"),
        ('{"text": 3}', "line 1, field 'text': must be a string, not int"),
        ('{"text": null}', "line 1, field 'text': missing"),
        ('{"text": "a", "id": 3}', "line 1, field 'id': must be a string"),
        ('{"text": "a", "principals": "x"}', "line 1, field 'principals': must be a list"),
        ('{"text": "a", "modified_at": "soon"}', "line 1, field 'modified_at': 'soon' is no ISO"),
        ('{"text": "a", "metadata": []}', "line 1, field 'metadata': must be an object"),
        ('{"text": "\\ud800"}', "line 1: a lone surrogate"),
        ('{"text": "a", "n": NaN}', "line 1: NaN and Infinity are no JSON numbers"),
        ('{"text": "a", "n": 1e999}', "line 1: NaN and Infinity are no JSON numbers"),
        ('{"principals": ["b"], "text": "a", "principals": []}', "line 1: the key 'principals'"),
        ('{"text": "a", "metadata": {"k": 1, "k": 2}}', "line 1: the key 'k' comes twice"),
        ('{"text": "a",}', "line 1: not JSON: "),
        ('{"text": "a", "n": 1' + "0" * 5000 + "}", "line 1: not JSON: "),
        ("[" * 100_000, "line 1: not JSON: "),
    ],
)
def test_reasons(line: str, reason: str) -> None:
    """X2: the error names the line, the field, and what is wrong."""
    (error,) = load_jsonl(line.encode(), PATH)
    assert isinstance(error, BadInput)
    assert str(error).startswith(reason)
    assert str(error).count("line 1") == 1

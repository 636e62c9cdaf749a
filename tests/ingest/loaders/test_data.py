"""JSON, YAML, TOML, source code and notebooks as documents with sections."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from documents import read
from foveate.core.errors import BadInput
from foveate.ingest.loaders.jsonl import load_jsonl
from foveate.ports import LoadedDocument

ROWS = [{"id": f"A-{n}", "state": "open", "note": "call before delivery"} for n in range(40)]


@pytest.mark.parametrize("indent", [None, 2])
def test_records_of_json_have_their_path_and_number(indent: int | None) -> None:
    """T2: each list counts its own; the text is the file's."""
    data = json.dumps({"page": {"at": 1}, "data": {"new": ROWS, "old": ROWS}}, indent=indent)
    loaded = read("a.json", data)
    sections = loaded.sections

    assert loaded.text == data
    assert [(s.path, s.row) for s in (sections[0], sections[39], sections[40])] == [
        ("data > new", 1),
        ("data > new", 40),
        ("data > old", 1),
    ]
    assert all("A-" in data[s.start : s.end] for s in sections)
    assert all(data[s.end : t.start].strip(" \n,") == "" for s, t in pairwise(sections[:40]))
    assert indent is None or data[sections[1].start :].startswith(" ")


@pytest.mark.parametrize("indent", [None, 2])
def test_records_of_a_short_list_have_their_number(indent: int | None) -> None:
    """T2, U1: as those of a long one; an object with a list in it is one record."""
    few = [{"id": f"A-{n}", "n": n} for n in range(3)]
    loaded = read("a.json", json.dumps(few, indent=indent))
    record = read("b.json", json.dumps({"id": "B", "of": few}))

    assert [section.row for section in loaded.sections] == [1, 2, 3]
    assert not record.sections


def test_records_of_yaml_have_their_path_and_number() -> None:
    """T2: the items of a list."""
    text = "shop:\n  parts:\n" + "".join(f"  - id: A-{n}\n    state: open\n" for n in range(40))
    loaded = read("a.yaml", text)

    assert {(s.path, s.row) for s in loaded.sections} == {("shop > parts", n) for n in range(1, 41)}


def test_tables_of_settings_are_sections() -> None:
    """T2: TOML and its like."""
    text = 'name = "weir"\n\n[gate.upper]\nwidth = 3\n\n[[keeper]]\nname = "Ada"\n'
    loaded = read("a.toml", text)

    assert [s.path for s in loaded.sections] == ["gate.upper", "keeper"]
    assert loaded.text[slice(loaded.sections[0].start, loaded.sections[0].end)].endswith("3\n\n")


@pytest.mark.parametrize(
    "data", [b'{"a": [1, 2', b"", b"just words", b"[" * 9_999, b"\xff\xfe{\x00"]
)
def test_broken_data_is_text(data: bytes) -> None:
    """X2: nothing is lost, and nothing is read twice."""
    assert list(read("a.json", data).sections) == []


def test_lines_of_any_keys_are_records() -> None:
    """T2: a line without a text is its own text; its number is its row."""
    data = "\n".join(map(json.dumps, ROWS))
    found = list(load_jsonl(data.encode(), Path("a.jsonl")))

    assert all(isinstance(one, LoadedDocument) for one in found)
    assert [one.text for one in found] == data.splitlines()
    assert [one.sections[0].row for one in found] == list(range(1, 41))


PYTHON = """
import a

class Weir:
    size = 3

    def open(self):
        go()

    async def shut(self):
        go()

last = 1

def run():
    go()
"""
SCRIPT = """
export class Weir {
  public open(a: number) {
    go();
  }
}

export function run() {
  go();
}
"""
CODE = {
    "weir.py": (PYTHON, ["Weir", "Weir > open", "Weir > shut", "run"]),
    "weir.ts": (SCRIPT, ["Weir", "Weir > open", "Weir", "run"]),
    "weir.go": ("package weir\n\nfunc (w *Weir) Open() {\n\tgo()\n}\n", ["weir", "Open"]),
    "weir.rs": ("impl Weir {\n    pub fn open() {\n    }\n}\n", ["Weir", "Weir > open", "Weir"]),
}


@pytest.mark.parametrize("name", CODE)
def test_definitions_are_sections_by_their_qualified_names(name: str) -> None:
    """T2: by indentation, in several languages; the text is the file's."""
    text, paths = CODE[name]
    loaded = read(name, text)

    assert loaded.text == text
    assert [section.path for section in loaded.sections] == paths
    ends = [section.end for section in loaded.sections]
    assert all(a.start < a.end for a in loaded.sections)
    assert all(end <= b.start for end, b in zip(ends, loaded.sections[1:], strict=False))


def test_notebook_has_texts_code_and_printed_results() -> None:
    """T2: with the sections of its headings; a long result is cut, and says so."""
    cells = [
        {"cell_type": "markdown", "source": ["# Weirs\n", "The gate is old."]},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "text": ["one\n", "two"]},
                {"output_type": "execute_result", "data": {"text/plain": "x" * 5_000}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no gate"},
                {"output_type": "display_data", "data": {"image/png": "abc"}},
            ],
        },
    ]
    book = {"cells": cells, "metadata": {"language_info": {"name": "python"}}}
    loaded = read("a.ipynb", json.dumps(book))

    assert loaded.title == "Weirs"
    assert "```python\nprint(1)\n```\n\n```\none\ntwo\n```" in loaded.text
    assert "[cut]" in loaded.text
    assert "ValueError: no gate" in loaded.text
    assert loaded.sections[0].path == "Weirs"


@pytest.mark.parametrize("data", [b"{}", b"[1]", b'{"cells": 3}', b"no JSON", b"[" * 99_999])
def test_what_is_no_notebook_is_refused(data: bytes) -> None:
    """X2: and says why."""
    with pytest.raises(BadInput, match="no notebook"):
        read("a.ipynb", data)


def test_cells_of_another_kind_are_passed_over() -> None:
    """X2: the rest is read."""
    assert read("a.ipynb", '{"cells": [3, {}, {"source": "hi"}]}').text == "hi"

"""`make demo`, end to end: the real documents, the real embedder, an 80-column terminal."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from pydoc_data.topics import topics

import pytest
from rich.cells import cell_len

from source_tree import PACKAGE, ROOT


def demo(folder: Path, expect: int = 0, **environment: str) -> str:
    """What the demo prints, run in a folder of its own; nothing else may be said."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py")],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={"PYTHONPATH": str(PACKAGE.parent), "COLUMNS": "80", "LC_ALL": "C", **environment},
    )
    assert done.returncode == expect, done.stderr
    if expect:
        return done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """Where the demo writes; the second run finds what the first made."""
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def first(place) -> str:
    """The first run, cold."""
    return demo(place)


def test_the_demo_tells_the_whole_story(first):
    """F2, T2, D7: documents, index, and for each question context, trace, bar and citations."""
    assert f"{len(topics)} documents" in first
    assert f"{len(topics)} added, 0 updated, 0 unchanged, 0 deleted" in first
    assert f"0 added, 0 updated, {len(topics)} unchanged, 0 deleted" in first
    for part in ("The context, all of it", "Citations\n", "Shown\n", "Left out, the best 10"):
        assert first.count(part) == 2, part
    assert "likelier to ans" in first
    assert '__enter__()" method' in first
    assert len(first.splitlines()) <= 200


def test_the_demo_keeps_its_budget_and_its_word(first):
    """B1, D4: both contexts fit their 300 tokens, and both replay to the byte."""
    used = [int(found) for found in re.findall(r"(\d+) of 300 tokens \(\d+ %\), counted", first)]

    assert len(used) == 2
    assert all(200 < tokens <= 300 for tokens in used)
    assert first.count("\n  identical\n") == 2


def test_the_printed_commands_give_what_is_shown(first, place):
    """F2: the same context, citations and explanation."""
    environment = {"PYTHONPATH": str(PACKAGE.parent), "COLUMNS": "80", "LC_ALL": "C"}
    shown = first.split("\nQuestion ")[1:]

    for part in shown:
        printed = re.search(r"^  \$ foveate (.*?)\n\n", part, re.MULTILINE | re.DOTALL)
        assert printed is not None
        done = subprocess.run(
            [sys.executable, "-m", "foveate", *shlex.split(printed[1].replace("\\\n", " "))],
            cwd=place, env=environment, capture_output=True, encoding="utf-8", check=True,
        )  # fmt: skip
        context = "".join(re.findall(r"^  │(.*)$", part, re.MULTILINE))
        assert "".join(done.stdout.split()) == "".join(context.split())
        for name in ("Citations", "Shown", "Left out, the best 10 of \\d+"):
            section = re.search(rf"^{name}\n(?:  .*\n)+", part, re.MULTILINE)
            assert section is not None
            assert section[0] in done.stderr
    assert len(shown) == 2


def test_the_demo_fits_80_columns(first):
    """F2: no line is wider than the terminal, and none holds a control character."""
    assert max(map(cell_len, first.splitlines())) <= 80
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f]", first) is None


def test_a_second_run_finds_everything_done(first, place):
    """T2, D1: the second run writes nothing and prints the same contexts."""
    again = demo(place)

    assert again.count(f"0 added, 0 updated, {len(topics)} unchanged") == 2
    assert again.partition("Question 1")[2] == first.partition("Question 1")[2]


def test_another_folder_can_be_shown(tmp_path):
    """F2, X2: FOVEATE_DEMO_DOCS names a folder; questions come from its titles or the user.

    What an older version left in build/demo is no obstacle.
    """
    folder = tmp_path / "manual"
    folder.mkdir()
    (folder / "pump.md").write_text("# The pump\n\nIt starts at one bar. Clean it in spring.\n")
    (folder / "roof.md").write_text("# The roof\n\nThe roof is of slate.\n")

    derived = demo(tmp_path, FOVEATE_DEMO_DOCS="manual")
    (tmp_path / "build" / "demo" / "store-manual" / "store.db").write_bytes(b"something else")
    asked = demo(tmp_path, FOVEATE_DEMO_DOCS="manual", FOVEATE_DEMO_QUESTIONS="When is it clean?")

    assert "2 added" in derived
    assert "What is there to know about The pump?" in derived
    assert "What is there to know about The roof?" in derived
    assert max(map(cell_len, derived.splitlines())) <= 80
    assert "  When is it clean?\n" in asked
    assert "Question 2" not in asked
    assert "2 added" in asked
    assert "0 added, 0 updated, 2 unchanged" in asked


def test_a_folder_that_is_not_there_is_said(tmp_path):
    """X2: a wrong FOVEATE_DEMO_DOCS is one line, not a traceback."""
    said = demo(tmp_path, expect=1, FOVEATE_DEMO_DOCS="nowhere")

    assert said == "demo: no such file or folder: 'nowhere'\n"


def test_make_demo_runs_it():
    """F2: `make demo` needs the local packages alone and runs examples/demo.py."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    rule = re.search(r"^demo: (.*?) ##.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)

    assert rule is not None
    assert rule[1] == "$(VENV)/local.stamp"
    assert "examples/demo.py" in rule[2]

"""`foveate index --watch` on a real folder: each change is one line, and Ctrl-C ends it well."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SOURCES = Path(__file__).parents[2] / "src"


class Watching:
    """The program at work; `told` and `said` wait for its next line."""

    def __init__(self, at: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "foveate", "index", *words),
                *("--watch", "--embedder", "hashing", "--jobs", "1"),
            ],
            cwd=at,
            env={**os.environ, "PYTHONPATH": str(SOURCES), "COLUMNS": "90"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def told(self) -> str:
        """The next line of stdout."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def said(self) -> str:
        """The next line of stderr."""
        assert self.process.stderr is not None
        return self.process.stderr.readline().rstrip("\n")

    def run(self) -> dict[str, Any]:
        """The next object of stdout."""
        return dict(json.loads(self.told()))

    def ended(self) -> tuple[int, str, str]:
        """Ctrl-C: the exit code, and what else was written."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Two documents in two folders."""
    (tmp_path / "docs" / "sub").mkdir(parents=True)
    (tmp_path / "docs" / "a.md").write_text("# Tea\n\nBoil the water.\n")
    (tmp_path / "docs" / "sub" / "b.md").write_text("# Milk\n\nCold.\n")
    return tmp_path / "docs"


@pytest.fixture
def watching(tmp_path: Path, docs: Path) -> Iterator[Watching]:
    """The program, after its first run."""
    watching = Watching(tmp_path, "docs", "--json")
    assert watching.run()["added"] == 2
    assert watching.said() == "foveate: watching docs; Ctrl-C ends it"
    yield watching
    watching.process.kill()
    watching.process.communicate()


def _tally(run: dict[str, Any]) -> tuple[int, ...]:
    return tuple(run[name] for name in ("added", "updated", "unchanged", "deleted"))


def test_files_that_come_change_move_and_go(watching: Watching, docs: Path) -> None:
    """T2: each is a run of its own, in the order of the changes; Ctrl-C ends with 0."""
    (docs / "c.txt").write_text("Coffee.")
    assert _tally(watching.run()) == (1, 0, 2, 0)
    (docs / "a.md").write_text("# Tea\n\nBoil it twice.\n")
    assert _tally(watching.run()) == (0, 1, 2, 0)
    (docs / "a.md").rename(docs / "sub" / "z.md")
    assert _tally(watching.run()) == (1, 0, 2, 1)
    (docs / "sub" / "z.md").unlink()
    assert _tally(watching.run()) == (0, 0, 2, 1)
    assert watching.ended() == (0, "", "")


def test_folders_that_come_move_and_go(watching: Watching, docs: Path, tmp_path: Path) -> None:
    """T2: with all that is in them; a name with a dot is a folder like any other."""
    outside = tmp_path / "v1.2"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "d.md").write_text("deep")
    outside.rename(docs / "v1.2")
    assert _tally(watching.run()) == (1, 0, 2, 0)
    (docs / "v1.2" / "deep" / "d.md").write_text("deeper")
    assert _tally(watching.run()) == (0, 1, 2, 0)
    (docs / "sub").rename(docs / "other")
    assert _tally(watching.run()) == (1, 0, 2, 1)
    shutil.rmtree(docs / "v1.2")
    assert _tally(watching.run()) == (0, 0, 2, 1)


def test_what_editors_leave_is_no_change(watching: Watching, docs: Path) -> None:
    """T2: swap, backup and lock files tell nothing; a file saved by renaming is one update."""
    for name in (".a.md.swp", "a.md~", "#a.md#", "4913", ".#a.md", "a.md.tmp"):
        (docs / name).write_text("x")
        (docs / name).unlink()
    aside = docs / ".a.md.new"
    aside.write_text("# Tea\n\nSaved as editors do.\n")
    aside.rename(docs / "a.md")
    assert _tally(watching.run()) == (0, 1, 1, 0)


def test_thousands_of_changes_are_one_run(watching: Watching, docs: Path) -> None:
    """T2: a burst is waited for until it is over."""
    for i in range(2_000):
        (docs / "sub" / f"{i}.txt").write_text(f"Page {i}.")
    runs = [watching.run()]
    while runs[-1]["added"] + runs[-1]["unchanged"] < 2_002:
        runs.append(watching.run())
    assert sum(run["added"] for run in runs) == 2_000
    assert len(runs) <= 2  # one, unless the burst itself took longer than the longest wait


def test_a_folder_that_is_gone_keeps_its_documents(
    watching: Watching, docs: Path, tmp_path: Path
) -> None:
    """T2, X2: it is said, nothing is deleted, and when it is back all goes on."""
    docs.rename(tmp_path / "away")
    gone = watching.said()
    assert gone == "foveate: docs is gone: its documents stay in the store until it is back"
    (tmp_path / "away" / "a.md").write_text("# Tea\n\nChanged meanwhile.\n")
    (tmp_path / "away").rename(docs)
    assert watching.said() == "foveate: docs is back"
    assert _tally(watching.run()) == (0, 1, 1, 0)
    (docs / "a.md").write_text("# Tea\n\nAnd again.\n")
    assert _tally(watching.run()) == (0, 1, 1, 0)


def test_an_empty_folder_in_its_place_wipes_nothing(
    watching: Watching, docs: Path, tmp_path: Path
) -> None:
    """T2, X2: that is what a disk looks like that is not mounted."""
    docs.rename(tmp_path / "away")
    docs.mkdir()
    said = watching.said()
    if "is gone" in said:  # looked at between the two
        said = watching.said()
    assert said == "foveate: docs is empty: its documents stay in the store until it is back"
    docs.rmdir()
    (tmp_path / "away").rename(docs)
    (docs / "c.md").write_text("new")
    run = watching.run()
    assert (run["unchanged"], run["deleted"]) == (2, 0)


def test_a_bad_file_is_told_once(watching: Watching, docs: Path) -> None:
    """T2, X2: with its reason; it is looked at again at the next change, and told when it is well.

    The document that it was keeps its last good state.
    """
    (docs / "a.md").write_bytes(b"\0\1")
    run = watching.run()
    assert [each["path"] for each in run["failed"]] == ["docs/a.md"]
    (docs / "c.md").write_text("new")
    run = watching.run()
    assert _tally(run) == (1, 0, 1, 0)
    assert [each["path"] for each in run["failed"]] == ["docs/a.md"]
    (docs / "a.md").write_text("# Tea\n\nBoil the water.\n")
    run = watching.run()
    assert (_tally(run), run["failed"]) == ((0, 0, 3, 0), [])


def test_lines_for_a_person(tmp_path: Path, docs: Path) -> None:
    """F2: a line a run, also for a file given by itself."""
    watching = Watching(tmp_path, "docs/a.md")
    assert watching.told().startswith("1 added, 0 updated, 0 unchanged, 0 deleted; 1 chunk ")
    assert watching.said() == "foveate: watching docs/a.md; Ctrl-C ends it"
    aside = tmp_path / "aside"
    aside.write_text("# Tea\n\nReplaced as a whole.\n")
    aside.rename(docs / "a.md")
    assert watching.told().startswith("0 added, 1 updated, 0 unchanged, 0 deleted; 1 chunk ")
    code, out, err = watching.ended()
    assert (code, out, err) == (0, "", "")

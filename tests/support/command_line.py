"""Candidates and a reader of results that the command-line tests share."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from source_tree import PACKAGE

CHUNKS: list[dict[str, Any]] = [
    {"id": "c1", "source": "boiler.md", "sequence": 0, "score": 0.91, "page": 4,
     "text": "Keep the pressure between one and two bar. Above three bar the valve opens."},
    {"id": "c2", "source": "boiler.md", "sequence": 1, "score": 0.55, "page": 5,
     "text": "The boiler holds forty litres of water. Drain it before the first frost."},
    {"id": "c3", "source": "copy.md", "sequence": 0, "score": 0.80,
     "text": "Keep the pressure between one and two bar.  Above three bar the valve opens."},
    {"id": "c4", "source": "pump.md", "sequence": 0, "score": 0.74,
     "text": "The pump starts at one bar. Clean its filter every spring."},
    {"id": "c5", "source": "vault.md", "sequence": 0, "score": 0.12, "principals": ["staff"],
     "text": "The spare key of the tank room hangs behind the blue door of the office."},
]  # fmt: skip
"""One is a copy of another, one is for the staff alone."""

QUERY = "Which pressure is right?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a run of the program left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output, which must be one JSON object on one line."""
        assert self.out.count("\n") == 1, self.out[:500]
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """The one line it complained with; nothing else was printed."""
        assert self.out == ""
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1, self.err
        assert self.err.startswith("foveate: ")
        assert "Traceback" not in self.err
        return self.err.removeprefix("foveate: ").rstrip("\n")


def jsonl(records: Iterable[Mapping[str, Any]]) -> str:
    """One object a line."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def on_terminal(folder: Path, *words: str) -> tuple[str, str]:
    """The program in a folder with a terminal as stderr: its stdout, what the terminal saw."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "foveate", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=theirs,
        encoding="utf-8",
        env={"PYTHONPATH": str(PACKAGE.parent), "TERM": "xterm", "COLUMNS": "80"},
    ) as running:
        os.close(theirs)
        shown = b"".join(_until_it_ends(ours))
        said, _ = running.communicate()
    os.close(ours)
    assert running.returncode == 0
    return said, shown.decode()


def _until_it_ends(terminal: int) -> Iterator[bytes]:
    """What comes out of a terminal; it gives a few kilobytes at a time, and an error at the end."""
    with suppress(OSError):
        while piece := os.read(terminal, 100_000):
            yield piece

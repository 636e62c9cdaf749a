"""The program, run in this process in a folder of its own."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import CHUNKS, Ran, jsonl
from foveate.cli import main

Run = Callable[..., Ran]


@pytest.fixture
def run(capfd, monkeypatch, tmp_path) -> Run:
    """`run("assemble", "--query", "…")` in an empty folder, 80 columns wide; `stdin` is bytes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FOVEATE_DEBUG", raising=False)

    def start(*words: object, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capfd.readouterr()
        code = main([str(word) for word in words])
        sys.stdout.flush()
        sys.stderr.flush()
        said = capfd.readouterr()
        return Ran(code=code, out=said.out, err=said.err)

    return start


@pytest.fixture
def chunks(tmp_path) -> Path:
    """Five candidates as JSON Lines."""
    path = tmp_path / "chunks.jsonl"
    path.write_text(jsonl(CHUNKS), encoding="utf-8")
    return path

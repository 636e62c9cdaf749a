"""Pieces of a bulk ingest: bounds in bytes, without a cluster."""

from __future__ import annotations

import pickle
from pathlib import Path

from foveate.ingest.document_task import Preparer, Task
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.on_ray import PIECE_BYTES, PrepareRemotely
from foveate.ingest.prepare import Settings
from foveate.ingest.walk import File

LONG, ROWS = "n" * 50_000, 99
SETTINGS = Settings(
    size=40, overlap=0, language="en", fingerprint="words", embedder="", principals=()
)


class Words:
    """A tokenizer of words; says in a file that it was asked."""

    name = fingerprint = "words"

    def __init__(self, log: Path) -> None:
        self.log = log

    def count(self, text: str) -> int:
        """How many words."""
        with self.log.open("a") as file:
            file.write(text.partition(" ")[0] + "\n")
        return len(text.split())

    def truncate(self, text: str, n: int) -> str:
        """So many words."""
        return " ".join(text.split()[:n])


def task(path: Path) -> Task:
    """To read this file."""
    return Task(file=File(name=path.name, path=path, root="r"))


def test_a_file_of_many_documents_comes_in_pieces(tmp_path):
    """T2, X3: a piece is handed over while most of its file is still to be prepared."""
    path, log = tmp_path / "rows.jsonl", tmp_path / "log"
    rows = (
        f'{{"id": "r{i}", "text": "row{i} is long", "metadata": {{"note": "{LONG}"}}}}\n'
        for i in range(ROWS)
    )
    path.write_text("".join(rows))
    preparer = Preparer(settings=SETTINGS, tokenizer=Words(log), limits=Limits())

    pieces = PrepareRemotely(pickle.dumps(preparer))(task(path))
    first = next(pieces)
    asked = log.read_text()
    rest = list(pieces)

    ids = [pickle.loads(data).document.id for piece in (first, *rest) for data in piece]
    assert ids == [f"r{i}" for i in range(ROWS)]
    assert "row0\n" in asked
    assert f"row{ROWS - 1}\n" not in asked
    assert len(rest) > 2
    assert all(sum(map(len, piece)) <= PIECE_BYTES for piece in (first, *rest))

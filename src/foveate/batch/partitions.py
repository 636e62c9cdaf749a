"""Folders of partitions: which there are, what they are called when done, and which are done.

A partition is a `.jsonl` or a `.parquet` file; a name that begins with `_` or `.` is none, as
elsewhere. Its answers are a file of the same name. What was done is noted in `_foveate/` beside
them: the hashes of the requests and of the answers, and the version that made them, so that a
second run leaves alone what is whole. Not in the hashes is what a request names outside of itself
(a recipe's file, a tokenizer's file, a plugin).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from blake3 import blake3

from foveate._version import __version__
from foveate.batch.slices import Line
from foveate.batch.tables import SUFFIX, read_table, rows_in
from foveate.core.errors import BadInput, BadOption

__all__ = ["Files", "Note", "Partition", "hash_of", "is_table", "lines_of", "noted", "partitions"]

SUFFIXES = (".jsonl", SUFFIX)
WRITTEN = (".jsonl", ".ndjson", SUFFIX)
NOTES = "_foveate"
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """How lines are read, and files written whole or not at all."""

    lines: Callable[[str], Iterator[bytes]]
    written: Callable[[str], AbstractContextManager[IO[bytes]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """Where requests come from and where answers go. `note`: where it is noted that they did."""

    source: str
    target: str
    note: Path | None = None

    @property
    def name(self) -> str:
        """As one calls it: its file's name in a folder, the source otherwise."""
        return Path(self.source).name if self.note else self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What is known of a partition that is done."""

    requests: str
    answers: str
    contexts: int
    refused: int
    version: str = __version__

    def as_json(self) -> bytes:
        """One object on one line."""
        return (json.dumps(asdict(self)) + "\n").encode()


def partitions(source: str, target: str) -> tuple[Partition, ...]:
    """The partitions of a file or a folder, by name. Raises `BadInput` and `BadOption`."""
    folder, out = Path(source), Path(target)
    if not folder.is_dir():
        _refuse_form(out)
        return (Partition(source=source, target=target),)
    if target == "-" or out.is_file() or out.suffix in SUFFIXES:
        raise BadOption(f"--in is a folder, so --out must be one, not {target!r}")
    if _inside(out, folder) or _inside(folder, out):
        raise BadOption(f"{target}: one of the two folders is in the other; name another one")
    found = sorted(path for path in folder.iterdir() if not path.name.startswith(("_", ".")))
    for path in found:
        if path.suffix not in SUFFIXES or not path.is_file():
            raise BadInput(
                f"{path}: is no partition ({' or '.join(SUFFIXES)}); move it elsewhere, or let "
                f"its name begin with _"
            )
    if not found:
        raise BadInput(f"{source}: has no partitions ({' or '.join(SUFFIXES)})")
    return tuple(
        Partition(
            source=str(path),
            target=str(out / path.name),
            note=out / NOTES / f"{path.name}.json",
        )
        for path in found
    )


def _refuse_form(out: Path) -> None:
    """Raise `BadOption` for a file whose name promises another form than what would be in it."""
    named = out.suffix.lower()
    if named and named not in WRITTEN and (not out.exists() or out.is_file()):
        raise BadOption(
            f"{out}: answers are JSON Lines or Parquet; name a file {' or '.join(WRITTEN)}, or -"
        )


def _inside(inner: Path, outer: Path) -> bool:
    return inner.resolve().is_relative_to(outer.resolve())


def is_table(name: str) -> bool:
    """Whether it is Parquet, by its name."""
    return name.endswith(SUFFIX)


def lines_of(partition: Partition, files: Files) -> Iterator[Line]:
    """Its requests with their numbers; blank lines are passed over. Raises `BadInput`."""
    if is_table(partition.source):
        yield from read_table(partition.source)
        return
    for number, line in enumerate(files.lines(partition.source), 1):
        if line.strip():
            yield number, line


def requests_in(partition: Partition) -> int:
    """How many there are, about; 0 where that cannot be known before. Raises nothing."""
    try:
        if is_table(partition.source):
            return rows_in(partition.source)
        if not Path(partition.source).is_file():
            return 0
        with Path(partition.source).open("rb") as file:
            return sum(piece.count(b"\n") for piece in iter(lambda: file.read(_PIECE), b""))
    except (BadInput, OSError):
        return 0


def hash_of(path: str) -> str:
    """BLAKE3 of a file's bytes. Raises `BadInput`."""
    digest = blake3()
    try:
        with Path(path).open("rb") as file:
            for piece in iter(lambda: file.read(_PIECE), b""):
                digest.update(piece)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    return digest.hexdigest()


def noted(partition: Partition, requests: str) -> Note | None:
    """The note of a partition whose answers are there, whole, and of these very requests."""
    if partition.note is None:
        return None
    try:
        values: dict[str, Any] = json.loads(partition.note.read_bytes())
        note = Note(**values)
        whole = hash_of(partition.target) == note.answers
    except (OSError, ValueError, TypeError, BadInput):
        return None
    same = (note.requests, note.version) == (requests, __version__)
    return note if whole and same else None


def left_over(found: tuple[Partition, ...]) -> tuple[str, ...]:
    """Partitions that were done once and whose requests are gone; their answers still stand."""
    notes = next((partition.note.parent for partition in found if partition.note), None)
    if notes is None or not notes.is_dir():
        return ()
    now = {partition.note.name for partition in found if partition.note}
    gone = sorted(path.name for path in notes.glob("*.json") if path.name not in now)
    names = (name.removesuffix(".json") for name in gone)
    return tuple(name for name in names if (notes.parent / name).exists())

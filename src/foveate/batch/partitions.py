"""Folders of partitions, their answers, and which of them are done.

A partition is a `.jsonl` file without a leading `_` or `.`; its answers are a file of the same
name. A note in `_foveate/` holds the hashes of requests and answers and the version, so
that a second run leaves complete partitions alone. Files that a request names (recipe, tokenizer,
plugin) are not hashed.
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
from foveate.batch.requests import NumberedLine
from foveate.core.errors import BadInput, BadOption

SUFFIX = ".jsonl"
SUFFIXES = (SUFFIX, ".ndjson")
"""Of a single file of answers; a file of requests may have any but that of a table."""
TABLE_SUFFIX = ".parquet"
NOTES_FOLDER = "_foveate"
_READ_SIZE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAccess:
    """How lines are read, and files written whole or not at all."""

    read_lines: Callable[[str], Iterator[bytes]]
    open_atomic: Callable[[str], AbstractContextManager[IO[bytes]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A file of requests, its file of answers, and `note_path`, the note that it is done."""

    source: str
    target: str
    note_path: Path | None = None

    @property
    def name(self) -> str:
        """As one calls it: its file's name in a folder, the source otherwise."""
        return Path(self.source).name if self.note_path else self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionNote:
    """The note of a partition that is done: hashes of its two files, and what its answers are."""

    requests: str
    answers: str
    contexts: int
    refused: int
    too_small: int
    version: str = __version__

    def to_json(self) -> bytes:
        """One object on one line."""
        return (json.dumps(asdict(self)) + "\n").encode()


def partitions(source: str, target: str) -> tuple[Partition, ...]:
    """The partitions of a file or a folder, by name. Raises `BadInput` and `BadOption`."""
    folder, out = Path(source), Path(target)
    if not folder.is_dir():
        _check_suffixes(folder, out)
        return (Partition(source=source, target=target),)
    if target == "-" or out.is_file() or out.suffix == SUFFIX:
        raise BadOption(f"--in is a folder, so --out must be one, not {target!r}")
    if _is_inside(out, folder) or _is_inside(folder, out):
        raise BadOption(f"{target}: one of the two folders is in the other; name another one")
    found = sorted(path for path in folder.iterdir() if not path.name.startswith(("_", ".")))
    for path in found:
        if path.suffix != SUFFIX or not path.is_file():
            raise BadInput(
                f"{path}: is no partition ({SUFFIX}); move it elsewhere, or let its name begin "
                f"with _"
            )
    if not found:
        raise BadInput(f"{source}: has no partitions ({SUFFIX})")
    return tuple(
        Partition(
            source=str(path),
            target=str(out / path.name),
            note_path=out / NOTES_FOLDER / f"{path.name}.json",
        )
        for path in found
    )


def _check_suffixes(source: Path, out: Path) -> None:
    """Raise `BadInput` or `BadOption` for a name that promises another form than JSON Lines."""
    if source.suffix.lower() == TABLE_SUFFIX:
        raise BadInput(
            f"{source}: requests are JSON Lines; write each row as one JSON object on a line"
        )
    named = out.suffix.lower()
    if named and named not in SUFFIXES and (not out.exists() or out.is_file()):
        raise BadOption(f"{out}: answers are JSON Lines; name a file {' or '.join(SUFFIXES)}, or -")


def _is_inside(inner: Path, outer: Path) -> bool:
    return inner.resolve().is_relative_to(outer.resolve())


def read_requests(partition: Partition, files: FileAccess) -> Iterator[NumberedLine]:
    """Its requests with their numbers; blank lines are passed over. Raises `BadInput`."""
    for number, line in enumerate(files.read_lines(partition.source), 1):
        if line.strip():
            yield number, line


def count_requests(partition: Partition) -> int:
    """The approximate number of requests; 0 if unknown. Raises nothing."""
    try:
        if not Path(partition.source).is_file():
            return 0
        with Path(partition.source).open("rb") as file:
            return sum(piece.count(b"\n") for piece in iter(lambda: file.read(_READ_SIZE), b""))
    except OSError:
        return 0


def hash_file(path: str) -> str:
    """BLAKE3 of a file's bytes. Raises `BadInput`."""
    digest = blake3()
    try:
        with Path(path).open("rb") as file:
            for piece in iter(lambda: file.read(_READ_SIZE), b""):
                digest.update(piece)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    return digest.hexdigest()


def load_valid_note(partition: Partition, requests: str) -> CompletionNote | None:
    """The note of a partition whose answers are there, whole, and of these very requests."""
    if partition.note_path is None:
        return None
    try:
        values: dict[str, Any] = json.loads(partition.note_path.read_bytes())
        note = CompletionNote(**values)
        whole = hash_file(partition.target) == note.answers
    except (OSError, ValueError, TypeError, BadInput):
        return None
    same = (note.requests, note.version) == (requests, __version__)
    return note if whole and same else None


def find_orphaned_partitions(found: tuple[Partition, ...]) -> tuple[str, ...]:
    """Answers whose requests are gone."""
    notes = next((partition.note_path.parent for partition in found if partition.note_path), None)
    if notes is None or not notes.is_dir():
        return ()
    now = {partition.note_path.name for partition in found if partition.note_path}
    gone = sorted(path.name for path in notes.glob("*.json") if path.name not in now)
    names = (name.removesuffix(".json") for name in gone)
    return tuple(name for name in names if (notes.parent / name).exists())

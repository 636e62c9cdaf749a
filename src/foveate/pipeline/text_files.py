"""Files of a user, packed or not, as lines, text and TOML; errors are `BadInput` with the name."""

from __future__ import annotations

import gzip
import tomllib
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Any

from foveate.core.errors import BadInput


@contextmanager
def name_unreadable(name: str) -> Iterator[None]:
    """Errors of reading the file are `BadInput` with its name."""
    try:
        yield
    except FileNotFoundError:
        raise BadInput(f"{name}: no such file") from None
    except IsADirectoryError:
        raise BadInput(f"{name}: is a folder; name a file") from None
    except OSError as error:
        raise BadInput(f"{name}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: {_not_utf8(error)}") from None


def decode_line(line: bytes) -> str:
    """The line's text; raises `BadInput` without the file's name."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise BadInput(_not_utf8(error)) from None


def _not_utf8(error: UnicodeDecodeError) -> str:
    return f"not UTF-8 at byte {error.start + 1}; save it as UTF-8"


def read_text_file(path: str | Path, label: str = "") -> str:
    """The text of a UTF-8 file; `label`: how errors name it, if not by its path."""
    name = label or str(path)
    try:
        with name_unreadable(name):
            return Path(path).read_text(encoding="utf-8-sig")
    except BadInput:
        raise
    except ValueError as error:  # a zero character in the name
        raise BadInput(f"{name!r} cannot be read: {error}") from None


def read_toml_file(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        return tomllib.loads(read_text_file(path))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: not TOML: {error}") from None


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""A byte order mark, which may begin a file."""


def expand_patterns(names: Iterable[str]) -> list[str]:
    """The files of the names and patterns; those of a pattern sorted by name."""
    files: list[str] = []
    for name in names:
        if Path(name).exists() or not any(mark in name for mark in "*?["):
            files.append(name)
            continue
        matching = sorted(glob(name))  # noqa: PTH207  # Path.glob takes no absolute pattern
        if not matching:
            raise BadInput(f"{name}: no file matches this pattern")
        files += matching
    if not files:
        raise BadInput("no file is named; give one or more")
    return files


def read_lines(name: str) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines that are not blank; errors name the file and the line."""
    for number, line in _read_raw_lines(name):
        try:
            text = decode_line(line)
        except BadInput as error:
            raise BadInput(f"{name}: line {number}: {error}") from None
        yield number, text


def _read_raw_lines(name: str) -> Iterator[tuple[int, bytes]]:
    """(number, bytes) of the lines that are not blank, without byte order mark and ends."""
    with name_unreadable(name):
        try:
            with _open_file(name) as file:
                for number, line in enumerate(file, 1):
                    bare = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
                    if bare.strip():
                        yield number, bare.rstrip(b"\r\n")
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise BadInput(f"{name}: broken gzip ({error}); fetch the file again") from None


def _open_file(name: str) -> Any:
    """Open a file, unpacked if its first bytes are gzip's."""
    with Path(name).open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if not packed and name.endswith(".gz"):
        raise BadInput(f"{name}: not gzip, though its name says so; fetch the file again")
    return gzip.open(name, "rb") if packed else Path(name).open("rb")

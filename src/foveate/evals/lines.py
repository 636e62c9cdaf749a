"""Files, packed or not, as decoded lines; and the lines of a new one. Says what cannot be read."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from glob import glob
from pathlib import Path
from typing import Any, TypeVar

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput
from foveate.evals import fields

T = TypeVar("T")


def expanded(names: Iterable[str]) -> list[str]:
    """The files that the names and patterns stand for; a pattern's in the order of their names."""
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


def lines(name: str) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines that are not blank."""
    try:
        with _opened(name) as file:
            for number, line in enumerate(file, 1):
                text = _decoded(name, number, line)
                if text.strip():
                    yield number, text.rstrip("\r\n")
    except FileNotFoundError:
        raise BadInput(f"{name}: no such file") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise BadInput(f"{name}: broken gzip ({error}); fetch the file again") from None
    except OSError as error:
        raise BadInput(f"{name}: cannot be read: {error.strerror or error}") from None


def records(name: str, make: Callable[[Mapping[str, Any]], T]) -> Iterator[T]:
    """What is made of the objects of a file, one a line; errors name the file and the line."""
    for number, line in lines(name):
        try:
            made = make(fields.obj(parse_json(line), "", "a line is an object"))
        except BadInput as error:
            raise BadInput(f"{name}: line {number}: {error}") from None
        yield made


def whole_json(name: str) -> Any:
    """The one JSON value of a file."""
    text = "\n".join(line for _, line in lines(name))
    if not text:
        raise BadInput(f"{name}: is empty")
    try:
        return parse_json(text)
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None


def _decoded(name: str, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        where = f"line {number}: not UTF-8 at byte {error.start + 1}"
        raise BadInput(f"{name}: {where}; save it as UTF-8") from None


def _opened(name: str) -> Any:
    """By its first bytes, not by its name: what is fetched is often named otherwise."""
    with Path(name).open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if not packed and name.endswith(".gz"):
        raise BadInput(f"{name}: not gzip, though its name says so; fetch the file again")
    return gzip.open(name, "rb") if packed else Path(name).open("rb")

"""Reading what the user names and writing what the user asks for.

Rules: `-` is stdin or stdout; what cannot be read is `BadInput` and says why; what is written
appears whole or not at all.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from foveate.cli.output import nobody_reads
from foveate.core.errors import BadInput, OutsideFailure

STDIO = "-"
BOM = b"\xef\xbb\xbf"


def raw_lines(name: str) -> Iterator[bytes]:
    """The file's lines, one at a time, without their ends."""
    try:
        with _opened(name) as file:
            for number, line in enumerate(file):
                shown = line.removeprefix(BOM) if number == 0 else line
                yield shown.rstrip(b"\r\n")
    except FileNotFoundError:
        raise BadInput(f"{name}: no such file") from None
    except IsADirectoryError:
        raise BadInput(f"{name}: is a folder; name a file") from None
    except OSError as error:
        raise BadInput(f"{name}: cannot be read: {error.strerror or error}") from None


def text_lines(name: str) -> Iterator[str]:
    """The same, decoded; raises `BadInput` naming the file and the line."""
    for number, line in enumerate(raw_lines(name), 1):
        try:
            yield decoded(line)
        except BadInput as error:
            raise BadInput(f"{name}: line {number}: {error}") from None


def decoded(line: bytes) -> str:
    """UTF-8, strictly."""
    if b"\0" in line:
        raise BadInput("this is no text (it holds a zero byte); give UTF-8 text")
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise BadInput(
            f"not UTF-8 (byte 0x{line[error.start]:02x} at column {error.start + 1}); "
            "save it as UTF-8"
        ) from None


def read_json(name: str) -> Any:
    """The one JSON value that a file holds."""
    from foveate.core.candidates import parse_json

    text = "\n".join(text_lines(name))
    if not text.strip():
        raise BadInput(f"{name}: is empty")
    try:
        return parse_json(text)
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None


def _opened(name: str) -> Any:
    return nullcontext(sys.stdin.buffer) if name == STDIO else Path(name).open("rb")


@contextmanager
def written(name: str) -> Iterator[IO[bytes]]:
    """A file to write to; it takes its name when all is written, and else is not there.

    Raises `OutsideFailure` where it cannot be written.
    """
    if name == STDIO:
        try:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            nobody_reads()
        return
    path = Path(name)
    if path.is_dir():
        raise OutsideFailure(f"{name}: is a folder; name a file to write")
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with aside.open("wb") as file:
            yield file
        aside.replace(path)
    except OSError as error:
        raise OutsideFailure(f"{name}: cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)

"""Reading and writing the files that the user names.

`-` is stdin or stdout. A file that cannot be read is `BadInput` with the reason. A file is written
whole or not at all; a pipe or a device is written directly.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from foveate.cli.output import exit_broken_pipe, stdout
from foveate.core.errors import BadInput, BadOption, ExternalError, name_in_errors
from foveate.pipeline.text_files import decode_line, name_unreadable
from foveate.stores.atomic_write import atomic_write

STDIO = "-"
BOM = b"\xef\xbb\xbf"


def read_lines(name: str) -> Iterator[bytes]:
    """The file's lines, one at a time, without their ends."""
    with name_unreadable(display_name(name)), _open_binary(name) as file:
        for number, line in enumerate(file):
            shown = line.removeprefix(BOM) if number == 0 else line
            yield shown.rstrip(b"\r\n")


def read_text_lines(name: str) -> Iterator[str]:
    """The same, decoded; raises `BadInput` naming the file and the line."""
    for number, line in enumerate(read_lines(name), 1):
        try:
            yield decode_line(line)
        except BadInput as error:
            raise BadInput(f"{display_name(name)}: line {number}: {error}") from None


def read_json(name: str) -> Any:
    """The one JSON value that a file holds."""
    from foveate.core.candidates import parse_json

    text = "\n".join(read_text_lines(name))
    if not text.strip():
        raise BadInput(f"{display_name(name)}: is empty")
    with name_in_errors(display_name(name)):
        return parse_json(text)


def display_name(name: str) -> str:
    """What an error calls it."""
    return "standard input" if name == STDIO else name or repr(name)


def _open_binary(name: str) -> Any:
    if name != STDIO:
        return Path(name).open("rb")
    if sys.stdin is None:
        raise BadInput("standard input is closed; give it something to read, or name a file")
    return nullcontext(sys.stdin.buffer)


@contextmanager
def open_output(name: str) -> Iterator[IO[bytes]]:
    """A file to write to, which gets its name when all is written.

    A link stays a link and a file keeps its mode; a pipe or a device is written directly.
    Raises `ExternalError` if it cannot be written.
    """
    if name == STDIO:
        with _stdout_bytes() as file:
            yield file
        return
    try:
        if _is_special(name):
            with Path(name).open("wb") as file:
                yield file
        else:
            with atomic_write(Path(os.path.realpath(name))) as file:
                yield file
    except IsADirectoryError:
        raise ExternalError(f"{name}: is a folder; name a file to write") from None
    except FileNotFoundError:
        folder = Path(name).parent
        raise ExternalError(f"{name}: there is no folder {folder}; make it first") from None
    except OSError as error:
        raise ExternalError(f"{name}: cannot be written: {error.strerror or error}") from error


def refuse_same_file(read: str | None, write: str | None) -> None:
    """Raise `BadOption` if the output would overwrite the input."""
    if read is None or write is None or STDIO in (read, write):
        return
    with suppress(OSError):
        if Path(read).is_file() and Path(write).samefile(read):
            raise BadOption(f"{write}: is the file that is read; name another one to write")


@contextmanager
def _stdout_bytes() -> Iterator[IO[bytes]]:
    file = stdout().buffer
    try:
        yield file
        file.flush()
    except BrokenPipeError:
        exit_broken_pipe()


def _is_special(name: str) -> bool:
    path = Path(name)
    return path.exists() and not path.is_file()

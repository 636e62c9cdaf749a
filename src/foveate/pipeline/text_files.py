"""Files of a user as lines, text and TOML; what is wrong with one is `BadInput` with its name."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
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

"""Files of a user as text and as TOML; what is wrong with one is `BadInput` with its name."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from foveate.core.errors import BadInput


def read_text_file(path: str | Path, label: str = "") -> str:
    """The text of a UTF-8 file; `label`: how errors name it, if not by its path."""
    name = label or str(path)
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"{name}: no such file") from None
    except OSError as error:
        raise BadInput(f"{name}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: not UTF-8 at byte {error.start + 1}; save it as UTF-8") from None
    except ValueError as error:  # a zero character in the name
        raise BadInput(f"{name!r} cannot be read: {error}") from None


def read_toml_file(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        return tomllib.loads(read_text_file(path))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: not TOML: {error}") from None

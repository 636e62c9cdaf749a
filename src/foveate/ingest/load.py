"""A file's bytes to documents, within limits; whatever goes wrong is a `BadInput` with its reason.

Markdown, text, HTML and JSON Lines are read here, by readers of our own that are linear in what
they are given. The other formats are read by a process of their own (`apart`), which can be ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from foveate.adapters.loaders import is_apart, kind_of, loader_for
from foveate.adapters.loaders.limits import Limits
from foveate.adapters.loaders.sniff import refuse_other
from foveate.core.errors import BadInput, BadRequest, MissingExtra
from foveate.ingest.apart import Apart
from foveate.ports import Loaded

__all__ = ["load", "read", "read_here"]


def read(path: Path, limits: Limits) -> bytes:
    """The file's bytes; nothing larger than the limit."""
    with path.open("rb") as file:
        data = file.read(limits.file_bytes + 1)
    limits.refuse_over("file_bytes", len(data), "bytes")
    return data


def load(data: bytes, path: Path, limits: Limits, apart: Apart) -> Sequence[Loaded | BadInput]:
    """The file's documents. Raises `BadInput`."""
    kind = kind_of(path)
    refuse_other(data, path, kind)
    return apart.load(data, path) if is_apart(kind) else read_here(data, path, limits)


def read_here(data: bytes, path: Path, limits: Limits) -> Sequence[Loaded | BadInput]:
    """The file's documents, read in this process. Raises `BadInput`."""
    loader = loader_for(path, limits)
    if loader is None:
        raise BadInput(f"no loader for {path.suffix or 'files without a suffix'}")
    try:
        return loader(data, path)
    except BadRequest:
        raise
    except MissingExtra as error:
        raise BadInput(str(error)) from None
    except MemoryError:
        most = limits.memory_bytes >> 20
        raise BadInput(f"takes more than {most} MiB of memory (limit `memory_bytes`)") from None
    except Exception as error:  # a parser may raise anything on a broken file
        raise BadInput(f"could not be read: {type(error).__name__}: {error}") from error

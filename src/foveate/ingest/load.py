"""A file's bytes to documents, within limits; whatever goes wrong is a `BadInput` with its reason.

Markdown, text, HTML and JSON Lines are read here, by readers of our own that are linear in what
they are given. The other formats are read by a process of their own (`apart`), which can be ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from foveate.core.errors import BadInput, InvalidRequest, MissingExtra
from foveate.ingest.loaders import format_from_path, is_sandboxed, loader_for
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.loaders.sniff import check_format
from foveate.ingest.opening import opened
from foveate.ingest.sandbox import Sandbox
from foveate.ingest.walk import File
from foveate.ports import LoadedDocument

__all__ = ["load_file", "load_in_process", "read_file"]


def read_file(file: File, limits: Limits) -> bytes:
    """The file's bytes; nothing larger than the limit. Raises `BadInput` and `OSError`."""
    with opened(file) as stream:
        data = stream.read(limits.file_bytes + 1)
    limits.check_bound("file_bytes", len(data), "bytes")
    return data


def load_file(
    data: bytes, path: Path, limits: Limits, apart: Sandbox
) -> Iterator[LoadedDocument | BadInput]:
    """The file's documents, one at a time. Raises `BadInput`."""
    kind = format_from_path(path)
    check_format(data, path, kind)
    yield from apart.load(data, path) if is_sandboxed(kind) else load_in_process(data, path, limits)


def load_in_process(data: bytes, path: Path, limits: Limits) -> Iterator[LoadedDocument | BadInput]:
    """The file's documents, read in this process, one at a time. Raises `BadInput`."""
    loader = loader_for(path, limits)
    if loader is None:
        raise BadInput(f"no loader for {path.suffix or 'files without a suffix'}")
    found: Iterator[LoadedDocument | BadInput] | None = None
    while True:
        try:
            found = found or iter(loader(data, path))
            loaded = next(found, None)
        except InvalidRequest:
            raise
        except MissingExtra as error:
            raise BadInput(str(error)) from None
        except MemoryError:
            most = limits.memory_bytes >> 20
            raise BadInput(f"takes more than {most} MiB of memory (limit `memory_bytes`)") from None
        except Exception as error:  # a parser may raise anything on a broken file
            raise BadInput(f"could not be read: {type(error).__name__}: {error}") from error
        if loaded is None:
            return
        yield loaded

"""Reads a file's bytes as documents, within limits; every failure is a `BadInput` with its reason.

Markdown, text, small HTML and JSON Lines are read in this process. Larger HTML, whose merged cells
can cost seconds, and other formats are read by the sandbox, which can be ended.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO

from foveate.core.errors import BadInput, InvalidRequest, MissingExtra
from foveate.core.removed import advice
from foveate.ingest.file_format import check_format
from foveate.ingest.loaders import format_from_path, is_sandboxed, is_text, loader_for
from foveate.ingest.loaders.decode import check_encoding, declared_encoding, to_utf8
from foveate.ingest.loaders.limits import DEFAULT_OPTIONS, Limits, ReadOptions
from foveate.ingest.loaders.symbol_fonts import count_lost_signs
from foveate.ingest.sandbox import Sandbox
from foveate.ingest.walk import File
from foveate.ports import LoadedDocument

NO_TEXT = "nothing to search; if it shows text as images, it needs text recognition first"
"""Why a document without text cannot be found."""

LARGE_HTML = 100_000
"""Bytes of HTML that are read by the sandbox."""

# A pipe that nobody writes to would be waited for.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_DESCRIPTORS = Path("/proc/self/fd")


def open_regular_file(file: File) -> IO[bytes]:
    """Open the file that a walk found. Raises `BadInput` if it was replaced, and `OSError`.

    A file or folder may be replaced by a link that leads out, so what was opened is looked at.
    """
    descriptor = os.open(file.path, _READ)
    if why := _why_refused(descriptor, file):
        os.close(descriptor)
        raise BadInput(why)
    return os.fdopen(descriptor, "rb")


def _why_refused(descriptor: int, file: File) -> str:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return "not a regular file"
    if file.folder is not None and not _place(descriptor, file).is_relative_to(file.folder):
        return "replaced by a link since the folder was listed; not followed"
    return ""


def _place(descriptor: int, file: File) -> Path:
    """Where an open file is, as the system knows it; where it does not say, by its path."""
    try:
        return (_DESCRIPTORS / str(descriptor)).readlink()
    except OSError:
        return file.path.resolve()


def read_file(file: File, limits: Limits) -> bytes:
    """The file's bytes; nothing larger than the limit. Raises `BadInput` and `OSError`."""
    with open_regular_file(file) as stream:
        data = stream.read(limits.file_bytes + 1)
    limits.check_bound("file_bytes", len(data), "bytes")
    return data


def load_file(
    data: bytes,
    path: Path,
    limits: Limits,
    sandbox: Sandbox,
    options: ReadOptions = DEFAULT_OPTIONS,
) -> Iterator[LoadedDocument | BadInput]:
    """The file's documents, one at a time. Raises `BadInput`.

    A file without a suffix is a text. Texts are turned into UTF-8 first.
    """
    kind = format_from_path(path)
    if words := advice("file", path.suffix.lower()):
        raise BadInput(words)
    check_format(data, path, kind)
    encoding = ""
    if is_text(kind):
        declared = declared_encoding(data) if kind in ("html", "data") else ""
        data, encoding = to_utf8(data, declared, check_encoding(options.encoding))
    for each in load_where_safe(data, path, limits, sandbox, options):
        if isinstance(each, BadInput):
            yield each
            continue
        lost = count_lost_signs(each.text)
        left_out = {**each.left_out, "signs": lost} if lost else each.left_out
        yield replace(each, encoding=encoding or each.encoding, left_out=left_out)


def load_where_safe(
    data: bytes,
    path: Path,
    limits: Limits,
    sandbox: Sandbox,
    options: ReadOptions = DEFAULT_OPTIONS,
) -> Iterable[LoadedDocument | BadInput]:
    """The file's documents, from the sandbox if reading it may take long. Raises `BadInput`."""
    kind = format_from_path(path)
    if is_sandboxed(kind) or (kind == "html" and len(data) > LARGE_HTML):
        return sandbox.load(data, path, options)
    return load_in_process(data, path, limits)


def describe_left_out(left_out: Mapping[str, int]) -> str:
    """What a file shows that was not read, by kind.

    >>> describe_left_out({"signs": 3, "diagrams": 1})
    '3 signs, 1 diagram'
    """
    kinds = (
        (count, kind if count > 1 else kind.removesuffix("s")) for kind, count in left_out.items()
    )
    return ", ".join(f"{count} {kind}" for count, kind in kinds)


def load_in_process(
    data: bytes, path: Path, limits: Limits, options: ReadOptions = DEFAULT_OPTIONS
) -> Iterator[LoadedDocument | BadInput]:
    """The file's documents, read in this process, one at a time. Raises `BadInput`."""
    loader = loader_for(path, limits, options)
    if loader is None:
        raise BadInput(f"no loader for {path.suffix}; if it is text, rename it to {path.name}.txt")
    try:
        yield from loader(data, path)
    except InvalidRequest:
        raise
    except MissingExtra as error:
        raise BadInput(str(error)) from None
    except MemoryError:
        most = limits.memory_bytes >> 20
        raise BadInput(f"takes more than {most} MiB of memory (limit `memory_bytes`)") from None
    except Exception as error:  # a parser may raise anything on a broken file
        raise BadInput(f"could not be read: {type(error).__name__}: {error}") from error

"""Reads a file's bytes as documents, within limits; every failure is a `BadInput` with its reason.

Markdown, text, HTML and JSON Lines have linear readers and are read in this process. Other formats
are read by the sandbox, which can be ended.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from foveate.core.errors import BadInput, InvalidRequest, MissingExtra
from foveate.ingest.loaders import format_from_path, is_sandboxed, loader_for
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.sandbox import Sandbox
from foveate.ingest.walk import File
from foveate.ports import LoadedDocument

_STEPS = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
# A pipe that nobody writes to would be waited for.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_INSIDE = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_REPLACED = (errno.ELOOP, errno.EMLINK, errno.ENOTDIR)


def open_regular_file(file: File) -> IO[bytes]:
    """Open the file that a walk found. Raises `BadInput` if it was replaced, and `OSError`.

    A file or folder may be replaced by a link that leads out. So a file in a folder is opened step
    by step from the folder's descriptor without following links, where the system can do that.
    """
    try:
        descriptor = _descriptor(file)
    except OSError as error:
        if file.folder is not None and error.errno in _REPLACED:
            raise BadInput("replaced by a link since the folder was listed; not followed") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadInput("not a regular file")
    return os.fdopen(descriptor, "rb")


def _descriptor(file: File) -> int:
    if file.folder is None or not _STEPS:
        return os.open(file.path, _READ)
    folder = os.open(file.folder, _FOLDER | _INSIDE)
    *steps, name = file.steps
    try:
        for step in steps:
            inner = os.open(step, _FOLDER | _INSIDE, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(name, _READ | _INSIDE, dir_fd=folder)
    finally:
        os.close(folder)


_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_SIGNS = (
    (b"%PDF-", "a PDF", ("pdf",)),
    (b"PK\x03\x04", "a zip archive or an Office file", ("docx", "pptx", "xlsx")),
    (b"PK\x05\x06", "an empty zip archive", ("docx", "pptx", "xlsx")),
    (b"\x89PNG\r\n", "a PNG picture", ()),
    (b"\xff\xd8\xff", "a JPEG picture", ()),
    (b"GIF87a", "a GIF picture", ()),
    (b"GIF89a", "a GIF picture", ()),
    (b"\x1f\x8b\x08", "a gzip archive", ()),
    (b"7z\xbc\xaf\x27\x1c", "a 7-zip archive", ()),
    (b"Rar!\x1a\x07", "a RAR archive", ()),
    (b"\x7fELF", "a program", ()),
    (b"{\\rtf", "a Rich Text file", ("text", "markdown", "csv")),
)
_MADE_OF = {"pdf": b"%PDF-", "docx": b"PK", "pptx": b"PK", "xlsx": b"PK"}
_HEAD = 1024  # a PDF may begin this much later, says its specification


def check_format(data: bytes, path: Path, kind: str) -> None:
    """Raise `BadInput` if the first bytes are of another format than `kind`.

    >>> check_format(b"%PDF-1.7", Path("a.docx"), "docx")
    Traceback (most recent call last):
    foveate.core.errors.BadInput: named .docx, but it is a PDF; give it the right suffix
    """
    named = path.suffix.lower()
    made_of = _MADE_OF.get(kind)
    if made_of and not data:
        raise BadInput("empty: 0 bytes")
    if data.startswith(_OLE):
        if _ENCRYPTED in data:
            raise BadInput("encrypted: save it without a password")
        raise BadInput(f"named {named}, but it is an Office file of before 2007; save it again")
    for sign, what, kinds in _SIGNS:
        if data.startswith(sign) and kind not in kinds:
            raise BadInput(f"named {named}, but it is {what}; give it the right suffix")
    if made_of and made_of not in data[:_HEAD]:
        raise BadInput(f"named {named}, but it does not begin like one")


def read_file(file: File, limits: Limits) -> bytes:
    """The file's bytes; nothing larger than the limit. Raises `BadInput` and `OSError`."""
    with open_regular_file(file) as stream:
        data = stream.read(limits.file_bytes + 1)
    limits.check_bound("file_bytes", len(data), "bytes")
    return data


def load_file(
    data: bytes, path: Path, limits: Limits, sandbox: Sandbox
) -> Iterator[LoadedDocument | BadInput]:
    """The file's documents, one at a time. Raises `BadInput`."""
    kind = format_from_path(path)
    check_format(data, path, kind)
    if is_sandboxed(kind):
        yield from sandbox.load(data, path)
    else:
        yield from load_in_process(data, path, limits)


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

"""Opens a file that a walk has found: the very file, whatever has been put in its place since.

Between the walk and the reading a file or a folder can be replaced by a link that leads out. So a
file in a folder is opened step by step from the folder's descriptor, no step follows a link, and
what was opened is looked at, not what the path says. Where the system cannot do that (Windows), the
path is opened as it is.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import IO

from foveate.core.errors import BadInput
from foveate.ingest.walk import File

__all__ = ["opened"]

_STEPS = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
# A pipe that nobody writes to would be waited for.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_INSIDE = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_REPLACED = (errno.ELOOP, errno.EMLINK, errno.ENOTDIR)


def opened(file: File) -> IO[bytes]:
    """The file, to be read. Raises `BadInput` where it was replaced, and `OSError`."""
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

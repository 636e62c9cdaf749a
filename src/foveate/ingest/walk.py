"""Lists the files under a folder in a fixed order, and what was left out and why.

Hidden entries are passed over silently. Links are followed to files inside the folder only. Names
that are not UTF-8 are not read, because they cannot be stored or printed.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from blake3 import blake3

from foveate.core.errors import BadInput
from foveate.core.removed import advice

_NOT_UTF8 = "the name is not UTF-8"
_DIGEST_BYTES = 8
_WEB = re.compile(r"https?:/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    r"""A file, folder or line that was not read, and why.

    Bytes of a name that are not UTF-8 are escaped (`\xff`).
    """

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file to read: its path, its name in the store, and its walk's `root`.

    `folder`: that of the walk with links resolved; None for a file that was given itself.
    """

    path: Path
    name: str
    root: str
    folder: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """The files under one path. `scope`: the name, or prefix of names, that belongs to it.

    `root`: a digest of where the path is on this machine, which tells paths of one scope apart.
    """

    scope: str
    root: str
    files: tuple[File, ...]
    skipped: tuple[Failure, ...] = ()
    failed: tuple[Failure, ...] = ()


def walk(root: Path, suffixes: frozenset[str]) -> Walk:
    """The readable files under a folder, or the file itself; names begin with the folder's name.

    Names have forward slashes: `docs/guide/intro.md`. Raises `BadInput` if the path is missing.
    """
    if not root.exists():
        advice = "; save pages of the web as files first" if _WEB.match(str(root)) else ""
        raise BadInput(f"no such file or folder: {str(root)!r}{advice}")
    folder = root.is_dir()
    place = root.resolve() if folder else root.parent.resolve() / root.name
    name, digest = _printable_name(place.name), blake3(os.fsencode(place)).hexdigest(_DIGEST_BYTES)
    scope = f"{name}/" if folder else name
    if name != place.name:
        failure = Failure(path=scope, reason=_NOT_UTF8)
    elif folder:
        return _walk_folder(root, place, digest, suffixes)
    elif root.is_file():
        file = File(path=root, name=name, root=digest)
        return Walk(scope=scope, root=digest, files=(file,))
    else:
        failure = Failure(path=scope, reason="not a regular file")
    return Walk(scope=scope, root=digest, files=(), failed=(failure,))


def _printable_name(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _walk_folder(root: Path, whole: Path, digest: str, suffixes: frozenset[str]) -> Walk:
    files: list[File] = []
    skipped: list[Failure] = []
    failed: list[Failure] = []
    waiting = [(root, whole.name)]
    while waiting:
        folder, name = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            failed.append(Failure(path=f"{name}/", reason=error_reason(error)))
            continue
        for entry in found:
            if entry.name.startswith("."):
                continue
            called = f"{name}/{entry.name}"
            if _printable_name(entry.name) != entry.name:
                slash = "/" if entry.is_dir(follow_symlinks=False) else ""
                skipped.append(Failure(path=f"{_printable_name(called)}{slash}", reason=_NOT_UTF8))
            elif entry.is_dir(follow_symlinks=False):
                waiting.append((Path(entry.path), called))
            else:
                path = Path(entry.path)
                if why := _why_skipped(path, whole, suffixes):
                    skipped.append(Failure(path=called, reason=why))
                else:
                    files.append(File(path=path, name=called, root=digest, folder=whole))
    return Walk(
        scope=f"{whole.name}/",
        root=digest,
        files=tuple(sorted(files, key=lambda file: file.name)),
        skipped=tuple(sorted(skipped, key=lambda failure: failure.path)),
        failed=tuple(sorted(failed, key=lambda failure: failure.path)),
    )


def _why_skipped(path: Path, whole: Path, suffixes: frozenset[str]) -> str:
    """Why the file is not read, or empty."""
    try:
        if path.is_symlink():
            if not path.resolve().is_relative_to(whole):
                return "a link out of the folder"
            if path.is_dir():
                return "a link to a folder"
        if not stat.S_ISREG(path.stat().st_mode):
            return "not a regular file"
    except (OSError, RuntimeError) as error:
        return f"{'a broken link: ' * path.is_symlink()}{error_reason(error)}"
    suffix = path.suffix.lower()
    if suffix and suffix not in suffixes:
        return advice("file", suffix) or f"no loader for {suffix}"
    return ""


def error_reason(error: Exception) -> str:
    """What the system says of a file, else the error's own words."""
    return (error.strerror if isinstance(error, OSError) else "") or str(error)

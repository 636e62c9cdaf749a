"""File formats: one file each, behind `ports.Loader`. The table says which suffix goes where."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foveate.ingest.loaders.limits import DEFAULT_LIMITS, DEFAULT_OPTIONS, Limits, ReadOptions

if TYPE_CHECKING:
    from foveate.ports import Loader

__all__ = ["format_from_path", "is_sandboxed", "is_text", "loader_for", "suffixes"]

_SUFFIXES = {
    "code": ".bash .c .cc .cpp .cs .css .go .h .hpp .java .js .jsx .kt .lua .php .pl .ps1 .py .r"
    " .rb .rs .scala .sh .sql .swift .ts .tsx",
    "csv": ".csv .tsv",
    "data": ".cfg .conf .ini .json .log .toml .xml .yaml .yml",
    "docx": ".docx",
    "eml": ".eml",
    "epub": ".epub",
    "html": ".htm .html .xhtml",
    "jsonl": ".jsonl .ndjson",
    "markdown": ".markdown .md",
    "notebook": ".ipynb",
    "ods": ".ods",
    "odt": ".odt",
    "pdf": ".pdf",
    "pptx": ".pptx",
    "text": ".bib .rst .srt .tex .text .txt .vtt",
    "xlsx": ".xlsx",
}
_FORMATS = {suffix: kind for kind, known in _SUFFIXES.items() for suffix in known.split()}
_TEXT = frozenset({"code", "csv", "data", "html", "jsonl", "markdown", "notebook", "text"})
_SANDBOXED = frozenset(_FORMATS.values()) - (_TEXT - {"csv"})
_WITH_IMAGES = ("docx", "pdf", "pptx")
_MODULES = {"markdown": "text", "ods": "odf", "odt": "odf"}


def suffixes() -> tuple[str, ...]:
    """The suffixes that are read, in lower case, with their dots."""
    return tuple(sorted(_FORMATS))


def format_from_path(path: Path) -> str:
    """The name of the suffix's format, text without a suffix, or empty."""
    return _FORMATS.get(path.suffix.lower(), "") if path.suffix else "text"


def is_sandboxed(kind: str) -> bool:
    """Whether files of that format are better read by a process that can be ended."""
    return kind in _SANDBOXED


def is_text(kind: str) -> bool:
    """Whether files of that format are text, in whatever encoding."""
    return kind in _TEXT


def loader_for(
    path: Path, limits: Limits = DEFAULT_LIMITS, options: ReadOptions = DEFAULT_OPTIONS
) -> Loader | None:
    """The loader for the file's suffix, or None.

    >>> loader_for(Path("README.MD")).__name__, loader_for(Path("photo.png"))
    ('load_markdown', None)
    """
    kind = format_from_path(path)
    if not kind:
        return None
    module = import_module(f"{__name__}.{_MODULES.get(kind, kind)}")
    loader: Any = getattr(module, f"load_{kind}")
    if kind == "eml":
        inner = partial(_attachment_loader, limits=limits, options=replace(options, images=False))
        return partial(loader, limits=limits, loader_for=inner)
    if kind == "pdf":
        loader = partial(loader, passwords=options.passwords)
    if options.images and kind in _WITH_IMAGES:
        loader = partial(loader, images=True)
    found: Loader = partial(loader, limits=limits) if is_sandboxed(kind) else loader
    return found


def _attachment_loader(path: Path, limits: Limits, options: ReadOptions) -> Loader | None:
    """The loader for an attachment; none for a mail, so that nesting ends, or without a suffix."""
    is_left = not path.suffix or format_from_path(path) == "eml"
    return None if is_left else loader_for(path, limits, options)

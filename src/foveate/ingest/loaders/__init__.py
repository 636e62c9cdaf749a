"""File formats: one file each, behind `ports.Loader`. The table says which suffix goes where."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foveate.ingest.loaders.limits import Limits
    from foveate.ports import Loader

__all__ = ["format_from_path", "is_sandboxed", "loader_for", "suffixes"]

_FORMATS = {
    ".csv": "csv",
    ".docx": "docx",
    ".eml": "eml",
    ".htm": "html",
    ".html": "html",
    ".jsonl": "jsonl",
    ".markdown": "markdown",
    ".md": "markdown",
    ".ndjson": "jsonl",
    ".pdf": "pdf",
    ".pptx": "pptx",
    ".rst": "text",
    ".text": "text",
    ".tsv": "csv",
    ".txt": "text",
    ".xhtml": "html",
    ".xlsx": "xlsx",
}
_SANDBOXED = frozenset({"csv", "docx", "eml", "pdf", "pptx", "xlsx"})


def suffixes() -> tuple[str, ...]:
    """The suffixes that are read, in lower case, with their dots."""
    return tuple(sorted(_FORMATS))


def format_from_path(path: Path) -> str:
    """The name of the format that the suffix stands for; empty where there is none."""
    return _FORMATS.get(path.suffix.lower(), "")


def is_sandboxed(kind: str) -> bool:
    """Whether files of that format are better read by a process that can be ended."""
    return kind in _SANDBOXED


def loader_for(path: Path, limits: Limits | None = None) -> Loader | None:
    """The loader for the file's suffix, or None where there is none.

    >>> loader_for(Path("README.MD")).__name__, loader_for(Path("photo.png"))
    ('load_markdown', None)
    """
    match format_from_path(path):
        case "html":
            from foveate.ingest.loaders.html import load_html

            return load_html
        case "jsonl":
            from foveate.ingest.loaders.jsonl import load_jsonl

            return load_jsonl
        case "markdown":
            from foveate.ingest.loaders.markdown import load_markdown

            return load_markdown
        case "text":
            from foveate.ingest.loaders.text import load_text

            return load_text
        case "eml":
            from foveate.ingest.loaders.eml import load_eml

            return partial(
                load_eml, limits=limits, loader_for=partial(_attachment_loader, limits=limits)
            )
    return _limited_loader(path, limits)


def _limited_loader(path: Path, limits: Limits | None) -> Loader | None:
    """The loaders that have bounds of their own."""
    match format_from_path(path):
        case "csv":
            from foveate.ingest.loaders.csv import load_csv

            return partial(load_csv, limits=limits)
        case "docx":
            from foveate.ingest.loaders.docx import load_docx

            return partial(load_docx, limits=limits)
        case "pdf":
            from foveate.ingest.loaders.pdf import load_pdf

            return partial(load_pdf, limits=limits)
        case "pptx":
            from foveate.ingest.loaders.pptx import load_pptx

            return partial(load_pptx, limits=limits)
        case "xlsx":
            from foveate.ingest.loaders.xlsx import load_xlsx

            return partial(load_xlsx, limits=limits)
    return None


def _attachment_loader(path: Path, limits: Limits | None) -> Loader | None:
    """The loader for an attachment; none for a mail, so that mails in mails end somewhere."""
    return None if format_from_path(path) == "eml" else loader_for(path, limits)

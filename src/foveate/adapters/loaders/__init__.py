"""File formats: one file each, behind `ports.Loader`. The table says which suffix goes where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foveate.ports import Loader

__all__ = ["loader_for", "suffixes"]

_NAMES = {
    ".htm": "html",
    ".html": "html",
    ".jsonl": "jsonl",
    ".markdown": "markdown",
    ".md": "markdown",
    ".ndjson": "jsonl",
    ".rst": "text",
    ".text": "text",
    ".txt": "text",
    ".xhtml": "html",
}


def suffixes() -> tuple[str, ...]:
    """The suffixes that are read, in lower case, with their dots."""
    return tuple(sorted(_NAMES))


def loader_for(path: Path) -> Loader | None:
    """The loader for the file's suffix, or None where there is none.

    >>> loader_for(Path("README.MD")).__name__, loader_for(Path("photo.png"))
    ('load_markdown', None)
    """
    match _NAMES.get(path.suffix.lower()):
        case "html":
            from foveate.adapters.loaders.html import load_html

            return load_html
        case "jsonl":
            from foveate.adapters.loaders.jsonl import load_jsonl

            return load_jsonl
        case "markdown":
            from foveate.adapters.loaders.markdown import load_markdown

            return load_markdown
        case "text":
            from foveate.adapters.loaders.text import load_text

            return load_text
    return None

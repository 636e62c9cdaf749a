"""Plain text and reStructuredText: the text as it stands; underlined titles give the sections."""

from __future__ import annotations

from pathlib import Path

from foveate.ingest.loaders.decode import decode
from foveate.ingest.loaders.headings import find_headings, sections_from_headings
from foveate.ports import LoadedDocument

__all__ = ["load_text"]


def load_text(data: bytes, path: Path) -> tuple[LoadedDocument]:
    r"""The file as one document, titled by its first title or its name.

    >>> load_text(b"Tea\n===\nBoil water.", Path("tea.txt"))[0].sections[0].path
    'Tea'
    """
    text = decode(data)
    found = find_headings(text, markdown=False)
    opening = found[0] if found and not text[: found[0][0]].strip() else None
    title = opening[2] if opening else path.stem
    return (LoadedDocument(text=text, title=title, sections=sections_from_headings(text, found)),)

"""Markdown: the source is the text, so that every offset is one in the file.

Headings (outside of code) give the sections; YAML front matter (`front`) gives title, summary, date
and metadata, and is in no chunk. It says nothing about who may read.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from foveate.ingest.loaders.decode import decode
from foveate.ingest.loaders.front_matter import Value, parse_front_matter
from foveate.ingest.loaders.headings import find_headings, sections_from_headings
from foveate.ports import LoadedDocument

__all__ = ["load_markdown"]

_DATES = ("modified", "modified_at", "last_modified", "lastmod", "updated", "date")
_SUMMARIES = ("summary", "description")


def load_markdown(data: bytes, path: Path) -> tuple[LoadedDocument]:
    r"""The file as one document, titled by its front matter, its first heading 1 or its name.

    >>> loaded = load_markdown(b"# Tea\n## Green\nBoil water.", Path("tea.md"))[0]
    >>> [section.path for section in loaded.sections]
    ['Tea', 'Tea > Green']
    """
    text = decode(data)
    front = parse_front_matter(text)
    said = dict(front.values)
    found = find_headings(text, markdown=True)
    first = next((title for _, level, title in found if level == 1), path.stem)
    title = said.pop("title") if isinstance(said.get("title"), str) else first
    loaded = LoadedDocument(
        text=text,
        title=str(title),
        sections=sections_from_headings(text, found),
        summary=next((t for key in _SUMMARIES if isinstance(t := said.get(key), str)), ""),
        modified_at=_parse_date(said),
        metadata=said,
        front=front.end,
    )
    return (loaded,)


def _parse_date(said: Mapping[str, Value]) -> datetime | None:
    for key in _DATES:
        try:
            return datetime.fromisoformat(str(said.get(key, "")))
        except ValueError:
            continue
    return None

"""What an Office file says of itself: its title, its author, and when it was changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from foveate.ingest.loaders.archive import Archive
from foveate.ingest.loaders.headings import plain_title

__all__ = ["Properties", "read_properties"]

_PROPERTY_NAMES = ("title", "creator", "modified")
_MAX_PROPERTY_LENGTH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """The core properties; empty where the file does not say."""

    title: str = ""
    author: str = ""
    modified_at: datetime | None = None


def read_properties(archive: Archive) -> Properties:
    """The core properties of the file."""
    found = dict.fromkeys(_PROPERTY_NAMES, "")
    inside = ""
    for kind, name, _ in archive.events(archive.related_part("", "core-properties")):
        if kind == "text":
            if inside and len(found[inside]) < _MAX_PROPERTY_LENGTH:
                found[inside] += name
        else:
            inside = name if kind == "start" and name in _PROPERTY_NAMES else ""
    return Properties(
        title=plain_title(found["title"]),
        author=plain_title(found["creator"]),
        modified_at=_parse_instant(found["modified"]),
    )


def _parse_instant(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip()) if text.strip() else None
    except ValueError:
        return None

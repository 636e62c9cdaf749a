"""What an Office file says of itself: its title, its author, and when it was changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from foveate.adapters.loaders.archive import Archive
from foveate.adapters.loaders.headings import plain

__all__ = ["Properties", "properties"]

_WANTED = ("title", "creator", "modified")
_LONGEST = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """The core properties; empty where the file does not say."""

    title: str = ""
    author: str = ""
    modified_at: datetime | None = None


def properties(archive: Archive) -> Properties:
    """The core properties of the file."""
    found = dict.fromkeys(_WANTED, "")
    inside = ""
    for kind, name, _ in archive.events(archive.kin("", "core-properties")):
        if kind == "text":
            if inside and len(found[inside]) < _LONGEST:
                found[inside] += name
        else:
            inside = name if kind == "start" and name in _WANTED else ""
    return Properties(
        title=plain(found["title"]),
        author=plain(found["creator"]),
        modified_at=_instant(found["modified"]),
    )


def _instant(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip()) if text.strip() else None
    except ValueError:
        return None

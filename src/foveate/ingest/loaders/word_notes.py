"""Footnotes and endnotes of a Word file, to be said where they are referred to."""

from __future__ import annotations

from foveate.ingest.loaders.archive import Archive
from foveate.ingest.loaders.limits import Limits

__all__ = ["REFERENCES", "read_notes"]

REFERENCES = {"footnoteReference": "footnote", "endnoteReference": "endnote"}


def read_notes(archive: Archive, part: str, limits: Limits) -> dict[tuple[str, str], str]:
    """The notes by kind and id; what separates them from the page has no text."""
    found: dict[tuple[str, str], str] = {}
    size = 0
    for note in ("footnote", "endnote"):
        number, parts, speaks = "", list[str](), False
        for kind, name, given in archive.events(archive.related_part(part, f"{note}s")):
            if kind == "text":
                parts += [name] if speaks else []
                size += len(name)
                limits.check_bound("text_chars", size, "characters of notes")
                continue
            speaks = kind == "start" and name == "t"
            if name == note and kind == "start":
                number, parts = given.get("id", ""), []
            elif name == note:
                found[note, number] = " ".join("".join(parts).split())
            elif name == "p":
                parts.append(" ")
    return found

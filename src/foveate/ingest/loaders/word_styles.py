"""What a Word file's styles and numbering say: which style is a heading, which list has numbers.

Word writes the names of its own styles in English whatever the user's language is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from foveate.ingest.loaders.archive import Archive
from foveate.ingest.loaders.limits import Limits

_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_MAX_BASE_STYLES = 32  # styles based on styles


@dataclass(slots=True)
class Style:
    """A paragraph style: `level` is 1 for the highest heading, 0 for the title."""

    level: int | None = None
    numbered: str = ""
    based_on: str = ""


def read_styles(archive: Archive, part: str) -> dict[str, Style]:
    """The paragraph styles by id, each with what it takes over from the one it is based on."""
    found: dict[str, Style] = {}
    style = Style()
    for kind, name, given in archive.events(part):
        if kind != "start":
            continue
        value = given.get("val", "")
        if name == "style":
            style = found[given.get("styleId", "")] = Style()
        elif name == "name" and style.level is None:
            style.level = _heading_level(value)
        elif name == "basedOn":
            style.based_on = value
        elif name == "outlineLvl" and value.isdigit() and int(value) < 9:
            style.level = int(value) + 1
        elif name == "numId":
            style.numbered = value
    for each in found.values():
        _inherit(each, found)
    return found


def _heading_level(name: str) -> int | None:
    match = _HEADING.fullmatch(name)
    return int(match[1]) if match else 0 if name.lower() == "title" else None


def _inherit(style: Style, known: dict[str, Style]) -> None:
    base = style.based_on
    for _ in range(_MAX_BASE_STYLES):
        parent = known.get(base)
        if parent is None:
            return
        if style.level is None and parent.level:
            style.level = parent.level
        style.numbered = style.numbered or parent.numbered
        base = parent.based_on


@dataclass(slots=True)
class Numbering:
    """Which lists count, by (list, depth), and how far they have come."""

    counting: set[tuple[str, int]] = field(default_factory=set)
    _reached: dict[tuple[str, int], int] = field(default_factory=dict)

    def next_mark(self, number: str, depth: int) -> str:
        """The mark of the list's next item: `-`, or `1.` where it counts."""
        for deeper in [key for key in self._reached if key[0] == number and key[1] > depth]:
            del self._reached[deeper]
        if (number, depth) not in self.counting:
            return "-"
        reached = self._reached.get((number, depth), 0) + 1
        self._reached[number, depth] = reached
        return f"{reached}."


def read_numbering(archive: Archive, part: str) -> Numbering:
    """The lists of the file."""
    counting: dict[str, set[int]] = {}
    kind_of: dict[str, str] = {}
    abstract = number = ""
    depth = 0
    for kind, name, given in archive.events(part):
        value = given.get("val", "")
        if kind != "start":
            continue
        if name == "abstractNum":
            abstract = given.get("abstractNumId", "")
        elif name == "lvl":
            depth = _parse_number(given.get("ilvl", ""))
        elif name == "numFmt" and value not in ("bullet", "none"):
            counting.setdefault(abstract, set()).add(depth)
        elif name == "num":
            number = given.get("numId", "")
        elif name == "abstractNumId":
            kind_of[number] = value
    pairs = {(num, deep) for num, base in kind_of.items() for deep in counting.get(base, ())}
    return Numbering(counting=pairs)


def _parse_number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 4 else 0


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

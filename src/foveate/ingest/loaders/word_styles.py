"""The styles and the lists of a Word file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from foveate.ingest.loaders.archive import Archive
from foveate.ingest.loaders.inline import PLAIN, Look, read_look
from foveate.ingest.loaders.list_numbers import write_marks, write_number

_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_MAX_BASE_STYLES = 32  # styles based on styles


@dataclass(slots=True)
class Style:
    """A style: `level` is 1 for the highest heading, 0 for the title; `depth`: in its list."""

    level: int | None = None
    numbered: str = ""
    depth: int | None = None
    look: Look = PLAIN
    based_on: str = ""


def read_styles(archive: Archive, part: str) -> dict[str, Style]:
    """The styles by id, each with what it takes over from the one it is based on."""
    found: dict[str, Style] = {}
    style = Style()
    for name, given in archive.starts(part):
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
        elif name == "ilvl":
            style.depth = parse_number(value)
        else:
            style.look = read_look(name, given).over(style.look)
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
        style.depth = parent.depth if style.depth is None else style.depth
        style.look = style.look.over(parent.look)
        base = parent.based_on


_KINDS = {
    "decimal": "1",
    "decimalZero": "01",
    "ordinal": "1st",
    "lowerLetter": "aa",
    "upperLetter": "AA",
    "lowerRoman": "i",
    "upperRoman": "I",
    **dict.fromkeys(("chineseCounting", "chineseCountingThousand", "japaneseCounting"), "一"),
    **dict.fromkeys(("taiwaneseCounting", "taiwaneseCountingThousand"), "一"),
}
_WITHOUT = ("bullet", "none")


@dataclass(slots=True)
class Level:
    """A level of a list. `text`: the numbers of which levels it shows, and what is about them."""

    start: int = 1
    kind: str = "decimal"
    text: str | None = None
    is_legal: bool = False
    restart: int | None = None

    def write(self, number: int) -> str:
        """The number as this level writes it."""
        return write_number(number, _KINDS.get(self.kind, "1"))

    def set(self, name: str, value: str) -> None:
        """Take over a property of the level."""
        if name == "start":
            self.start = parse_number(value, 1)
        elif name == "numFmt":
            self.kind = value
        elif name == "lvlText":
            self.text = value
        elif name == "isLgl":
            self.is_legal = value not in ("0", "false", "off")
        elif name == "lvlRestart":
            self.restart = parse_number(value)


@dataclass(slots=True)
class Numbering:
    """The lists of a file, and how far they have come.

    Lists of one kind (`kinds`) count on where another one ended, unless they begin again
    (`starts`). `levels`: of kinds and of lists, by depth. `depths`: of styles.
    """

    levels: dict[tuple[str, int], Level] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    starts: dict[tuple[str, int], int] = field(default_factory=dict)
    depths: dict[tuple[str, str], int] = field(default_factory=dict)
    _reached: dict[str, dict[int, int]] = field(default_factory=dict)

    def depth_of(self, number: str, style: str) -> int:
        """The level that a list links to that style."""
        return self.depths.get((self.kinds.get(number, ""), style), 0)

    def next_mark(self, number: str, depth: int) -> str:
        """The mark of the list's next item: `-`, or as its level shows it, `1.` or `Article 5`."""
        kind = self.kinds.get(number, "")
        level = self._level(number, depth)
        if level is None:
            return "-"
        reached = self._reached.setdefault(kind, {})
        override = self.starts.pop((number, depth), None)
        if override is not None or depth not in reached:
            reached[depth] = (level.start if override is None else override) - 1
        reached[depth] += 1
        for deeper in [each for each in reached if each > depth]:
            below = self._level(number, deeper)
            if below is None or below.restart is None or below.restart > depth:
                del reached[deeper]
        if level.kind == "bullet":
            return "-"
        numbers = [self._write(number, each, level, reached) for each in range(depth + 1)]
        text = f"%{depth + 1}." if level.text is None else level.text
        return " ".join(write_marks(text, numbers).split()) or "-"

    def _level(self, number: str, depth: int) -> Level | None:
        own = self.levels.get((f"#{number}", depth))
        return own or self.levels.get((self.kinds.get(number, ""), depth))

    def _write(self, number: str, depth: int, shown: Level, reached: Mapping[int, int]) -> str:
        level = self._level(number, depth) or Level()
        value = reached.get(depth, level.start)
        return "" if level.kind in _WITHOUT else (Level() if shown.is_legal else level).write(value)


def read_numbering(archive: Archive, part: str) -> Numbering:
    """The lists of the file."""
    reader = _NumberingReader()
    for name, given in archive.starts(part):
        reader.start(name, given)
    found = reader.found
    for each, kind in found.kinds.items():
        found.kinds[each] = reader.standing_for.get(reader.links.get(kind, ""), kind)
    return found


@dataclass(slots=True)
class _NumberingReader:
    """`links`: kinds of lists that are another one, by the style that stands for that."""

    found: Numbering = field(default_factory=Numbering)
    links: dict[str, str] = field(default_factory=dict)
    standing_for: dict[str, str] = field(default_factory=dict)
    _owner: str = ""
    _number: str = ""
    _depth: int = 0

    def start(self, name: str, given: Mapping[str, str]) -> None:
        """An element begins."""
        if name == "abstractNum":
            self._owner = given.get("abstractNumId", "")
        elif name == "num":
            self._number = given.get("numId", "")
            self._owner = f"#{self._number}"
        elif name in ("lvl", "lvlOverride"):
            self._depth = min(parse_number(given.get("ilvl", "")), 9)
            if name == "lvl":
                self.found.levels[self._owner, self._depth] = Level()
        else:
            self._set(name, given.get("val", ""))

    def _set(self, name: str, value: str) -> None:
        if name == "abstractNumId":
            self.found.kinds[self._number] = value
        elif name == "startOverride":
            self.found.starts[self._number, self._depth] = parse_number(value, 1)
        elif name == "styleLink":
            self.standing_for[value] = self._owner
        elif name == "numStyleLink":
            self.links[self._owner] = value
        elif name == "pStyle":
            self.found.depths[self._owner, value] = self._depth
        elif (self._owner, self._depth) in self.found.levels:
            self.found.levels[self._owner, self._depth].set(name, value)


def parse_number(text: str, otherwise: int = 0) -> int:
    """A small number of the file."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else otherwise

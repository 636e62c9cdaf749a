"""The styles and the lists of an OpenDocument text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from foveate.ingest.loaders.archive import Archive
from foveate.ingest.loaders.inline import PLAIN, Look
from foveate.ingest.loaders.list_numbers import write_number

_PARTS = ("styles.xml", "content.xml")
_MAX_PARENTS = 32
_LEVELS = ("list-level-style-number", "list-level-style-bullet", "outline-level-style")
OUTLINE = "\0"
"""The list of the headings, by a name that no style has."""


def parse_count(text: str, otherwise: int = 1) -> int:
    """A number of an attribute."""
    is_number = text.isascii() and text.isdecimal() and len(text) < 8
    return int(text) if is_number else otherwise


@dataclass(frozen=True, slots=True)
class _Level:
    """A level of a list; without a `kind` it has dashes. `shown`: how many levels' numbers."""

    kind: str = ""
    prefix: str = ""
    suffix: str = ""
    start: int = 1
    shown: int = 1


@dataclass(frozen=True, slots=True)
class _Style:
    look: Look = PLAIN
    parent: str = ""
    has_numbers: bool = True


@dataclass(slots=True)
class Styles:
    """How texts look by family and name of their style, and the levels of lists by theirs."""

    _styles: dict[tuple[str, str], _Style] = field(default_factory=dict)
    _levels: dict[tuple[str, int], _Level] = field(default_factory=dict)

    def look(self, family: str, name: str) -> Look:
        """What the style and those above it say."""
        look = PLAIN
        for _ in range(_MAX_PARENTS):
            style = self._styles.get((family, name))
            if style is None:
                break
            look, name = look.over(style.look), style.parent
        return look

    def has_numbers(self, name: str) -> bool:
        """Whether headings of that style have numbers, if headings do."""
        style = self._styles.get(("paragraph", name))
        return style is None or style.has_numbers

    def mark(self, style: str, depth: int, numbers: Mapping[int, int]) -> str:
        """The mark of an item with these numbers by depth, from 1; `-` if it has none."""
        level = self._levels.get((style, depth), _Level())
        if not level.kind:
            return "-"
        parts = []
        for each in range(max(depth - level.shown + 1, 1), depth + 1):
            kind = self._levels.get((style, each), _Level()).kind
            parts += (
                [write_number(numbers.get(each, self.start(style, each)), kind)] if kind else []
            )
        return " ".join(f"{level.prefix}{'.'.join(parts)}{level.suffix}".split())

    def start(self, style: str, depth: int) -> int:
        """The first number of a level."""
        return self._levels.get((style, depth), _Level()).start

    def add(self, reader: _StyleReader) -> None:
        """Take over what was read."""
        for key, style in reader.styles.items():
            font = style.look.font
            named = reader.fonts.get(font, font) if font else font
            self._styles[key] = replace(style, look=replace(style.look, font=named))
        self._levels |= reader.levels


@dataclass(slots=True)
class _StyleReader:
    fonts: dict[str, str] = field(default_factory=dict)
    styles: dict[tuple[str, str], _Style] = field(default_factory=dict)
    levels: dict[tuple[str, int], _Level] = field(default_factory=dict)
    _style: tuple[str, str] = ("", "")
    _list: str = ""

    def start(self, name: str, given: Mapping[str, str]) -> None:
        if name == "font-face":
            self.fonts[given.get("name", "")] = given.get("font-family", "").strip("'\"")
        elif name == "style":
            self._style = given.get("family", ""), given.get("name", "")
            has_numbers = given.get("list-style-name") != ""
            self.styles[self._style] = _Style(
                parent=given.get("parent-style-name", ""), has_numbers=has_numbers
            )
        elif name == "text-properties" and self._style in self.styles:
            style = self.styles[self._style]
            self.styles[self._style] = replace(style, look=_look(given).over(style.look))
        elif name in ("list-style", "outline-style"):
            self._list = OUTLINE if name == "outline-style" else given.get("name", "")
            self._style = ("", "")
        elif name in _LEVELS:
            self._style = ("", "")
            depth = min(parse_count(given.get("level", "")), 10)
            self.levels[self._list, depth] = _level(name, given)


def read_styles(archive: Archive) -> Styles:
    """The styles of the file, those of its text included."""
    reader = _StyleReader()
    for name, given in chain.from_iterable(map(archive.starts, _PARTS)):
        reader.start(name, given)
    found = Styles()
    found.add(reader)
    return found


def _level(name: str, given: Mapping[str, str]) -> _Level:
    if name == "list-level-style-bullet":
        return _Level()
    kind = given.get("num-format", "")
    return _Level(
        kind=kind * 2 if kind in ("a", "A") and given.get("num-letter-sync") == "true" else kind,
        prefix=given.get("num-prefix", ""),
        suffix=given.get("num-suffix", ""),
        start=parse_count(given.get("start-value", "")),
        shown=parse_count(given.get("display-levels", "")),
    )


def _look(given: Mapping[str, str]) -> Look:
    moved = given.get("text-position", "")[:40].split(" ")[0]
    lowered = moved.startswith(("sub", "-"))
    place = None if not moved else 0 if moved.strip("-0%") == "" else -1 if lowered else 1
    line = given.get("text-line-through-style", given.get("text-line-through-type"))
    shown = given.get("display")
    return Look(
        place=place,
        font=given.get("font-name", given.get("font-family")),
        struck=None if line is None else line != "none",
        hidden=None if shown is None else shown == "none",
    )

"""The styles and the lists of Word and OpenDocument files."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from foveate.ingest.loaders.archive import Archive
from foveate.ingest.loaders.inline import PLAIN, Look, read_look
from foveate.ingest.loaders.list_numbers import Level, next_mark, parse_number

_MAX_PARENTS = 32  # styles based on styles


@dataclass(slots=True)
class Style:
    """A style: `level` is 1 for the highest heading, 0 for the title.

    `numbered`: the list that its paragraphs are items of, empty if of none; `depth`: in that list.
    What is None is said by the style of the key `parent`.
    """

    look: Look = PLAIN
    parent: Hashable = ""
    level: int | None = None
    numbered: str | None = None
    depth: int | None = None


def _inherit(styles: Mapping[Hashable, Style]) -> None:
    """Give each style what it takes over from those that it is based on."""
    for style in styles.values():
        parent = styles.get(style.parent)
        for _ in range(_MAX_PARENTS):
            if parent is None:
                break
            if style.level is None and parent.level:
                style.level = parent.level
            style.numbered = parent.numbered if style.numbered is None else style.numbered
            style.depth = parent.depth if style.depth is None else style.depth
            style.look = style.look.over(parent.look)
            parent = styles.get(parent.parent)


@dataclass(slots=True)
class Lists:
    """The lists of a Word file, and how far they have come.

    Lists of one kind (`kinds`) count on where another one ended, unless they begin again
    (`starts`). `levels`: of kinds and of lists, by depth. `depths`: of styles. `links`: kinds that
    are another one, by the style that this one is `standing_for`.
    """

    levels: dict[str, dict[int, Level]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    starts: dict[tuple[str, int], int] = field(default_factory=dict)
    depths: dict[tuple[str, str], int] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    standing_for: dict[str, str] = field(default_factory=dict)
    _reached: dict[str, dict[int, int]] = field(default_factory=dict)

    def depth_of(self, number: str, style: str) -> int:
        """The level that a list links to that style."""
        return self.depths.get((self.kinds.get(number, ""), style), 0)

    def next_mark(self, number: str, depth: int) -> str:
        """The mark of the list's next item: `-`, or as its level shows it, `1.` or `Article 5`."""
        kind = self.kinds.get(number, "")
        levels = self.levels.get(kind, {}) | self.levels.get(f"#{number}", {})
        reached = self._reached.setdefault(kind, {})
        return next_mark(levels, reached, depth, self.starts.pop((number, depth), None))


_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_KINDS = {
    "decimal": "1",
    "decimalZero": "01",
    "ordinal": "1st",
    "lowerLetter": "aa",
    "upperLetter": "AA",
    "lowerRoman": "i",
    "upperRoman": "I",
    "bullet": "",
    "none": "",
    **dict.fromkeys(("chineseCounting", "chineseCountingThousand", "japaneseCounting"), "一"),
    **dict.fromkeys(("taiwaneseCounting", "taiwaneseCountingThousand"), "一"),
}


def read_word_styles(archive: Archive, part: str) -> dict[Hashable, Style]:
    """The styles by id, each with what it takes over from the one it is based on."""
    found: dict[Hashable, Style] = {}
    style = Style()
    for name, given in archive.starts(part):
        value = given.get("val", "")
        if name == "style":
            style = found[given.get("styleId", "")] = Style()
        elif name == "name" and style.level is None:
            heading = _HEADING.fullmatch(value)
            style.level = int(heading[1]) if heading else 0 if value.lower() == "title" else None
        elif name == "basedOn":
            style.parent = value
        elif name == "outlineLvl" and value.isdigit() and int(value) < 9:
            style.level = int(value) + 1
        elif name == "numId":
            style.numbered = value
        elif name == "ilvl":
            style.depth = parse_number(value)
        else:
            style.look = read_look(name, given).over(style.look)
    _inherit(found)
    return found


def read_word_lists(archive: Archive, part: str) -> Lists:
    """The lists of the file."""
    found, owner, number, depth = Lists(), "", "", 0
    for name, given in archive.starts(part):
        if name == "abstractNum":
            owner = given.get("abstractNumId", "")
        elif name == "num":
            number = given.get("numId", "")
            owner = f"#{number}"
        elif name in ("lvl", "lvlOverride"):
            depth = min(parse_number(given.get("ilvl", "")), 9)
            if name == "lvl":
                found.levels.setdefault(owner, {})[depth] = Level(text=f"%{depth + 1}.")
        elif name == "abstractNumId":
            found.kinds[number] = given.get("val", "")
        elif name == "startOverride":
            found.starts[number, depth] = parse_number(given.get("val", ""), 1)
        else:
            _set_list(found, owner, depth, name, given.get("val", ""))
    for each, kind in found.kinds.items():
        found.kinds[each] = found.standing_for.get(found.links.get(kind, ""), kind)
    return found


def _set_list(found: Lists, owner: str, depth: int, name: str, value: str) -> None:
    """Take over a property of a list, or of its level."""
    level = found.levels.get(owner, {}).get(depth)
    if name == "styleLink":
        found.standing_for[value] = owner
    elif name == "numStyleLink":
        found.links[owner] = value
    elif name == "pStyle":
        found.depths[owner, value] = depth
    elif level is not None and name == "start":
        level.start = parse_number(value, 1)
    elif level is not None:
        _set_level(level, name, value)


def _set_level(level: Level, name: str, value: str) -> None:
    if name == "numFmt":
        level.kind = _KINDS.get(value, "1")
        level.text = "" if value == "bullet" else level.text
    elif name == "lvlText" and level.text:
        level.text = value
    elif name == "isLgl":
        level.is_legal = value not in ("0", "false", "off")
    elif name == "lvlRestart":
        level.restart = parse_number(value)


_PARTS = ("styles.xml", "content.xml")
_LEVELS = ("list-level-style-number", "list-level-style-bullet", "outline-level-style")
_LISTED = re.compile(r"%([1-9])%")  # a level of LibreOffice's `num-list-format`
_MOST_LEVELS = 9  # of which the text of a level can show the numbers
OUTLINE = "\0"
"""The list of the headings, by a name that no style has."""


@dataclass(slots=True)
class OdfStyles:
    """The styles of an OpenDocument file by family and name, and the levels of its lists."""

    styles: dict[Hashable, Style] = field(default_factory=dict)
    levels: dict[str, dict[int, Level]] = field(default_factory=dict)

    def style(self, family: str, name: str) -> Style:
        """The style of that name, an empty one if there is none."""
        return self.styles.get((family, name)) or Style()


def read_odf_styles(archive: Archive) -> OdfStyles:
    """The styles of the file, those of its text included."""
    found, fonts = OdfStyles(), dict[str, str]()
    style, levels = Style(), dict[int, Level]()
    for name, given in chain.from_iterable(map(archive.starts, _PARTS)):
        if name == "font-face":
            fonts[given.get("name", "")] = given.get("font-family", "").strip("'\"")
        elif name == "style":
            family = given.get("family", "")
            is_bare = given.get("list-style-name") == ""
            style = Style(
                parent=(family, given.get("parent-style-name", "")),
                numbered="" if is_bare else None,
            )
            found.styles[family, given.get("name", "")] = style
        elif name == "text-properties":
            style.look = _odf_look(given).over(style.look)
        elif name in ("list-style", "outline-style"):
            owner = OUTLINE if name == "outline-style" else given.get("name", "")
            style, levels = Style(), found.levels.setdefault(owner, {})
        elif name in _LEVELS:
            style = Style()
            depth = parse_number(given.get("level", ""), 1) - 1
            if 0 <= depth < _MOST_LEVELS:
                levels[depth] = _odf_level(name, given, depth, levels)
    for style in found.styles.values():
        font = style.look.font
        style.look = replace(style.look, font=fonts.get(font, font) if font else font)
    _inherit(found.styles)
    return found


def _odf_level(
    name: str, given: Mapping[str, str], depth: int, above: Mapping[int, Level]
) -> Level:
    kind = given.get("num-format", "").split(",")[0]  # LibreOffice writes `01, 02, 03, ...`
    if name == "list-level-style-bullet" or not kind:
        return Level(kind="", text="-" if name == "list-level-style-bullet" else "")
    first = depth + 1 - parse_number(given.get("display-levels", ""), 1)
    shown = [n for n in range(max(first, 0), depth) if n in above and above[n].kind]
    text = ".".join(f"%{n + 1}" for n in (*shown, depth))
    text = f"{given.get('num-prefix', '')}{text}{given.get('num-suffix', '')}"
    if listed := given.get("num-list-format"):
        for n in (n for n, level in above.items() if not level.text):  # gone, and what is behind
            listed = re.sub(rf"%{n + 1}%[^%]*(?=%)", "", listed)
        text = _LISTED.sub(r"%\1", listed)
    return Level(
        start=parse_number(given.get("start-value", ""), 1),
        kind=kind * 2 if kind in ("a", "A") and given.get("num-letter-sync") == "true" else kind,
        text=text,
    )


def _odf_look(given: Mapping[str, str]) -> Look:
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

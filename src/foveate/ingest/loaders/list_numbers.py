"""Numbers of lists as they are shown, in all formats, and the marks of an HTML list's items."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from foveate.ingest.loaders.tags import Tag, parse_attributes

_INTEGER = re.compile(r"\s*+([-+]?[0-9]{1,9})(?![0-9])")
"""An integer as HTML reads it; one of more digits counts as none."""
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LARGEST_ROMAN = 3999
_LARGEST_REPEATED = 260  # as ten letters
_CHINESE: tuple[str, ...] = ("", *"一二三四五六七八九")
_STYLES = {"none": "", "decimal": "1", "decimal-leading-zero": "01"}
_STYLES |= {"lower-alpha": "a", "lower-latin": "a", "lower-roman": "i"}
_STYLES |= {"upper-alpha": "A", "upper-latin": "A", "upper-roman": "I"}
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_PLACE = re.compile(r"%([1-9])")


@dataclass(slots=True)
class ListNumbers:
    """An open list: its next number, None if it has dashes; `kind`: HTML's `type`.

    `tag`: the number of its tag on the page; `items`: how many it has so far.
    """

    tag: int
    number: int | None = None
    kind: str = "1"
    step: int = 1
    items: int = 0

    def next_mark(self, item: Tag) -> str:
        """The mark of its next item."""
        self.items += 1
        if self.number is None:
            return "-"
        number = _read_integer(parse_attributes(item.raw).get("value"), self.number)
        self.number = number + self.step
        return f"{write_number(number, self.kind)}."


def open_list(tag: Tag, number: int, items: Mapping[int, int]) -> ListNumbers:
    """The list of the tag of that number; a reversed one counts from how many `items` it has.

    >>> numbers = open_list(Tag("open", "ol", "start=4 type=a"), 1, {})
    >>> [numbers.next_mark(Tag("open", "li", raw)) for raw in ("", "", "value=27")]
    ['d.', 'e.', 'aa.']
    """
    if tag.name != "ol":
        return ListNumbers(number)
    given = parse_attributes(tag.raw)
    backwards = "reversed" in given
    start = _read_integer(given.get("start"), items.get(number, 1) if backwards else 1)
    kind = given.get("type") or "1"
    for name, _, value in (part.partition(":") for part in given.get("style", "").split(";")):
        if name.strip().lower() in ("list-style", "list-style-type"):
            named = [_STYLES[word] for word in value.lower().split() if word in _STYLES]
            kind = max(named, key=bool, default=kind)  # `none` beside a kind is for the image
    return ListNumbers(number, start if kind else None, kind, -1 if backwards else 1)


def _read_integer(text: str | None, otherwise: int) -> int:
    match = _INTEGER.match(text or "")
    return int(match[1]) if match else otherwise


def write_number(number: int, kind: str) -> str:
    """The number in that kind, by its first: `a`, `I`, `01`...; in digits if it cannot be written.

    >>> [write_number(28, kind) for kind in ("1", "a", "aa", "I", "01", "1st", "一", "?")]
    ['28', 'ab', 'bb', 'XXVIII', '28', '28th', '二十八', '28']
    """
    if kind in ("a", "A") and number > 0:
        letters = ""
        while number:
            number, letter = divmod(number - 1, 26)
            letters = chr(ord(kind) + letter) + letters
        return letters
    if kind in ("aa", "AA") and 0 < number <= _LARGEST_REPEATED:
        return chr(ord(kind[0]) + (number - 1) % 26) * ((number + 25) // 26)
    if kind in ("i", "I") and 0 < number <= _LARGEST_ROMAN:
        numeral = ""
        for value, digits in _ROMAN:
            numeral += digits * (number // value)
            number %= value
        return numeral if kind == "i" else numeral.upper()
    if kind == "一" and 0 < number < 100:
        tens, units = divmod(number, 10)
        return ("" if tens < 2 else _CHINESE[tens]) + ("十" if tens else "") + _CHINESE[units]
    if kind == "1st":
        return f"{number}{'th' if number // 10 % 10 == 1 else _ENDINGS.get(number % 10, 'th')}"
    return f"{number:02d}" if kind == "01" else str(number)


@dataclass(slots=True)
class Level:
    """A level of a list of an Office or OpenDocument file; without a `kind` it has no numbers.

    `text`: the numbers of which levels it shows, and what is about them, such as `%1.%2)`; empty if
    it has dashes. `is_legal`: all numbers in digits. `restart`: at which depths it starts again.
    """

    start: int = 1
    kind: str = "1"
    text: str = ""
    is_legal: bool = False
    restart: int | None = None


def next_mark(
    levels: Mapping[int, Level], reached: dict[int, int], depth: int, number: int | None = None
) -> str:
    """Count an item of that depth, from 0, in `reached`; its mark, `-` if it has none.

    Above it, depths without an item count as begun, as in Word and LibreOffice. `number`: that of
    the item, if its list does not just count on.

    >>> levels, reached = {0: Level(text="%1."), 1: Level(kind="a", text="%1%2)")}, {}
    >>> [next_mark(levels, reached, depth) for depth in (0, 1, 1, 0, 1)]
    ['1.', '1a)', '1b)', '2.', '2a)']
    """
    level = levels.get(depth)
    if level is None:
        return "-"
    reached[depth] = reached.get(depth, level.start - 1) + 1 if number is None else number
    for deeper in [each for each in reached if each > depth]:
        restart = levels[deeper].restart if deeper in levels else None
        if restart is None or restart > depth:
            del reached[deeper]
    numbers = []
    for each in range(depth + 1):
        shown = levels.get(each, _USUAL)
        kind = "1" if level.is_legal and shown.kind else shown.kind
        numbers.append(write_number(reached.setdefault(each, shown.start), kind) if kind else "")
    marks = _PLACE.sub(
        lambda found: "".join(numbers[int(found[1]) - 1 : int(found[1])]), level.text
    )
    return " ".join(marks.split()) or "-"


_USUAL = Level()


def parse_number(text: str, otherwise: int = 0) -> int:
    """A small number of a file."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else otherwise

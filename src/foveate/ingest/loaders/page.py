"""Converts the tags of a page to text with Markdown's block marks.

Headings become `#` lines, list items `-` or `1.`, table rows `| a | b |`, `pre` a fence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from foveate.ingest.loaders.inline import write_subscript, write_superscript
from foveate.ingest.loaders.list_numbers import ListNumbers, open_list
from foveate.ingest.loaders.pictures import read_picture
from foveate.ingest.loaders.tags import Tag, element_names, is_hidden
from foveate.ingest.loaders.text import Heading, plain_title

_VOID = element_names("area base br col embed hr img input link meta param source track wbr")
_DROPPED = element_names(
    "script style title noscript template nav svg math iframe object button select option textarea"
    " canvas audio video dialog xmp noembed noframes del s strike"
)
_FURNITURE = frozenset({"aside", "footer"})
_WITH_OWN = ("article", "blockquote", "figure", "main")
"""Elements with asides and footers of their own, which are their text and not the site's."""
_PHRASES = ("sub", "sup", "s", "strike")
"""Elements that end at the next block; `del` may have blocks in it."""
_ENDS_P = element_names(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header hr li main menu nav ol p pre section summary table ul"
    " dt dd td th tr"
)
# What a start tag ends, and what hides it from being ended: an item ends the item before it, but
# not the one that its own list stands in.
_ENDS = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol", "menu"})),
    "dt": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "dd": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "tr": (frozenset({"tr"}), frozenset({"table"})),
    "td": (frozenset({"td", "th"}), frozenset({"tr", "table"})),
    "th": (frozenset({"td", "th"}), frozenset({"tr", "table"})),
    "option": (frozenset({"option"}), frozenset({"select"})),
}
_FENCES_P = frozenset({"table", "td", "th", "button", "object"})


@dataclass(slots=True)
class Outline:
    """The open elements, innermost last. `hidden` counts those that hide what is in them."""

    hidden: int = 0
    _open: list[tuple[str, bool]] = field(default_factory=list)
    _places: dict[str, list[int]] = field(default_factory=dict)  # in it, by name

    def open(self, tag: Tag) -> list[str]:
        """Enter an element; the shown elements that it ends, innermost first."""
        ended: list[str] = []
        if tag.name in _ENDS:
            ended += self._end_near(*_ENDS[tag.name])
        if tag.name in _ENDS_P:
            ended += self._end_near(frozenset({"p"}), _FENCES_P)
            ended += self._end_inline()
        alone = tag.name in _VOID or (tag.name in ("svg", "math") and tag.raw.endswith("/"))
        if not alone:
            hides = tag.name in _DROPPED or is_hidden(tag.raw)
            hides = hides or (tag.name in _FURNITURE and not self.is_open(*_WITH_OWN))
            places = self._places.get(tag.name)
            if places is None:
                places = self._places[tag.name] = []
            places.append(len(self._open))
            self._open.append((tag.name, hides))
            self.hidden += hides
        return ended

    def close(self, name: str) -> list[str]:
        """Leave the innermost element of this name; the shown elements that end, in order."""
        if not self._places.get(name):
            return []
        ended: list[str] = []
        while self._open:
            last, hides = self._open.pop()
            self._places[last].pop()
            self.hidden -= hides
            if not self.hidden and not hides:
                ended.append(last)
            if last == name:
                break
        return ended

    def is_open(self, *names: str) -> bool:
        """Whether an element of one of these names is open."""
        return self._innermost(names) >= 0

    def _end_inline(self) -> list[str]:
        """End what cannot contain a block, unless that is in an element that is never shown."""
        if self.hidden > sum(len(self._places.get(name, ())) for name in _PHRASES):
            return []
        ended: list[str] = []
        for name in _PHRASES:
            while self._places.get(name):
                ended += self.close(name)
        return ended

    def _end_near(self, names: frozenset[str], fences: frozenset[str]) -> list[str]:
        last = self._innermost(names)
        if last < 0 or last < self._innermost(fences):
            return []
        return self.close(self._open[last][0])

    def _innermost(self, names: Iterable[str]) -> int:
        """The place of the innermost open element of these names, -1 if there is none."""
        last = -1
        for name in names:
            found = self._places.get(name)
            if found and found[-1] > last:
                last = found[-1]
        return last


_LEVELS = {f"h{level}": level for level in range(1, 7)}
_LOOSE = element_names(
    "address article aside blockquote body center details div dl fieldset figcaption figure footer"
    " form header hr html legend main p section summary table caption ul ol"
)
_TIGHT = frozenset({"br", "dt", "dd", "li", "tr"})
_LISTS = frozenset({"ol", "ul"})
_CELLS = frozenset({"td", "th"})
_IN_CELLS = frozenset({"dl", "ol", "table", "ul"})
_ITEMS = frozenset({"dd", "dt", "li"})
_ROW_ENDS = frozenset({"ul", "ol", "pre", "table", "dl", *_LEVELS})
_TICKS = re.compile(r"`+")
_MAX_DEPTH = 8  # indents of nested lists; deeper ones stand where the eighth does


@dataclass(slots=True)
class Page:
    """The text so far. Feed `handle_tag` every tag, then read `finish()` and `headings`.

    `items`: how many each reversed list has, by the number of its tag; a page that is given them
    numbers those lists from there. `pictures`: their sources.
    """

    items: dict[int, int] = field(default_factory=dict)
    headings: list[Heading] = field(default_factory=list)
    pictures: set[str] = field(default_factory=set)
    _tags: int = 0
    _outline: Outline = field(default_factory=Outline)
    _parts: list[str] = field(default_factory=list)
    _size: int = 0
    _gap: str = ""
    _prefix: str = ""
    _lists: list[ListNumbers] = field(default_factory=list)
    _heading: tuple[int, int, int] | None = None
    _pre: list[str] | None = None
    _is_lowered: bool = False  # whether the last text is a lowered figure
    _row: int | None = None
    _tables: list[bool] = field(default_factory=list)  # the open ones: whether they have names
    _inner: int = 0  # lists and tables that are open in a cell of a table with names

    def handle_tag(self, tag: Tag) -> None:
        """One tag or text, in the order of the page."""
        self._tags += 1
        if tag.kind == "text":
            if not self._outline.hidden:
                self._add_text(tag.raw)
        elif tag.kind == "open":
            for name in self._outline.open(tag):
                self._close(name)
            if not self._outline.hidden:
                (self._add_picture if tag.name == "img" else self._open)(tag)
        else:
            for name in self._outline.close(tag.name):
                self._close(name)

    def finish(self) -> str:
        """The text, once all tags are in."""
        self._close("pre")
        self._end_heading()
        return "".join(self._parts)

    def _open(self, tag: Tag) -> None:
        name = tag.name
        if self._pre is not None:
            if name == "br":
                self._pre.append("\n")
            return
        if name in _LEVELS:
            self._inner = 0  # a heading is no text of a row, whatever has no end
        if self._inner or (name in _IN_CELLS and self._row and self._tables and self._tables[-1]):
            # a list or a table in a cell that has a name: its items are text of the row
            self._inner += name in _IN_CELLS
            self._gap = "; " if name in _CELLS or name in _ITEMS else self._gap or " "
            return
        self._end_before(name)
        if name in _LEVELS:
            self._break("\n\n", "#" * _LEVELS[name] + " ")
            self._heading = (-1, _LEVELS[name], 0)
        elif name == "pre":
            self._break("\n\n")
            self._pre = []
        elif name in _CELLS:
            self._open_cell(name)
        elif name in _TIGHT:
            self._open_tight(tag)
        elif name in _LOOSE:
            self._open_loose(tag)

    def _close(self, name: str) -> None:
        if name == "pre" and self._pre is not None:
            self._write_fence("".join(self._pre).strip("\n"))
        elif self._pre is not None:
            return
        elif self._inner:
            self._inner -= name in _IN_CELLS
        elif name in _LEVELS:
            self._end_heading()
        elif name == "tr" and self._row:
            self._gap = ""
            self._write(" |")
            self._row = None
            self._break("\n")
        elif name in _LISTS and self._lists:
            self._lists.pop()
            self._break("\n" if self._lists else "\n\n")
        elif name in _TIGHT:
            self._break("\n")
        elif name in _LOOSE:
            if name == "table" and self._tables:
                self._tables.pop()
            self._break("\n\n")

    def _open_loose(self, tag: Tag) -> None:
        name = tag.name
        self._break("\n" if name in _LISTS and self._lists else "\n\n")
        if name in _LISTS:
            self._lists.append(open_list(tag, self._tags, self.items))
        if name == "table":
            self._tables.append(False)

    def _open_tight(self, tag: Tag) -> None:
        self._break("\n", self._bullet(tag) if tag.name == "li" else "")
        if tag.name == "tr":
            self._row = 0

    def _bullet(self, item: Tag) -> str:
        if not self._lists:
            return "- "
        numbers = self._lists[-1]
        mark = numbers.next_mark(item)
        if numbers.step < 0:
            self.items[numbers.tag] = numbers.items
        indent = "  " * (min(len(self._lists), _MAX_DEPTH) - 1)
        return f"{indent}{mark} "

    def _open_cell(self, name: str) -> None:
        if name == "th" and self._tables:
            self._tables[-1] = True
        if self._row is None:
            return
        self._gap = "" if self._row else self._gap
        self._write(" | " if self._row else "| ")
        self._row += 1

    def _end_before(self, name: str) -> None:
        """End the row or the heading that cannot contain the element."""
        if name in _ROW_ENDS:
            self._end_row()
        written = self._heading is not None and self._heading[0] >= 0
        if name in _LEVELS or name == "pre" or (written and name in _LOOSE and name != "div"):
            self._end_heading()

    def _end_row(self) -> None:
        """Go on as text without the mark of the cell just opened, for a block in a cell."""
        if self._row and self._parts[-1] in ("| ", " | "):
            self._size -= len(self._parts.pop())
        self._row = None

    def _break(self, gap: str, prefix: str = "") -> None:
        """Ask for a line break or a blank line before the next text; inside a row, a space."""
        if self._row or self._heading is not None:
            self._gap = self._gap or " "
            return
        self._gap = max(self._gap.strip(" "), gap, key=len)
        self._prefix = prefix or self._prefix

    def _add_text(self, text: str) -> None:
        if self._pre is not None:
            self._pre.append(self._as_script(text))
            return
        words = " ".join(text.split())
        is_beside = self._is_lowered and text[:1].isdigit() and not self._outline.is_open("sup")
        if words and (text[0].isspace() or is_beside):
            self._gap = self._gap or " "
        if words:
            self._is_lowered = self._outline.is_open("sub") and words.isdigit()
            self._write(self._as_script(words))
        if text and text[-1].isspace():
            self._gap = self._gap or " "

    def _add_picture(self, tag: Tag) -> None:
        if found := read_picture(tag):
            self.pictures.add(found[0])
            self._add_text("" if self._row else found[1])

    def _as_script(self, text: str) -> str:
        if self._outline.is_open("sup"):
            return write_superscript(text)
        before = self._pre if self._pre is not None else self._parts
        if self._outline.is_open("sub") and before and not self._gap:
            return write_subscript(text, before[-1])
        return text

    def _write(self, text: str) -> None:
        """Write the text, after the requested gap and mark."""
        before = self._gap if self._parts and self._parts[-1] not in ("| ", " | ") else ""
        if self._heading is not None and self._heading[0] < 0:
            # Its text begins after the gap and the mark, which are the next two parts.
            first = len(self._parts) + bool(before) + bool(self._prefix)
            self._heading = (self._size + len(before), self._heading[1], first)
        for part in (before, self._prefix, text):
            if part:
                self._parts.append(part)
                self._size += len(part)
        self._gap = self._prefix = ""

    def _end_heading(self) -> None:
        if self._heading is None:
            return
        start, level, first = self._heading
        self._heading = None
        if start >= 0:
            title = plain_title("".join(self._parts[first:]))
            self.headings.append((start, level, title))
        self._prefix = ""
        self._break("\n\n")

    def _write_fence(self, code: str) -> None:
        self._pre = None
        if code.strip():
            longest = max((len(run) for run in _TICKS.findall(code)), default=0)
            fence = "`" * max(3, longest + 1)
            self._prefix = ""
            self._write(f"{fence}\n{code}\n{fence}")
        self._break("\n\n")


def read_page(parse: Callable[[], Iterable[Tag]]) -> tuple[Page, str]:
    """The page of the tags, and its text; they are read again if lists count down."""
    items: dict[int, int] = {}
    while True:
        page = Page(items=dict(items))
        for tag in parse():
            page.handle_tag(tag)
        if page.items == items:
            return page, page.finish()
        items = page.items

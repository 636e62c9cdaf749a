"""Writes HTML tables again, as tags, with each cell in the rows and columns that it covers.

Names of two lines become one. The cells of a table of one row, which lays out a page, become lines.
A table that has another one in it stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from foveate.ingest.loaders.inline import PLAIN, Inline, Look
from foveate.ingest.loaders.list_numbers import parse_number
from foveate.ingest.loaders.merged_cells import Allowance, Cell, MergedCells
from foveate.ingest.loaders.page import Outline
from foveate.ingest.loaders.tags import Tag, element_names, is_hidden, parse_attributes

_CELLS = frozenset({"td", "th"})
_PARTS = frozenset({"thead", "tbody", "tfoot"})
_ENDS = frozenset({"tr", *_CELLS, *_PARTS})
_BREAKS = element_names("br dd div dt li p")
_SAY = ("alt", "aria-label", "title")
"""Attributes that say what a picture shows, such as a tick."""
_MOST_TAGS = 10_000  # of a row that is written again


def merge_cells(tags: Iterable[Tag]) -> Iterator[Tag]:
    """The tags, with those of tables written again."""
    tables: list[_Table] = []
    allowance = Allowance()
    for tag in tags:
        if tag.name == "table" and tag.kind == "open":
            in_names = bool(tables) and (tables[-1].in_names or tables[-1].has_names)
            if tables:
                yield from tables[-1].leave_as_it_is()
            tables.append(_Table(MergedCells(allowance), in_names))
            yield tag
        elif not tables:
            yield tag
        elif tag.name == "table" and tag.kind == "close":
            yield from tables.pop().finish()
            yield tag
        else:
            yield from tables[-1].read(tag)
    for table in reversed(tables):
        yield from table.leave_as_it_is()


@dataclass(slots=True)
class _Table:
    """A table that is open. `in_names`: it is in a cell of a table with names.

    `_row`: the tags of each cell of the open row, behind the row's own.
    """

    _merged: MergedCells
    in_names: bool
    has_names: bool = False
    _row: list[list[Tag]] = field(default_factory=list)
    _size: int = 0  # tags of the row
    _in_cell: bool = False
    _is_left: bool = False

    def read(self, tag: Tag) -> Sequence[Tag]:
        """Read a tag or a text of the table; the tags that are complete with it."""
        name, is_open = tag.name, tag.kind == "open"
        if self._in_cell and name not in _ENDS and self._size < _MOST_TAGS:
            self._row[-1].append(tag)
            self._size += 1
            return ()
        if self._is_left:
            return (tag,)
        if name == "tr":
            complete = self._end_row()
            self._row = [[tag]] if is_open else []
            return complete
        if name in _CELLS and self._row:
            self._in_cell = is_open
            self._row += [[tag]] if is_open else []
            self.has_names = self.has_names or name == "th"
            return ()
        if name in _PARTS and not (is_open and is_hidden(tag.raw)):
            complete = self._end_row()
            self._merged.end_group()
            return complete
        if self._row and not name and not tag.raw.strip():
            return ()
        return (*self.leave_as_it_is(), tag) if self._row or name in _PARTS else (tag,)

    def finish(self) -> list[Tag]:
        """The tags that are left where the table ends."""
        complete = self._end_row()
        rows = self._merged.finish()
        if rows and self._merged.count == 1 and not self.in_names:
            return complete + _lines(rows[0])
        return complete + self._write(rows)

    def leave_as_it_is(self) -> list[Tag]:
        """What was read so far; what follows is no longer written again."""
        complete = [*self._write(self._merged.finish()), *chain.from_iterable(self._row)]
        self._merged = MergedCells(self._merged.allowance)
        self._row, self._is_left, self._in_cell = [], True, False
        return complete

    def _end_row(self) -> list[Tag]:
        """The rows that are complete with the open one, unless that is hidden."""
        row, self._row, self._in_cell, self._size = self._row, [], False, 0
        if not row or is_hidden(row[0][0].raw):
            return []
        shown = [tags for tags in row[1:] if not is_hidden(tags[0].raw)]
        return self._write(self._merged.add([*map(_cell, shown)]))

    def _write(self, rows: Sequence[Sequence[Cell]]) -> list[Tag]:
        name = "th" if self.has_names else "td"
        written: list[Tag] = []
        for row in rows:
            written.append(Tag("open", "tr", ""))
            for cell in row:
                written += cell.tags or (Tag("open", name, ""), Tag("text", "", cell.text))
            written.append(Tag("close", "tr", ""))
        return written


def _lines(row: Sequence[Cell]) -> list[Tag]:
    """The contents of the cells, each on lines of its own."""
    return [tag for cell in row for tag in (*cell.tags[1:], Tag("open", "br", ""))]


def _cell(tags: Sequence[Tag]) -> Cell:
    """The cell of these tags: its text as it is shown, or what its pictures show."""
    text = _shown_text(tags)
    if not text and (said := _said_text(tags)):
        text, tags = said, (tags[0], Tag("text", "", said))
    if not tags[0].raw:
        return Cell(text, tags=tuple(tags))
    given = parse_attributes(tags[0].raw)
    columns, rows = (parse_number(given.get(name, ""), 1) or 1 for name in ("colspan", "rowspan"))
    return Cell(text, columns, rows, tuple(tags))


def _shown_text(tags: Sequence[Tag]) -> str:
    if len(tags) == 2 and tags[1].kind == "text":  # as most cells are
        return " ".join(tags[1].raw.split())
    outline, line = Outline(), Inline()
    for tag in tags:
        if tag.kind == "open":
            outline.open(tag)
            line.add(" " if tag.name in _BREAKS else "")
        elif tag.kind == "close":
            outline.close(tag.name)
        elif not outline.hidden:
            line.add(tag.raw, _look(outline))
    return " ".join(line.text().split())


_RAISED, _LOWERED = Look(place=1), Look(place=-1)


def _look(outline: Outline) -> Look:
    if outline.is_open("sup"):
        return _RAISED
    return _LOWERED if outline.is_open("sub") else PLAIN


def _said_text(tags: Sequence[Tag]) -> str:
    """What the first attribute or title says that stands for a picture; empty if none does."""
    last = ""
    for tag in tags[1:]:
        given = parse_attributes(tag.raw) if tag.kind == "open" else {}
        texts = [*(given.get(name, "") for name in _SAY), tag.raw if last == "title" else ""]
        if found := next(filter(None, (" ".join(text.split()) for text in texts)), ""):
            return found
        last = tag.name
    return ""

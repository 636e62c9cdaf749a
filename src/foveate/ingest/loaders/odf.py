"""Reads OpenDocument texts and spreadsheets (`.odt`, `.ods`).

Of a text: headings as sections, lists, tables as rows, notes in brackets where they are referred
to. Of a spreadsheet: a record for each row, as its cells show it. Left out: comments and what
tracked changes have deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from foveate.core.errors import BadInput
from foveate.ingest.loaders.archive import Archive, read_properties, without_elements
from foveate.ingest.loaders.blocks import MAX_COLUMNS, Blocks
from foveate.ingest.loaders.body import Body
from foveate.ingest.loaders.formulas import write_formulas
from foveate.ingest.loaders.inline import PLAIN, Inline, Look
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.list_numbers import next_mark, parse_number
from foveate.ingest.loaders.merged_cells import MergedRanges
from foveate.ingest.loaders.pictures import picture_words
from foveate.ingest.loaders.records import Records
from foveate.ingest.loaders.styles import OUTLINE, OdfStyles, read_odf_styles
from foveate.ingest.loaders.text import sections_from_headings
from foveate.ports import LoadedDocument

_CONTENT = "content.xml"
_SKIPPED = frozenset(
    {"annotation", "tracked-changes", "note-citation", "forms", "ruby-text", "number"}
)
_MAX_SPACES = 100
_STORED = ("value", "date-value", "time-value", "boolean-value", "string-value")


def load_odt(data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS) -> tuple[LoadedDocument]:
    """The text as one document; raises `BadInput` if it is damaged, encrypted or over a limit."""
    archive = _open(data, limits, "text", "an OpenDocument text")
    blocks = Blocks(limits)
    _read(archive, _Text(Body(blocks), read_odf_styles(archive)), blocks)
    sections = sections_from_headings(blocks.text(), blocks.headings)
    first = next((name for _, level, name in blocks.headings if level == 1), path.stem)
    return (read_properties(archive, "meta.xml", "date").document(blocks, first, sections),)


def load_ods(data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS) -> tuple[LoadedDocument]:
    """The spreadsheet as one document; raises `BadInput` as `load_odt` does."""
    archive = _open(data, limits, "spreadsheet", "an OpenDocument spreadsheet")
    blocks = Blocks(limits)
    records = Records(limits, blocks)
    _read(archive, _Sheet(records, read_odf_styles(archive)), blocks)
    properties = read_properties(archive, "meta.xml", "date")
    return (properties.document(blocks, path.stem, records.sections),)


def _open(data: bytes, limits: Limits, kind: str, what: str) -> Archive:
    archive = Archive(data, limits)
    if any(name == "encryption-data" for name, _ in archive.starts("META-INF/manifest.xml")):
        raise BadInput("encrypted: save it without a password")
    names = (name for name, _ in archive.starts(_CONTENT))
    if "body" in names and next(names, "") == kind:
        return archive
    raise BadInput(f"a zip archive, but not {what}; give it the right suffix")


def _read(archive: Archive, reader: _Text | _Sheet, blocks: Blocks) -> None:
    """Read all of it."""
    seen, pictures = set[str](), _FramePictures()
    shown = without_elements(archive.events(_CONTENT), _SKIPPED)
    for kind, name, given in write_formulas(shown, "math"):
        if kind == "formula":
            reader.add_formula(name)
        elif pictures.read(kind, name, given, reader):
            continue
        elif kind == "text":
            reader.add_text(name)
        elif kind == "end":
            reader.end(name)
        elif name == "object":
            place = given.get("href", "")
            reader.add_formula("" if place in seen else _read_object(archive, place))
            seen.add(place)
        elif sign := _sign(name, given):
            reader.add_text(sign)
        else:
            reader.start(name, given)
    blocks.leave_out("pictures", len(pictures.found))


@dataclass(slots=True)
class _FramePictures:
    """The pictures of the frames, by their parts; one beside an object only stands for that."""

    found: set[str] = field(default_factory=set)
    _image: str = ""
    _has_object: bool = False
    _is_open: bool = False  # and not its text box
    _inside: str = ""  # `title` or `desc`
    _words: dict[str, str] = field(default_factory=dict)

    def read(self, kind: str, name: str, given: Mapping[str, str], body: _Text | _Sheet) -> bool:
        """Read what an element says of a frame, if it does."""
        if kind == "text":
            if self._inside:
                self._words[self._inside] = self._words.get(self._inside, "") + name
        elif name in ("title", "desc") and self._is_open:
            self._inside = name if kind == "start" else ""
            return True
        elif name == "frame":
            if self._image and kind == "end":
                self.found.add(self._image)
                words = self._words.get("desc") or self._words.get("title", "")
                body.add_text(picture_words(words))
            self._is_open = kind == "start"
            self._image, self._has_object, self._words = "", False, {}
        elif name == "text-box":
            self._is_open = kind == "end"
        elif name in ("object", "object-ole"):
            self._has_object = True
        elif name == "image" and kind == "start" and not self._has_object:
            self._image = given.get("href", "-")
        return bool(self._inside)


def _read_object(archive: Archive, place: str) -> str:
    """The formula of an object that is a part of its own; empty if it is none."""
    events = write_formulas(
        archive.events(f"{place.removeprefix('./').rstrip('/')}/{_CONTENT}"), "math"
    )
    kind, text, _ = next(events, ("", "", {}))
    return text if kind == "formula" else ""


def _sign(name: str, given: Mapping[str, str]) -> str:
    """What an element stands for inside of a paragraph."""
    if name == "s":
        return " " * min(parse_number(given.get("c", ""), 1), _MAX_SPACES)
    return {"tab": "\t", "line-break": "\n"}.get(name, "")


def _spans(given: Mapping[str, str]) -> tuple[int, int]:
    """How many columns and rows a cell covers."""
    columns, rows = (given.get(f"number-{what}-spanned", "") for what in ("columns", "rows"))
    return max(parse_number(columns), 1), max(parse_number(rows), 1)


@dataclass(slots=True)
class _Paragraph:
    """An open paragraph. `level`: of a heading; `looks`: of its open spans."""

    level: int | None
    looks: list[Look]
    mark: str = ""
    line: Inline = field(default_factory=Inline)


@dataclass(slots=True)
class _List:
    """A list with those in it: the numbers that its items have reached, by depth."""

    style: str
    reached: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Text:
    """The state of a text; text boxes, notes and cells hold paragraphs of their own."""

    body: Body
    styles: OdfStyles
    _open: list[_Paragraph] = field(default_factory=list)
    _lists: list[_List] = field(default_factory=list)  # the open ones
    _known: dict[str, _List] = field(default_factory=dict)  # by id; without one, the last
    _outline: _List = field(default_factory=lambda: _List(OUTLINE))
    _item: Mapping[str, str] | None = None  # that has begun, until its first paragraph or list
    _notes: int = 0

    def add_text(self, text: str) -> None:
        """Text of the innermost paragraph."""
        if self._open:
            self._open[-1].line.add(text, self._open[-1].looks[-1])

    def add_formula(self, text: str) -> None:
        """A formula of the innermost paragraph; what is none is counted."""
        if self._open and text:
            self._open[-1].line.add_formula(text)
        else:
            self.body.blocks.leave_out("embedded objects")

    def start(self, name: str, given: Mapping[str, str]) -> None:
        """An element begins."""
        if name in ("p", "h"):
            self._start_paragraph(name, given)
        elif name == "span" and self._open:
            looks = self._open[-1].looks
            style = self.styles.style("text", given.get("style-name", ""))
            looks.append(style.look.over(looks[-1]))
        elif name == "note":
            self._notes += 1
        elif name == "list":
            self._start_list(given)
        elif name == "list-item" and self._lists:
            self._item = given
        elif name == "list-header":
            self._item = None
        elif name == "table":
            self.body.start_table()
        elif name == "table-row":
            self.body.start_row()
        elif name == "table-cell":
            self.body.start_cell(*_spans(given))

    def _start_paragraph(self, name: str, given: Mapping[str, str]) -> None:
        style = self.styles.style("paragraph", given.get("style-name", ""))
        level = min(parse_number(given.get("outline-level", ""), 1), 9) if name == "h" else None
        mark = ""
        if self._item is not None and self._lists:
            mark = self._count(self._lists[-1], len(self._lists) - 1, self._item)
            self._item = None
        elif level and not self._lists and style.numbered != "":
            is_header = given.get("is-list-header") == "true"
            mark = "" if is_header else self._count(self._outline, level - 1, given)
        self._open.append(_Paragraph(level, [style.look], mark))

    def _start_list(self, given: Mapping[str, str]) -> None:
        style = given.get("style-name", self._lists[-1].style if self._lists else "")
        goes_on = given.get("continue-numbering") == "true" or "continue-list" in given
        if self._lists:
            root = self._lists[0]
            if not goes_on and self._item is None:  # an item of lists alone is only a place of them
                root.reached.pop(len(self._lists), None)
            found = _List(style, root.reached)
        else:
            named = given.get("continue-list", "")
            before = self._known.get(named) if goes_on else None
            is_on = before and (named or before.style == style)
            found = _List(style, before.reached if before and is_on else {})
            self._known[""] = self._known[given.get("id", "")] = found
        self._lists.append(found)
        self._item = None

    def _count(self, counted: _List, depth: int, given: Mapping[str, str]) -> str:
        """Count an item at that depth; its mark."""
        number = parse_number(given.get("start-value", ""), -1)
        levels = self.styles.levels.get(given.get("style-override", counted.style), {})
        return next_mark(levels, counted.reached, depth, number if number >= 0 else None)

    def end(self, name: str) -> None:
        """An element ends."""
        if name in ("p", "h") and self._open:
            self._end_paragraph(self._open.pop())
        elif name == "span" and self._open and len(self._open[-1].looks) > 1:
            self._open[-1].looks.pop()
        elif name == "note":
            self._notes -= 1
        elif name == "list" and self._lists:
            self._lists.pop()
            self._item = None
            if not self._lists:
                self.body.blocks.end_group()
        elif name == "table":
            self.body.end_table()
        elif name == "table-row":
            self.body.end_row()

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        line, mark = paragraph.line, paragraph.mark
        if self._notes and self._open:
            text = " ".join(line.text().split())
            self.body.blocks.leave_out("struck-out texts", line.struck)
            self.add_text(f" [{text}]" if text else "")
            return
        depth = len(self._lists) - 1
        self.body.end_paragraph(line, level=paragraph.level, depth=depth, mark=mark)


@dataclass(slots=True)
class _Sheet:
    """The state of a spreadsheet: the row and the cell that are open."""

    records: Records
    styles: OdfStyles
    _row: int = 0
    _rows: int = 1  # how many times the open row is repeated
    _times: int = 1  # how many times the open cell is
    _cells: dict[int, str] = field(default_factory=dict)
    _column: int = 0  # of the open cell
    _merged: MergedRanges = field(default_factory=MergedRanges)
    _cell: Inline | None = None
    _begun: bool = False  # whether the cell has a paragraph
    _stored: str = ""  # the value of the cell, which may have no text
    _looks: list[Look] = field(default_factory=lambda: [PLAIN])  # of its open spans

    def add_text(self, text: str) -> None:
        """Text of the open cell."""
        if self._cell is not None:
            self._cell.add(text, self._looks[-1])

    def add_formula(self, _: str) -> None:
        """An object of a sheet, such as a chart of its values, has no place in its rows."""
        self.records.blocks.leave_out("embedded objects")

    def start(self, name: str, given: Mapping[str, str]) -> None:
        """An element begins."""
        if name == "table":
            self._row, self._merged = 0, MergedRanges()
            self.records.begin_sheet(given.get("name", ""))
        elif name == "table-row":
            self._rows = parse_number(given.get("number-rows-repeated", ""), 1)
            self._cells, self._column = {}, 0
        elif name in ("table-cell", "covered-table-cell"):
            self._times = parse_number(given.get("number-columns-repeated", ""), 1)
            self._cell, self._looks, self._begun = Inline(), [PLAIN], False
            self._stored = next(filter(None, map(given.get, _STORED)), "")
            columns, rows = _spans(given)
            if columns > 1 or rows > 1:
                row, column = self._row + 1, self._column
                self._merged.add(row, row + rows - 1, column, column + columns - 1)
        elif name == "p" and self._cell is not None:
            self._cell.add(" " if self._begun else "")
            self._begun = True
        elif name == "span":
            style = self.styles.style("text", given.get("style-name", ""))
            self._looks.append(style.look.over(self._looks[-1]))

    def end(self, name: str) -> None:
        """An element ends."""
        if name in ("table-cell", "covered-table-cell") and self._cell is not None:
            text, first = self._cell.text() or self._stored, self._column
            self.records.blocks.leave_out("struck-out texts", self._cell.struck)
            self._cell = None
            self._column += self._times
            if text.strip():  # else up to the edge of the sheet, if no other follows
                if self._column > MAX_COLUMNS:
                    raise BadInput(f"row {self._row + 1} has more than {MAX_COLUMNS} cells")
                self._cells.update(dict.fromkeys(range(first, self._column), text))
        elif name == "span" and len(self._looks) > 1:
            self._looks.pop()
        elif name == "table-row":
            for number in range(self._rows if self._cells else 0):
                row = self._row + number + 1
                filled = self._merged.fill(row, self._cells)
                self.records.add_row(row, filled, is_wide=self._merged.is_wide)
            self._row += self._rows
        elif name == "table":
            self.records.end_sheet()

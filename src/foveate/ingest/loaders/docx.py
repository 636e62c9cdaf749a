"""Reads Word files: headings as sections, lists with their marks, tables and charts as rows.

A paragraph of the style Title titles the document, and headings of level 1 stand below it.

There are no page numbers before layout. Notes appear in brackets at their reference. Left out:
headers, footers, comments, deleted and hidden text.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from foveate.ingest.loaders.archive import Archive, Event, read_properties, without_elements
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.body import Body
from foveate.ingest.loaders.drawings import DRAWN, Drawings
from foveate.ingest.loaders.formulas import write_formulas
from foveate.ingest.loaders.inline import PLAIN, Inline, Look, read_look
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.list_numbers import parse_number
from foveate.ingest.loaders.pictures import DrawnPictures, Pictures, picture_words
from foveate.ingest.loaders.styles import Lists, Style, read_word_lists, read_word_styles
from foveate.ingest.loaders.symbol_fonts import read_sign
from foveate.ingest.loaders.text import sections_from_headings
from foveate.ports import LoadedDocument

REFERENCES = {"footnoteReference": "footnote", "endnoteReference": "endnote"}


_SKIPPED_ELEMENTS = frozenset(
    {"Fallback", "del", "delText", "instrText", "moveFrom", "pPrChange", "rPrChange"}
    | {"tblPrChange", "tcPrChange", "trPrChange"}
)
_FALSE_VALUES = ("0", "false", "off")
_FIELDS = frozenset({"checkBox", "default", "checked", "ddList", "result", "listEntry"})
_TABLES = {"tbl": Body.start_table, "tr": Body.start_row, "tc": Body.start_cell}
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def load_docx(
    data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS, images: bool = False
) -> tuple[LoadedDocument]:
    """The file as one document, titled by its properties, its title paragraph or its name.

    `images`: whether the images in its text are read too.
    """
    archive = Archive(data, limits)
    part = archive.main_part("document")
    reader = _Reader(
        Body(Blocks(limits)),
        read_word_styles(archive, archive.related_part(part, "styles")),
        read_word_lists(archive, archive.related_part(part, "numbering")),
    )
    reader.notes = _read_notes(archive, part, reader, limits)
    blocks = reader.body.blocks
    pictures, shown = Pictures(limits, images), DrawnPictures(archive, part)
    drawings, drawn = Drawings(archive, part), list[tuple[str, dict[str, str]]]()
    for kind, name, given in _events(archive, part):
        reader.handle_event(kind, name, given)
        if kind == "start" and shown.begins(name, given):
            pictures.add(*shown.target(given), blocks.size, blocks.size, caption=shown.caption)
            reader.add_text(picture_words(shown.caption))
        elif kind == "start" and name in DRAWN:
            drawn.append((name, given))
        elif drawn and reader.is_between:
            drawings.write(drawn, blocks)
            drawn.clear()
    drawings.write(drawn, blocks)
    first = next((name for _, level, name in blocks.headings if level == 1), path.stem)
    sections = sections_from_headings(blocks.text(), blocks.headings)
    loaded = read_properties(archive).document(blocks, reader.body.title or first, sections)
    return (pictures.finish(loaded),)


def _events(archive: Archive, part: str) -> Iterator[Event]:
    return write_formulas(without_elements(archive.events(part), _SKIPPED_ELEMENTS), "oMath")


def _read_notes(
    archive: Archive, part: str, known: _Reader, limits: Limits
) -> dict[tuple[str, str], str]:
    """The notes by kind and id; what separates them from the page has no text."""
    found: dict[tuple[str, str], str] = {}
    size = 0
    for note in REFERENCES.values():
        key, reader = "", known
        for kind, name, given in _events(archive, archive.related_part(part, f"{note}s")):
            if name == note and kind == "start":
                key = given.get("id", "")
                reader = _Reader(Body(Blocks(limits)), known.styles, known.lists)
            elif name == note and kind == "end":
                text = found[note, key] = " ".join(reader.body.blocks.text().split())
                size += len(text)
                limits.check_bound("text_chars", size, "characters of notes")
            elif reader is not known:
                reader.handle_event(kind, name, given)
    return found


@dataclass(slots=True)
class _Paragraph:
    """A paragraph and its open run and check box."""

    line: Inline = field(default_factory=Inline)
    style: Style = field(default_factory=Style)
    style_name: str = ""
    level: int | None = None
    number: str | None = None
    depth: int | None = None
    look: Look = PLAIN
    choice: list[str] | None = None

    def add(self, text: str) -> None:
        """Text of the open run."""
        self.line.add(text, self.look.over(self.style.look))

    def add_sign(self, font: str, code: str) -> None:
        """A sign of a font, at the height of the open run."""
        look = replace(self.look.over(self.style.look), font="")
        self.line.add(read_sign(font, code), look)

    def read_field(self, kind: str, name: str, given: dict[str, str]) -> None:
        """Part of a form field: a check box as it stands, the entry of a list that is chosen."""
        value = given.get("val", "")
        if kind == "start" and name == "ddList":
            self.choice = [""]
        elif kind == "start" and name == "checkBox":
            self.choice = ["☐"]
        elif self.choice is None:
            return
        elif kind == "start" and name in ("default", "checked", "result"):
            is_list = self.choice[0] not in ("☐", "☒")
            self.choice[0] = value if is_list else "☐" if value in _FALSE_VALUES else "☒"
        elif kind == "start" and name == "listEntry":
            self.choice.append(value)
        elif kind == "end" and name in ("checkBox", "ddList"):
            chosen = parse_number(self.choice[0]) + 1
            shown = self.choice[0] if name == "checkBox" else "".join(self.choice[chosen:][:1])
            self.line.add(shown)
            self.choice = None


@dataclass(slots=True)
class _Reader:
    """The state of a part; text boxes and table cells contain paragraphs of their own."""

    body: Body
    styles: Mapping[Hashable, Style]
    lists: Lists
    notes: dict[tuple[str, str], str] = field(default_factory=dict)
    _open: list[_Paragraph] = field(default_factory=list)
    _in_properties: bool = False
    _in_text: bool = False

    @property
    def is_between(self) -> bool:
        """Whether neither a paragraph nor a table is open."""
        return not self._open and not self.body.is_in_table

    def add_text(self, text: str) -> None:
        """Text of the innermost paragraph."""
        if self._open:
            self._open[-1].line.add(text)

    def handle_event(self, kind: str, name: str, given: dict[str, str]) -> None:
        """One event of the part."""
        paragraph = self._open[-1] if self._open else None
        if kind == "text":
            if self._in_text and paragraph is not None:
                paragraph.add(name)
        elif kind == "formula":
            if paragraph is not None:
                paragraph.line.add_formula(name)
        elif name in ("gridSpan", "vMerge") and kind == "start":
            self._span(name, given.get("val", ""))
        elif name in _FIELDS and paragraph is not None:
            paragraph.read_field(kind, name, given)
        else:
            (self._start if kind == "start" else self._end)(name, given)

    def _start(self, name: str, given: dict[str, str]) -> None:
        if name == "p":
            self._open.append(_Paragraph())
        elif name == "t":
            self._in_text = True
        elif name in ("pPr", "rPr"):
            self._in_properties = True
        elif name in _TABLES:
            _TABLES[name](self.body)
        elif self._open and self._in_properties:
            self._set_property(name, given)
        elif self._open and name == "r":
            self._open[-1].look = PLAIN
        elif self._open and name == "sym":
            self._open[-1].add_sign(given.get("font", ""), given.get("char", ""))
        elif self._open:
            self._open[-1].line.add(_SIGNS.get(name) or self._take_note(name, given))

    def _span(self, name: str, value: str) -> None:
        """The open cell covers columns, or goes on with the one above."""
        cells = self.body.cells
        if cells and name == "gridSpan":
            cells[-1] = cells[-1]._replace(columns=max(parse_number(value), 1))
        elif cells and value != "restart":
            cells[-1] = cells[-1]._replace(rows=0)

    def _take_note(self, name: str, given: dict[str, str]) -> str:
        """Take the note once: a long one may be referred to a million times."""
        note = self.notes.pop((REFERENCES.get(name, ""), given.get("id", "")), "")
        return f" [{note}]" if note else ""

    def _set_property(self, name: str, given: dict[str, str]) -> None:
        paragraph, value = self._open[-1], given.get("val", "")
        if name == "pStyle":
            paragraph.style = self.styles.get(value, Style())
            paragraph.style_name = value
        elif name == "rStyle":
            paragraph.look = paragraph.look.over(self.styles.get(value, Style()).look)
        elif name == "outlineLvl" and value.isdecimal():
            paragraph.level = int(value) + 1 if int(value) < 9 else None
        elif name == "numId":
            paragraph.number = value
        elif name == "ilvl" and value.isdecimal():
            paragraph.depth = min(parse_number(value), 9)
        else:
            paragraph.look = read_look(name, given).over(paragraph.look)

    def _end(self, name: str, _: dict[str, str]) -> None:
        if name == "t":
            self._in_text = False
        elif name == "pPr" and self._open:
            self._in_properties = False
            self._open[-1].look = PLAIN  # that of its mark
        elif name == "rPr":
            self._in_properties = False
        elif name == "p" and self._open:
            self._end_paragraph(self._open.pop())
        elif name == "tbl":
            self.body.end_table()
        elif name == "tr":
            self.body.end_row()

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        level = paragraph.style.level if paragraph.level is None else paragraph.level
        depth, mark = self._mark(paragraph)
        self.body.end_paragraph(paragraph.line, level=level, depth=depth, mark=mark)

    def _mark(self, paragraph: _Paragraph) -> tuple[int, str]:
        """The depth in its list and its number there, which an empty one has too."""
        style = paragraph.style
        number = style.numbered if paragraph.number is None else paragraph.number
        if number in (None, "", "0"):
            return 0, ""
        depth = style.depth if paragraph.depth is None else paragraph.depth
        if depth is None:
            depth = self.lists.depth_of(number, paragraph.style_name)
        return depth, self.lists.next_mark(number, depth)

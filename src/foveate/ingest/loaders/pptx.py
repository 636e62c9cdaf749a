"""Reads PowerPoint: a slide is a page, its title a section, its notes follow it.

Charts are read as the rows of their values, diagrams as lists. Slide numbers, dates and footers are
left out; hidden slides are read. A repeated slide is read once. Shapes come in the order of the
file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from foveate.ingest.loaders.archive import Archive, read_properties, without_elements
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.drawings import DRAWN, Drawings
from foveate.ingest.loaders.formulas import write_formulas
from foveate.ingest.loaders.inline import PLAIN, Inline, Look
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.list_numbers import Level, next_mark, parse_number
from foveate.ingest.loaders.merged_cells import Allowance, Cell, MergedCells
from foveate.ingest.loaders.pictures import DrawnPictures, Pictures, picture_words
from foveate.ingest.loaders.symbol_fonts import read_private_signs
from foveate.ingest.loaders.text import plain_title
from foveate.ports import LoadedDocument, Section

_TITLES = ("title", "ctrTitle")
_FURNITURE = ("sldNum", "dt", "ftr", "hdr")
_NUMBERS = re.compile(r"(arabic|alphaLc|alphaUc|romanLc|romanUc)(Period|ParenR|ParenBoth|Plain)")
_KINDS = {"arabic": "1", "alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_FORMS = {"Period": "%1.", "ParenR": "%1)", "ParenBoth": "(%1)", "Plain": "%1"}


def load_pptx(
    data: bytes, path: Path, *, limits: Limits = DEFAULT_LIMITS, images: bool = False
) -> tuple[LoadedDocument]:
    """The file as one document, titled by its properties, its first title or its name.

    `images`: whether the images of its slides are read too.
    """
    archive = Archive(data, limits)
    part = archive.main_part("presentation")
    slides = _slide_parts(archive, part)
    limits.check_bound("pages", len(slides), "slides")
    blocks, pictures, allowance = Blocks(limits), Pictures(limits, images), Allowance()
    sections: list[Section] = []
    for slide, number in _first_places(slides).items():
        before = blocks.size
        shapes, title = _write_slide(archive, slide, blocks, allowance)
        start = before + 2 * bool(before) if blocks.size > before else before
        if blocks.size > before:
            sections.append(Section(start=start, end=blocks.size, path=title, page=number))
        for key, read, caption in (each for shape in shapes for each in shape.pictures):
            pictures.add(key, read, start, blocks.size, page=number, caption=caption)
    title = next((each.path for each in sections if each.path), path.stem)
    return (pictures.finish(read_properties(archive).document(blocks, title, tuple(sections))),)


def _slide_parts(archive: Archive, part: str) -> list[str]:
    """The slides' parts in presentation order."""
    known = archive.relations(part)
    return [
        known.get(given.get("r:id", ""), ("", ""))[1]
        for name, given in archive.starts(part)
        if name == "sldId"
    ]


def _first_places(slides: list[str]) -> dict[str, int]:
    """Each slide's first number."""
    found: dict[str, int] = {}
    for number, slide in enumerate(slides, 1):
        found.setdefault(slide, number)
    return found


def _write_slide(
    archive: Archive, part: str, blocks: Blocks, allowance: Allowance
) -> tuple[list[_Shape], str]:
    """Write the slide; its shapes and its title."""
    shapes = _read_shapes(archive, part)
    titles = [plain_title(" ".join(shape.texts())) for shape in shapes if shape.kind in _TITLES]
    title = next((each for each in titles if each), "")
    blocks.end_group()
    blocks.add_heading(1, title)
    drawings = Drawings(archive, part)
    for shape in shapes:
        if shape.kind not in (*_TITLES, *_FURNITURE):
            shape.write_to(blocks, MergedCells(allowance))
            drawings.write(shape.drawn, blocks)
    for shape in _read_shapes(archive, archive.related_part(part, "notesSlide")):
        if shape.kind == "body" and any(shape.texts()):
            blocks.add_paragraph("Notes: " + "\n".join(shape.texts()))
    return shapes, title


@dataclass(slots=True)
class _Paragraph:
    """A paragraph; `numbers`: the kind of its numbers and the first of them."""

    line: Inline = field(default_factory=Inline)
    depth: int = 0
    numbers: tuple[str, int] | None = None


@dataclass(slots=True)
class _Shape:
    """A shape's paragraphs, or a table's rows; `kind` is that of its placeholder.

    `drawn`: its charts and diagrams. `pictures`: name, reader and caption of each.
    """

    kind: str = ""
    paragraphs: list[_Paragraph] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)
    drawn: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    pictures: list[tuple[str, Callable[[], bytes], str]] = field(default_factory=list)
    cell: Inline | None = None  # the open one

    def texts(self) -> list[str]:
        """The paragraphs that say something."""
        return [text for each in self.paragraphs if (text := each.line.text().strip())]

    def write_to(self, blocks: Blocks, merged: MergedCells) -> None:
        """Write it down: several paragraphs are the items of a list."""
        several = len(self.texts()) > 1 and self.kind in ("body", "obj", "")
        reached: dict[int, tuple[tuple[str, int], dict[int, int]]] = {}
        for each in self.paragraphs:
            text = each.line.text().strip()
            blocks.leave_out("struck-out texts", each.line.struck)
            mark = _next_mark(each, reached) if text else ""
            if several or mark:
                blocks.add_item(each.depth, mark or "-", text)
            else:
                blocks.add_paragraph(text)
        for row in self.rows:
            blocks.add_rows(merged.add(row))
        blocks.add_rows(merged.finish())
        blocks.end_group()


def _next_mark(
    paragraph: _Paragraph, reached: dict[int, tuple[tuple[str, int], dict[int, int]]]
) -> str:
    """The number of the paragraph if it has one, by what its shape has reached at each depth."""
    depth, numbers = paragraph.depth, paragraph.numbers
    for deeper in [each for each in reached if each > depth]:
        del reached[deeper]
    before, count = reached.pop(depth, (None, {}))
    if numbers is None:
        return ""
    reached[depth] = (numbers, count if before == numbers else {})
    found = _NUMBERS.fullmatch(numbers[0])
    kind, form = found.groups() if found is not None else ("arabic", "Period")
    level = Level(start=numbers[1], kind=_KINDS[kind], text=_FORMS[form])
    return next_mark({0: level}, reached[depth][1], 0)


def _read_shapes(archive: Archive, part: str) -> list[_Shape]:
    reader = _SlideReader(DrawnPictures(archive, part))
    shown = without_elements(archive.events(part), ("Fallback",))
    for kind, name, given in write_formulas(shown, "oMath"):
        reader.handle_event(kind, name, given)
    return reader.found


@dataclass(slots=True)
class _SlideReader:
    """Reads the shapes of a slide."""

    shown: DrawnPictures
    found: list[_Shape] = field(default_factory=list)
    _speaks: bool = False
    _look: Look = PLAIN
    _signs: str = ""  # the font of signs of the open run
    _in_look: bool = False

    def handle_event(self, kind: str, name: str, given: Mapping[str, str]) -> None:
        """One event of the slide."""
        if kind == "formula":
            if line := self._line():
                line.add_formula(name)
        elif kind == "text":
            if self._speaks and (line := self._line()):
                line.add(read_private_signs(name, self._signs), self._look)
        elif name == "t":
            self._speaks = kind == "start"
        elif name == "rPr":
            self._in_look = kind == "start"
            self._look = _run_look(given) if self._in_look else self._look
        elif kind == "start" and name in _SHAPES:
            self.found.append(_Shape())
        elif kind == "start" and self.found:
            self._start_inside(name, given)
        elif name == "tc" and self.found:
            self._end_cell()

    def _line(self) -> Inline | None:
        """What the text goes to."""
        shape = self.found[-1] if self.found else _Shape()
        last = shape.paragraphs[-1].line if shape.paragraphs else None
        return shape.cell if shape.rows else last

    def _start_inside(self, name: str, given: Mapping[str, str]) -> None:
        shape = self.found[-1]
        if name == "ph":
            shape.kind = given.get("type", "obj")
        elif name in DRAWN:
            shape.drawn.append((name, given))
        elif name == "tr":
            shape.rows.append([])
        elif name == "tc" and shape.rows:
            self._start_cell(shape, given)
        elif name in ("r", "fld"):
            self._look, self._signs = PLAIN, ""
        elif self._in_look and name == "latin":
            self._look = replace(self._look, font=given.get("typeface", ""))
        elif self._in_look and name == "sym":
            self._signs = given.get("typeface", "")
        else:
            self._start_paragraph(shape, name, given)

    def _start_paragraph(self, shape: _Shape, name: str, given: Mapping[str, str]) -> None:
        if self.shown.begins(name, given):
            caption = self.shown.caption
            shape.pictures.append((*self.shown.target(given), caption))
            shape.paragraphs.append(_Paragraph())
            shape.paragraphs[-1].line.add(picture_words(caption))
        elif name == "p" and shape.rows:
            self._add(" ")
        elif name == "p":
            shape.paragraphs.append(_Paragraph())
        elif name == "br":
            self._add("\n")
        elif name == "pPr" and shape.paragraphs:
            shape.paragraphs[-1].depth = min(parse_number(given.get("lvl", "")), 9)
        elif name == "buAutoNum" and shape.paragraphs and not shape.rows:
            first = parse_number(given.get("startAt", ""), 1)
            shape.paragraphs[-1].numbers = (given.get("type", ""), first)

    def _add(self, text: str) -> None:
        if line := self._line():
            line.add(text)

    def _start_cell(self, shape: _Shape, given: Mapping[str, str]) -> None:
        shape.cell = Inline()
        if given.get("hMerge") not in ("1", "true"):
            columns = parse_number(given.get("gridSpan", ""), 1)
            goes_on = given.get("vMerge") in ("1", "true")
            shape.rows[-1].append(Cell("", max(columns, 1), 0 if goes_on else 1))
        else:
            shape.rows[-1].append(_COVERED)

    def _end_cell(self) -> None:
        shape = self.found[-1]
        if shape.cell is None or not shape.rows or not shape.rows[-1]:
            return
        text, last = shape.cell.text(), shape.rows[-1].pop()
        shape.cell = None
        if last is not _COVERED:
            shape.rows[-1].append(last._replace(text=text if last.rows else ""))


_SHAPES = ("sp", "graphicFrame", "cxnSp", "pic")
_COVERED = Cell("", 0, 0)  # by the cell before


def _run_look(given: Mapping[str, str]) -> Look:
    moved = given.get("baseline", "0")
    place = 0 if moved.strip("-0%") == "" else -1 if moved.startswith("-") else 1
    return Look(place=place, struck=given.get("strike", "noStrike") != "noStrike")

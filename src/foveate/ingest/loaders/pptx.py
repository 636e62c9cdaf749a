"""Reads PowerPoint: a slide is a page, its title a section, its notes follow it.

Slide numbers, dates and footers are left out; hidden slides are read. A repeated slide is read
once. Shapes come in the order of the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from foveate.ingest.loaders.archive import Archive, read_properties
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.pictures import Pictures, drawn_images
from foveate.ingest.loaders.text import plain_title
from foveate.ports import LoadedDocument, Section

_TITLES = ("title", "ctrTitle")
_FURNITURE = ("sldNum", "dt", "ftr", "hdr")


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
    blocks, pictures = Blocks(limits), Pictures(limits)
    sections: list[Section] = []
    for slide, number in _first_places(slides).items():
        section = _write_slide(archive, slide, number, blocks)
        sections += [section] if section else []
        if images:
            start, end = (section.start, section.end) if section else (blocks.size, blocks.size)
            for name, caption in drawn_images(archive, slide):
                pictures.add(archive.read(name), start, end, page=number, caption=caption)
    title = next((each.path for each in sections if each.path), path.stem)
    loaded = read_properties(archive).document(blocks.text(), title, tuple(sections))
    return (replace(loaded, images=tuple(pictures.found.values())),)


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


def _write_slide(archive: Archive, part: str, number: int, blocks: Blocks) -> Section | None:
    """Write the slide; its section, or None if it is empty."""
    shapes = _read_shapes(archive, part)
    titles = [plain_title(" ".join(shape.texts())) for shape in shapes if shape.kind in _TITLES]
    title = next((each for each in titles if each), "")
    blocks.end_group()
    before = blocks.size
    blocks.add_heading(1, title)
    for shape in shapes:
        if shape.kind not in (*_TITLES, *_FURNITURE):
            shape.write_to(blocks)
    for shape in _read_shapes(archive, archive.related_part(part, "notesSlide")):
        if shape.kind == "body" and any(shape.texts()):
            blocks.add_paragraph("Notes: " + "\n".join(shape.texts()))
    if blocks.size == before:
        return None
    return Section(start=before + 2 * bool(before), end=blocks.size, path=title, page=number)


@dataclass(slots=True)
class _Shape:
    """A shape's paragraphs, or a table's rows; `kind` is that of its placeholder."""

    kind: str = ""
    paragraphs: list[tuple[int, list[str]]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    def texts(self) -> list[str]:
        """The paragraphs that say something."""
        return [text for _, parts in self.paragraphs if (text := "".join(parts).strip())]

    def write_to(self, blocks: Blocks) -> None:
        """Write it down: several paragraphs are the items of a list."""
        several = len(self.texts()) > 1 and self.kind in ("body", "obj", "")
        for depth, parts in self.paragraphs:
            text = "".join(parts).strip()
            if several:
                blocks.add_item(depth, "-", text)
            else:
                blocks.add_paragraph(text)
        for row in self.rows:
            blocks.add_row(row)
        blocks.end_group()


def _read_shapes(archive: Archive, part: str) -> list[_Shape]:
    found: list[_Shape] = []
    speaks, skipped = False, 0
    for kind, name, given in archive.events(part):
        if kind == "text":
            if speaks and found and not skipped:
                _append_text(found[-1], name)
        elif name == "Fallback":
            skipped += 1 if kind == "start" else -1
        elif name == "t":
            speaks = kind == "start"
        elif kind == "start" and not skipped:
            _start_element(found, name, given)
    return found


def _start_element(found: list[_Shape], name: str, given: dict[str, str]) -> None:
    if name in ("sp", "graphicFrame", "cxnSp"):
        found.append(_Shape())
    elif not found:
        return
    elif name == "ph":
        found[-1].kind = given.get("type", "obj")
    elif name == "tr":
        found[-1].rows.append([])
    elif name == "tc" and found[-1].rows:
        found[-1].rows[-1].append("")
    elif name == "p":
        if found[-1].rows and found[-1].rows[-1]:
            _append_text(found[-1], " ")
        else:
            found[-1].paragraphs.append((0, []))
    elif name == "br":
        _append_text(found[-1], "\n")
    elif name == "pPr" and found[-1].paragraphs and given.get("lvl", "").isdecimal():
        found[-1].paragraphs[-1] = (min(int(given["lvl"][:2]), 9), found[-1].paragraphs[-1][1])


def _append_text(shape: _Shape, text: str) -> None:
    if shape.rows and shape.rows[-1]:
        shape.rows[-1][-1] += text
    elif shape.paragraphs:
        shape.paragraphs[-1][1].append(text)

"""Reads PDF by PDFium: the text of each page with its number, bookmarks as sections.

A file without any text, such as scanned pages, is refused. PDFium is not thread-safe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

from foveate.core.errors import BadInput, MissingExtra
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.limits import DEFAULT_LIMITS, Limits
from foveate.ingest.loaders.pdf_glyphs import form_fields, read_glyphs
from foveate.ingest.loaders.pdf_headings import drop_running_lines, mark_titles, title_levels
from foveate.ingest.loaders.pdf_layout import Piece, Text, Title, arrange, page_pieces
from foveate.ingest.loaders.pdf_lines import Hyphens
from foveate.ingest.loaders.pictures import MIN_SIDE, Pictures, png_from_pixels
from foveate.ingest.loaders.text import plain_title
from foveate.ports import LoadedDocument, Section

_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-])(\d\d)'?(\d\d)?)?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\ufffe\uffff]")
_BOOKMARKS = 10_000
_FORM_DEPTH = 3  # forms within forms in which images are looked for
_MAX_PIXELS = 50_000_000  # of an image that is decoded
_NO_TEXT = "no text on its {} pages: it may be a scan, which needs text recognition first"


def load_pdf(
    data: bytes,
    path: Path,
    *,
    limits: Limits = DEFAULT_LIMITS,
    passwords: Sequence[str] = (),
    images: bool = False,
) -> tuple[LoadedDocument]:
    """The file as one document, titled by its title or its name; a section is a page.

    `passwords` are tried in order on a file that needs one. `images`: whether those of its pages
    are read too.
    Raises `BadInput` if it is damaged, encrypted, over a limit or without text, and `MissingExtra`
    without `pypdfium2`.
    """
    pdf = _open_pdf(data, passwords)
    try:
        limits.check_bound("pages", len(pdf), "pages")
        info = pdf.get_metadata_dict(skip_empty=True)
        pictures = Pictures(limits, images)
        blocks, sections = _read_pages(pdf, limits, pictures)
        if not blocks.size:
            raise BadInput(_NO_TEXT.format(len(pdf)))
    finally:
        pdf.close()
    loaded = LoadedDocument(
        text=blocks.text(),
        title=plain_title(info.get("Title", "")) or path.stem,
        sections=tuple(sections),
        metadata={"author": info["Author"]} if info.get("Author") else {},
        modified_at=_parse_date(info.get("ModDate", "") or info.get("CreationDate", "")),
        lines=False,
        left_out=dict(blocks.left_out),
    )
    return (pictures.finish(loaded),)


def _open_pdf(data: bytes, passwords: Sequence[str]) -> Any:
    try:
        import pypdfium2
    except ImportError:
        raise MissingExtra("pypdfium2", "documents") from None
    for password in (None, *passwords):
        try:
            pdf = pypdfium2.PdfDocument(data, password=password)
            pdf.init_forms()
            return pdf
        except pypdfium2.PdfiumError as error:
            if "password" not in (said := str(error).lower()) and "security" not in said:
                raise BadInput(f"damaged: {error}") from None
    if passwords:
        raise BadInput(f"encrypted: none of the passwords opens it ({len(passwords)} tried)")
    raise BadInput("encrypted: give its password (--password-file), or save it without one")


def _read_pages(pdf: Any, limits: Limits, pictures: Pictures) -> tuple[Blocks, list[Section]]:
    blocks = Blocks(limits)
    sections: list[Section] = []
    paths = dict(_bookmark_paths(pdf))
    pages = _page_texts(pdf, blocks, pictures, with_titles=not paths)
    texts = [text for page in pages for text in page]
    hyphens = Hyphens(text for text in map(_text_of_lines, texts) if text)
    levels = title_levels(text for text in texts if isinstance(text, Title))
    trail: list[tuple[int, str]] = []
    path = ""
    for number, page in enumerate(pages):
        path = paths.get(number, path)
        begun = before = blocks.size
        for text in page:
            if isinstance(text, Title):
                _end_section(sections, begun, blocks, path, number)
                begun = blocks.size
                path = _enter(trail, levels[text.size], hyphens.join_lines(text.text), blocks)
            else:
                _write(text, hyphens, blocks)
        _end_section(sections, begun, blocks, path, number)
        if pictures.is_wanted:
            start = before + 2 * bool(before) if blocks.size > before else before
            for image in _page_images(pdf, number):
                pictures.add(*image, start, blocks.size, page=number + 1)
    return blocks, sections


def _text_of_lines(text: Text) -> str:
    """The text whose words may be cut by its lines."""
    return text.text if isinstance(text, Title) else text if isinstance(text, str) else ""


def _end_section(
    sections: list[Section], start: int, blocks: Blocks, path: str, number: int
) -> None:
    if blocks.size > start:
        start += 2 * bool(start)
        sections.append(Section(start=start, end=blocks.size, path=path, page=number + 1))


def _enter(trail: list[tuple[int, str]], level: int, text: str, blocks: Blocks) -> str:
    """Write a heading; the path of what follows it."""
    title = plain_title(_CONTROL.sub("", text))
    blocks.add_heading(level, title)
    trail[:] = [step for step in trail if step[0] < level] + [(level, title)]
    return " > ".join(name for _, name in trail)


def _write(text: str | list[list[str]], hyphens: Hyphens, blocks: Blocks) -> None:
    if isinstance(text, str):
        clean = _CONTROL.sub("", hyphens.join_lines(text))
        blocks.add_paragraph("\n".join(line.rstrip() for line in clean.split("\n")))
        return
    blocks.end_group()
    for row in text:
        blocks.add_row([_CONTROL.sub("", cell.replace("\ufffe", "-")) for cell in row])
    blocks.end_group()


def _page_texts(
    pdf: Any, blocks: Blocks, pictures: Pictures, *, with_titles: bool
) -> list[list[Text]]:
    """The texts of each page, without the lines that its pages repeat."""
    pages = [
        _pieces(pdf, number, blocks, pictures, with_titles=with_titles)
        for number in range(len(pdf))
    ]
    blocks.leave_out("repeated headers and footers of pages", drop_running_lines(pages))
    if with_titles:
        mark_titles(pages)
    return [arrange(page) for page in pages]


def _pieces(
    pdf: Any, number: int, blocks: Blocks, pictures: Pictures, *, with_titles: bool
) -> list[Piece]:
    import pypdfium2

    try:
        page = pdf[number]
        spoken = page.get_textpage()
    except pypdfium2.PdfiumError as error:
        raise BadInput(f"damaged: page {number + 1}: {error}") from None
    try:
        if not pictures.is_wanted:
            pictures.missed.update(key for key, _ in _shown_images(page))
        turn = page.get_rotation()
        fields = list(form_fields(page, turn, blocks)) if pdf.formenv else []
        return page_pieces(read_glyphs(spoken, turn, with_bold=with_titles), fields)
    finally:
        spoken.close()
        page.close()


def _page_images(pdf: Any, number: int) -> Iterator[tuple[object, Callable[[], bytes]]]:
    """The images of a page as JPEG or PNG; of one that PDFium cannot read, no bytes."""
    page = pdf[number]
    try:
        for key, shown in _shown_images(page):
            yield key, partial(_image_data, shown)
    finally:
        page.close()


def _shown_images(page: Any) -> Iterator[tuple[object, Any]]:
    """The images of a page that are not small, each by what tells it from others."""
    import pypdfium2
    from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE, FPDFImageObj_GetImageDataRaw

    for shown in page.get_objects(filter=(FPDF_PAGEOBJ_IMAGE,), max_depth=_FORM_DEPTH):
        with suppress(pypdfium2.PdfiumError):
            size = shown.get_px_size()
            if min(size) >= MIN_SIDE:
                yield (*size, FPDFImageObj_GetImageDataRaw(shown, None, 0)), shown


def _image_data(shown: Any) -> bytes:
    import pypdfium2

    with suppress(pypdfium2.PdfiumError, KeyError):
        width, height = shown.get_px_size()
        if width * height > _MAX_PIXELS:
            return b""
        if shown.get_filters() == ["DCTDecode"]:
            return bytes(shown.get_data())
        return _png_from_bitmap(shown.get_bitmap())
    return b""


def _png_from_bitmap(bitmap: Any) -> bytes:
    """PDFium's rows of blue, green and red as PNG."""
    from pypdfium2.raw import FPDFBitmap_BGRA

    pixels = bitmap.to_numpy()
    if pixels.ndim == 2 or pixels.shape[2] == 1:
        return png_from_pixels(pixels.reshape(pixels.shape[:2]))
    order = [2, 1, 0, 3] if bitmap.format == FPDFBitmap_BGRA else [2, 1, 0]
    return png_from_pixels(pixels[:, :, order])


def _bookmark_paths(pdf: Any) -> Iterator[tuple[int, str]]:
    """The path of each page's first bookmark."""
    trail: list[str] = []
    seen: set[int] = set()
    for count, mark in enumerate(pdf.get_toc()):
        if count == _BOOKMARKS:
            return
        trail[mark.level :] = [plain_title(mark.get_title())]
        target = mark.get_dest()
        page = target.get_index() if target is not None else None
        if page is not None and page not in seen:
            seen.add(page)
            yield page, " > ".join(step for step in trail if step)


def _parse_date(text: str) -> datetime | None:
    found = _DATE.match(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    away = timedelta(hours=int(found[8] or 0), minutes=int(found[9] or 0))
    try:
        zone = timezone(-away if found[7] == "-" else away)
        return datetime(year, month or 1, day or 1, hour, minute, second, tzinfo=zone)
    except ValueError:
        return None

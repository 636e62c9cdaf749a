"""The characters and the form fields of a PDF page, with their places as the page is shown."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.pdf_layout import Glyph, Piece

Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""

_TEXT_FIELDS, _BOXES = (4, 5, 6), (2, 3)  # PDFium's: combo, list and text; check and radio
_MOST_FIELDS, _MOST_SIGNS = 10_000, 100_000
_MISSING = 0.01


def _turned(box: Box, turn: int) -> Box:
    """The box on a page that is turned clockwise by so many degrees."""
    left, bottom, right, top = box
    if turn == 90:
        return bottom, -right, top, -left
    if turn == 180:
        return -right, -top, -left, -bottom
    if turn == 270:
        return -top, left, -bottom, right
    return box


def read_glyphs(spoken: Any, turn: int) -> Iterator[Glyph]:
    """The characters in the order of the file, white space without a place."""
    from pypdfium2 import raw

    count = spoken.count_chars()
    text = spoken.get_text_range()
    is_direct = len(text) == count
    box = raw.FS_RECTF()
    measure = raw.FPDFText_GetLooseCharBox
    for at in range(count):
        sign = text[at] if is_direct else _sign(raw.FPDFText_GetUnicode(spoken, at))
        has_box = not sign.isspace() and measure(spoken, at, box)
        if not has_box or min(box.top - box.bottom, box.right - box.left) < _MISSING:
            yield Glyph(sign)
        elif turn:
            yield Glyph(sign, *_turned((box.left, box.bottom, box.right, box.top), turn))
        else:
            yield Glyph(sign, box.left, box.bottom, box.right, box.top)


def _sign(code: int) -> str:
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else ""


def form_fields(page: Any, turn: int, blocks: Blocks) -> Iterator[Piece]:
    """What the fields of a form show: their texts, and boxes as they are ticked."""
    from pypdfium2 import raw

    form = page.pdf.formenv
    count = raw.FPDFPage_GetAnnotCount(page)
    blocks.leave_out("form fields", max(count - _MOST_FIELDS, 0))
    for at in range(min(count, _MOST_FIELDS)):
        mark = raw.FPDFPage_GetAnnot(page, at)
        if not mark:
            continue
        box = raw.FS_RECTF()
        if raw.FPDFAnnot_GetSubtype(mark) == raw.FPDF_ANNOT_WIDGET:
            text = _field_text(form, mark)
            if text and raw.FPDFAnnot_GetRect(mark, box):
                sides = sorted((box.left, box.right)), sorted((box.bottom, box.top))
                (left, right), (bottom, top) = sides
                yield Piece(text, *_turned((left, bottom, right, top), turn))
        raw.FPDFPage_CloseAnnot(mark)


def _field_text(form: Any, mark: Any) -> str:
    from pypdfium2 import raw

    if raw.FPDFAnnot_GetFlags(mark) & (raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW):
        return ""
    kind = raw.FPDFAnnot_GetFormFieldType(form, mark)
    if kind in _BOXES:
        return "☒" if raw.FPDFAnnot_IsChecked(form, mark) else "☐"
    if kind not in _TEXT_FIELDS:
        return ""
    size = raw.FPDFAnnot_GetFormFieldValue(form, mark, None, 0)
    if not 2 < size <= _MOST_SIGNS:
        return ""
    held = ctypes.create_string_buffer(size)
    place = ctypes.cast(held, ctypes.POINTER(raw.FPDF_WCHAR))
    raw.FPDFAnnot_GetFormFieldValue(form, mark, place, size)
    return " ".join(held.raw[: size - 2].decode("utf-16-le", "replace").split())

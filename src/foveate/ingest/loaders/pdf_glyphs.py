"""The characters and the form fields of a PDF page, with their places as the page is shown."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any

from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.pdf_layout import WIDE, Glyph, Piece

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Array = NDArray[np.float64]
    _Flags = NDArray[np.bool_]


_TEXT_FIELDS, _BOXES = (4, 5, 6), (2, 3)  # PDFium's: combo, list and text; check and radio
_MOST_FIELDS, _MOST_SIGNS = 10_000, 100_000
_MISSING = 0.01
_BOLD = re.compile(rb"bold|black|heavy|demi(?!light)|-medi(?!um)|cmbx|sfbx|ecbx", re.IGNORECASE)
_FORCED_BOLD = 1 << 18  # a flag of a font
_LONGEST_BOLD = 200  # characters; a longer line is no heading


def _turned(box: tuple[Any, Any, Any, Any], turn: int) -> tuple[Any, Any, Any, Any]:
    """The box, or boxes, on a page that is turned clockwise by so many degrees."""
    left, bottom, right, top = box
    if turn == 90:
        return bottom, -right, top, -left
    if turn == 180:
        return -right, -top, -left, -bottom
    if turn == 270:
        return -top, left, -bottom, right
    return box


def read_glyphs(spoken: Any, turn: int, *, with_bold: bool = False) -> Iterator[Glyph]:
    """The characters in the order of the file, white space without a place.

    Those of one height that follow one another without a wide gap are one, spaces included: most
    lines are, and a page costs a third of what it costs character by character.
    """
    import numpy as np
    from pypdfium2 import raw

    count = spoken.count_chars()
    text = spoken.get_text_range()
    is_direct = len(text) == count
    signs = text if is_direct else [_sign(raw.FPDFText_GetUnicode(spoken, n)) for n in range(count)]
    is_end = np.fromiter(map("\r\n".__contains__, signs), bool, count)
    is_space = np.fromiter(map(str.isspace, signs), bool, count)
    drawn = np.flatnonzero(~(is_end | is_space))
    sides, is_shown = _measure(spoken, drawn)
    shown = drawn[is_shown]
    left, top, right, bottom = sides[is_shown].T
    box = _turned((left, bottom, right, top), turn)
    goes_on = _goes_on(*box, np.cumsum(is_end)[shown])
    first = np.flatnonzero(~goes_on)
    last = np.append(first[1:], len(shown))[: len(first)] - 1
    left, bottom, right, top = box
    places = np.stack(
        [left[first], bottom[first], right[last], top[first], right[first], left[last]], axis=1
    )
    runs = zip(shown[first].tolist(), shown[last].tolist(), places.tolist(), strict=True)
    at = 0
    for start, end, place in runs:
        yield from map(Glyph, signs[at:start])
        at = end + 1
        run = Glyph("".join(signs[start:at]), *place)
        is_bold = with_bold and at - start <= _LONGEST_BOLD
        is_bold = is_bold and _is_bold(spoken, start) and _is_bold(spoken, end)
        yield run._replace(is_bold=True) if is_bold else run
    yield from map(Glyph, signs[at:])


def _measure(spoken: Any, places: NDArray[np.intp]) -> tuple[_Array, _Flags]:
    """The boxes of these characters, (n, 4): left, top, right, bottom; and which have one."""
    import numpy as np
    from pypdfium2 import raw

    # The pointers as numbers: ctypes takes half the time for these.
    kind = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    measure = kind(ctypes.cast(raw.FPDFText_GetLooseCharBox, ctypes.c_void_p).value or 0)
    page = ctypes.cast(spoken.raw, ctypes.c_void_p).value
    sides = np.zeros((len(places), 4), np.float32)
    start = sides.ctypes.data
    targets = range(start, start + sides.nbytes, 4 * sides.itemsize)
    has_box = np.fromiter(map(measure, repeat(page), places.tolist(), targets), bool, len(places))
    found = sides.astype(float)
    size = np.minimum(found[:, 1] - found[:, 3], found[:, 2] - found[:, 0])
    return found, has_box & (size >= _MISSING)


def _goes_on(left: _Array, bottom: _Array, right: _Array, top: _Array, line: _Array) -> _Flags:
    """Whether each character goes on with the one before, at its height and near it."""
    import numpy as np

    going = np.ones(len(left), bool)
    going[:1] = False
    for same in (bottom, top, line):
        going[1:] &= same[1:] == same[:-1]
    going[1:] &= (left[1:] >= left[:-1]) & (right[1:] >= right[:-1])
    going[1:] &= left[1:] - right[:-1] <= WIDE * (top - bottom)[1:]
    return going


def _is_bold(spoken: Any, at: int) -> bool:
    from pypdfium2 import raw

    name, flags = ctypes.create_string_buffer(256), ctypes.c_int()
    raw.FPDFText_GetFontInfo(spoken, at, name, len(name), flags)
    return bool(flags.value & _FORCED_BOLD or _BOLD.search(name.value))


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

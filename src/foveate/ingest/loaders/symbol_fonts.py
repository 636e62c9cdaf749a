"""What the characters of fonts of signs show: Symbol by Adobe's published table, some of Wingdings.

A file has them by their place in the font, `m` or U+F06D for a micro sign. What is in no table is
shown as U+FFFD, which the report counts, and never as nothing or as the letter of that code.
"""

from __future__ import annotations

import re

UNKNOWN = "\ufffd"
_SYMBOL = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾"
    "αβχδεφγηιϕκλ\u00b5νοπθρστυϖωξψζ{|}∼"
)
_SYMBOL_HIGH = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪"
    "\ufffd⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
_WINGDINGS = {
    **dict(zip(range(0x80, 0x96), "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿", strict=True)),
    **dict(zip(range(0xDF, 0xE7), "←→↑↓↖↗↙↘", strict=True)),
    **dict(zip(range(0xE7, 0xF3), "←→↑↓↖↗↙↘⇦⇨⇧⇩", strict=True)),
    **dict(zip((0x20, 0x28, 0x2A, 0x45, 0x46, 0x47, 0x48, 0x4A, 0x4C), " ☎✉☜☞☝☟☺☹", strict=True)),
    **dict(zip((0x6C, 0x6E, 0x6F, 0x71, 0x72, 0x75, 0x76, 0x77), "●■□❑❒◆❖◆", strict=True)),
    **dict(zip((0x9F, 0xA7, 0xA8, 0xAB, 0xD8, 0xF3, 0xF4), "•▪☐★➢⇔⇕", strict=True)),
    **dict(zip(range(0xFB, 0xFF), "✗✓☒☑", strict=True)),
}
_FONTS: dict[str, dict[int, str]] = {
    "symbol": {
        **dict(zip(range(0x20, 0x7F), _SYMBOL, strict=True)),
        **dict(zip(range(0xA0, 0xFF), _SYMBOL_HIGH, strict=True)),
    },
    "wingdings": _WINGDINGS,
    "wingdings 2": {
        **dict(zip(range(0x4F, 0x55), "✗✓☒☐☒☒", strict=True)),
        **dict(zip(range(0x6A, 0x74), "①②③④⑤⑥⑦⑧⑨⑩", strict=True)),
        **dict(zip((0x20, 0x52, 0x54, 0x97, 0xA3), " ☑☒●☐", strict=True)),
    },
    "wingdings 3": {0x20: " ", **dict(zip(range(0x66, 0x6A), "←→↑↓", strict=True)), 0x7D: "▶"},
    "webdings": {0x20: " ", 0x61: "✓", 0x72: "✗", 0x63: "□", 0x67: "■", 0x34: "▶"},
}
_FONTS["symbolmt"] = _FONTS["standard symbols ps"] = _FONTS["standard symbols l"] = _FONTS["symbol"]
_PRIVATE = re.compile("[\uf020-\uf0ff]")
_CODE = re.compile("[\\x20-\\xff\uf020-\uf0ff]")
_NOT_SHOWN = re.compile("[\ufffd\ue000-\uf8ff]")


def read_signs(text: str, font: str) -> str:
    """What the text shows in a font of that name; letters that no such font has stay.

    >>> read_signs("m", "Symbol"), read_signs("5 m", "Arial"), read_signs(chr(0xF0FC), "")
    ('µ', '5 m', '�')
    """
    known = _FONTS.get(font.lower().strip()) if font else None
    if known is not None:
        return _CODE.sub(lambda found: known.get(ord(found[0]) & 0xFF, UNKNOWN), text)
    return text if text.isascii() else _PRIVATE.sub(UNKNOWN, text)


def read_private_signs(text: str, font: str) -> str:
    """What private characters of the text show in a font that is for those alone."""
    if not font or text.isascii():
        return text
    return _PRIVATE.sub(lambda found: read_signs(found[0], font), text)


def read_sign(font: str, code: str) -> str:
    """The sign of that hexadecimal code in a font, as Word writes it (`w:sym`)."""
    try:
        return read_signs(chr(int(code, 16)), font)
    except (ValueError, OverflowError):
        return UNKNOWN


def count_lost_signs(text: str) -> int:
    """How many characters of the text stand for signs that were not read."""
    return 0 if text.isascii() else len(_NOT_SHOWN.findall(text))

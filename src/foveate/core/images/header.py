"""Media type and size of an image, by its first bytes."""

from __future__ import annotations

import struct
from typing import NamedTuple


class ImageHeader(NamedTuple):
    """What the first bytes of an image say: its media type, its width and height in pixels."""

    media_type: str
    width: int
    height: int


def read_image_header(data: bytes) -> ImageHeader | None:
    """The header of PNG, JPEG, GIF or WebP data; None if it is none of them, or cut too short.

    >>> read_image_header(b"GIF89a" + bytes([3, 0, 2, 0]))
    ImageHeader(media_type='image/gif', width=3, height=2)
    """
    try:
        if data[:8] == b"\x89PNG\r\n\x1a\n":
            return ImageHeader("image/png", *struct.unpack(">II", data[16:24]))
        if data[:4] == b"GIF8":
            return ImageHeader("image/gif", *struct.unpack("<HH", data[6:10]))
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp_header(data)
        return _jpeg_header(data) if data[:2] == b"\xff\xd8" else None
    except (struct.error, IndexError):
        return None


def _webp_header(data: bytes) -> ImageHeader | None:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        width, height = (1 + int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
    elif kind == b"VP8L":
        bits = struct.unpack("<I", data[21:25])[0]
        width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    elif kind == b"VP8 ":
        width, height = (size & 0x3FFF for size in struct.unpack("<HH", data[26:30]))
    else:
        return None
    return ImageHeader("image/webp", width, height)


def _jpeg_header(data: bytes) -> ImageHeader | None:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        if 0xC0 <= data[at + 1] <= 0xCF and data[at + 1] not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return ImageHeader("image/jpeg", width, height)
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None

"""Images inside a file: those that a provider takes, each once, within limits."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import pack
from typing import TYPE_CHECKING

from foveate.core.images import MAX_CAPTION, MAX_SIDE, image_hash
from foveate.core.images.header import read_image_header
from foveate.ingest.loaders.archive import Archive
from foveate.ingest.loaders.limits import Limits
from foveate.ports import LoadedImage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MIN_SIDE = 32
"""Pixels; what is smaller is a line, a bullet or a logo."""


@dataclass(slots=True)
class Pictures:
    """The images of a file so far. Raises `BadInput` over the limits `images` and `image_bytes`."""

    limits: Limits
    found: dict[str, LoadedImage] = field(default_factory=dict)
    _size: int = 0

    def add(
        self, data: bytes, start: int, end: int, *, page: int | None = None, caption: str = ""
    ) -> None:
        """Add an image of the text from `start` to `end`, unless it is known, small or unusable."""
        header = read_image_header(data)
        if header is None or min(header[1:]) < MIN_SIDE or max(header[1:]) > MAX_SIDE:
            return
        key = image_hash(data)
        if key in self.found:
            return
        self._size += len(data)
        self.limits.check_bound("images", len(self.found) + 1, "images")
        self.limits.check_bound("image_bytes", self._size, "bytes of images")
        caption = " ".join(caption.split())[:MAX_CAPTION]
        self.found[key] = LoadedImage(data=data, start=start, end=end, page=page, caption=caption)


def drawn_images(archive: Archive, part: str) -> Iterator[tuple[str, str]]:
    """The name and the alternative text of each image that a part of an Office file shows."""
    known = archive.relations(part)
    around = caption = ""  # Word says it of the drawing, PowerPoint of the picture in it
    for name, given in archive.starts(part):
        if name == "docPr":
            around = given.get("descr", "")
        elif name == "cNvPr":
            caption = given.get("descr", "") or around
        elif name == "blip":
            _, target = known.get(given.get("r:embed", ""), ("", ""))
            if archive.has(target):
                yield target, caption


def png_from_pixels(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG of an array of shape (height, width), or (height, width, 3 or 4) for RGB or RGBA."""
    height, width = pixels.shape[:2]
    colour = {1: 0, 3: 2, 4: 6}[1 if pixels.ndim == 2 else pixels.shape[2]]
    rows = b"".join(b"\0" + pixels[row].tobytes() for row in range(height))
    header = pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))
    written = (
        pack(">I", len(body)) + kind + body + pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)

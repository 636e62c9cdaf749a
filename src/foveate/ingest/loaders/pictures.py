"""Images inside a file: those that a provider takes, each once, within limits."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from struct import pack
from typing import TYPE_CHECKING

from foveate.core.images import MAX_CAPTION, MAX_SIDE, image_hash, read_image_header
from foveate.ingest.loaders.archive import Archive
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.loaders.tags import Tag, is_hidden, parse_attributes
from foveate.ports import LoadedDocument, LoadedImage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MIN_SIDE = 32
"""Pixels; what is smaller is a line, a bullet or a logo."""


_FILE_NAME = re.compile(r"\S*\.[A-Za-z]{3,4}")


@dataclass(slots=True)
class Pictures:
    """The images of a file so far. Raises `BadInput` over the limits `images` and `image_bytes`.

    `is_wanted`: whether they are read. `missed`: those that are not, or cannot be.
    """

    limits: Limits
    is_wanted: bool = False
    found: dict[str, LoadedImage] = field(default_factory=dict)
    missed: set[object] = field(default_factory=set)
    _size: int = 0

    def add(
        self,
        key: object,
        read: Callable[[], bytes],
        start: int,
        end: int,
        *,
        page: int | None = None,
        caption: str = "",
    ) -> None:
        """Add an image of the text from `start` to `end`, unless it is known, small or unusable.

        `key`: what it is in its file, where it may be shown several times.
        """
        data = read() if self.is_wanted else b""
        header = read_image_header(data) if data else None
        if header is None or max(header[1:]) > MAX_SIDE:
            self.missed.add(key)
            return
        name = image_hash(data)
        if min(header[1:]) < MIN_SIDE or name in self.found:
            return
        self._size += len(data)
        self.limits.check_bound("images", len(self.found) + 1, "images")
        self.limits.check_bound("image_bytes", self._size, "bytes of images")
        caption = " ".join(caption.split())[:MAX_CAPTION]
        self.found[name] = LoadedImage(data=data, start=start, end=end, page=page, caption=caption)

    def finish(self, loaded: LoadedDocument) -> LoadedDocument:
        """The document with its images, and the number of those that are not read."""
        missed = {"pictures": len(self.missed)} if self.missed else {}
        images = tuple(self.found.values())
        return replace(loaded, images=images, left_out={**loaded.left_out, **missed})


def picture_words(caption: str) -> str:
    r"""What stands in a text for a picture; empty without words that say what it shows.

    >>> picture_words(" The\nwheel"), picture_words("image1.png")
    (' [picture: The wheel]', '')
    """
    words = " ".join(caption.split())[:MAX_CAPTION]
    return f" [picture: {words}]" if words and not _FILE_NAME.fullmatch(words) else ""


def read_picture(tag: Tag) -> tuple[str, str] | None:
    """The source of an `img` and its words; None if it is hidden, small or a decoration."""
    given = parse_attributes(tag.raw)
    sides = [each for name in ("width", "height") if (each := given.get(name, "")).isdecimal()]
    is_small = any(int(side[:9]) < MIN_SIDE for side in sides)
    if is_small or given.get("alt", "-").strip() == "" or is_hidden(tag.raw):
        return None
    return given.get("src", ""), picture_words(given.get("alt", ""))


@dataclass(slots=True)
class DrawnPictures:
    """The pictures that a part of an Office file draws, by its elements in their order."""

    archive: Archive
    part: str
    caption: str = ""
    _around: str = ""  # Word says it of the drawing, PowerPoint of the picture in it

    def begins(self, name: str, given: Mapping[str, str]) -> bool:
        """Whether this element is a picture, which `caption` says in words."""
        if name == "docPr":
            self._around = given.get("descr", "")
        elif name == "cNvPr":
            self.caption = given.get("descr", "") or self._around
        return name == "blip"

    def target(self, given: Mapping[str, str]) -> tuple[str, Callable[[], bytes]]:
        """The name of the picture of these attributes, and how to read it."""
        relation = given.get("r:embed", given.get("r:link", ""))
        name = self.archive.relations(self.part).get(relation, ("", ""))[1]
        is_inside = self.archive.has(name)
        return name or relation, partial(self.archive.read, name) if is_inside else bytes


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

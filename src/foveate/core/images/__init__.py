"""Images that a candidate carries: by reference or by hash, never their bytes.

They are metadata of a chunk, under the key `images`, and so go through every store, bundle and hash
as metadata does. A record of a candidate may give them beside its text.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from blake3 import blake3

from foveate.core.checks import check_integer, check_string
from foveate.core.errors import BadInput

IMAGES = "images"
"""The key of a chunk's metadata, and of a candidate's record."""
MEDIA_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
MAX_SIDE = 16_384
"""Pixels; no provider takes an image of a longer side."""
MAX_IMAGES = 100
"""Of one candidate, and of one context: what providers take with one request."""
MAX_CAPTION = 4_000  # characters
HASH_SCHEME = "blake3:"
"""What the hash of an image's bytes stands behind in a content part, in place of an address."""

_HASH = re.compile(r"[0-9a-f]{32}")
_URL = re.compile(r"https?://[-A-Za-z0-9._~:/?#@!$&'()*+,;=%]{1,4000}")
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
_SECRET = re.compile(
    r"(?i)(?:token|secret|signature|credential|passw|api[-_]?key|auth(?!or)|session|jwt)"
    r"|^(?:sig|key|pwd|code|hmac|se|sp|sv)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image by its address (`url`), the hash of its bytes (`hash`), or both.

    `width` and `height` are pixels. `hash` is BLAKE3, 32 hex digits. `page`: of the document.
    Raises `BadInput` naming the field and what to give.
    """

    media_type: str
    width: int
    height: int
    url: str = ""
    hash: str = ""
    caption: str = ""
    page: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no provider takes, and what must not be written into bundles and logs."""
        for name in ("media_type", "url", "hash", "caption"):
            check_string(name, getattr(self, name))
        for name, message in _faults(self):
            raise BadInput(message, field=name)
        if self.page is not None:
            check_integer("page", self.page)

    @property
    def reference(self) -> str:
        """What stands for the image in a content part: its address, or `blake3:` and its hash."""
        return self.url or HASH_SCHEME + self.hash

    def to_json(self) -> dict[str, Any]:
        """The image as an object of a candidate's `images`; what is empty is left out."""
        return {name: value for name, value in asdict(self).items() if value not in ("", None)}


_FIELDS = tuple(one.name for one in fields(Image))
_REQUIRED = ("media_type", "width", "height")


def _faults(image: Image) -> Iterator[tuple[str, str]]:
    """Each field that is wrong, and what to give."""
    if image.media_type not in MEDIA_TYPES:
        yield "media_type", f"is {image.media_type!r}; give one of {', '.join(MEDIA_TYPES)}"
    wanted = (
        f"give the image's size in pixels, 1 to {MAX_SIDE} a side, and scale a larger image down"
    )
    for name, size in (("width", image.width), ("height", image.height)):
        if type(size) is not int or not 1 <= size <= MAX_SIDE:
            yield name, f"is {size!r}; {wanted}"
    if not image.url and not image.hash:
        yield "url", "is missing; give the image's url or the hash of its bytes"
    if image.hash and not _HASH.fullmatch(image.hash):
        yield "hash", "must be BLAKE3 of the image's bytes, 32 hex digits"
    if image.url:
        yield from (("url", message) for message in _faults_of_url(image.url))
    if len(image.caption) > MAX_CAPTION:
        yield "caption", f"has {len(image.caption)} characters; give at most {MAX_CAPTION}"


def _faults_of_url(url: str) -> Iterator[str]:
    """Addresses with secrets would be in every bundle; no message repeats one."""
    if url[:5].lower() == "data:":
        yield "holds the image's bytes; give their hash (image_from_bytes)"
    if not _URL.fullmatch(url):
        yield "must be an http or https address of ASCII characters, at most 4,000 of them"
    authority, *_ = re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)
    advice = "give an address without it, or the hash of the bytes"
    if "@" in authority:
        yield f"holds a user name or password; {advice}"
    for parameter in re.split(r"[?#&;]", url)[1:]:
        name = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), parameter.partition("=")[0])
        if _SECRET.search(name):
            yield f"has a parameter {name[:40]!r}, a secret; {advice}"


def image_from_bytes(data: bytes, *, caption: str = "", page: int | None = None) -> Image:
    """The image of these bytes by its hash, with type and size as its first bytes say.

    Raises `BadInput` if they are no PNG, JPEG, WebP or GIF.
    """
    header = read_image_header(data)
    if header is None:
        raise BadInput("are no PNG, JPEG, WebP or GIF data", field="images")
    media_type, width, height = header
    return Image(
        media_type=media_type,
        width=width,
        height=height,
        hash=image_hash(data),
        caption=caption,
        page=page,
    )


def image_hash(data: bytes) -> str:
    """BLAKE3 of an image's bytes, 32 hex digits."""
    return blake3(data).hexdigest(16)


def parse_images(value: Any) -> tuple[Image, ...]:
    """Images from a list of objects or `Image` values; raises `BadInput` naming place and field."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise BadInput("must be a list of objects", field=IMAGES)
    if len(value) > MAX_IMAGES:
        raise BadInput(f"has {len(value)} images; give at most {MAX_IMAGES}", field=IMAGES)
    return tuple(_parse_image(item, place) for place, item in enumerate(value))


def _parse_image(item: Any, place: int) -> Image:
    where = f"{IMAGES}[{place}]"
    if isinstance(item, Image):
        return item
    if not isinstance(item, Mapping):
        raise BadInput(f"must be an object, not {type(item).__name__}", field=where)
    for name in item:
        if name not in _FIELDS:
            raise BadInput(f"is unknown; give {', '.join(_FIELDS)}", field=f"{where}.{name}")
    for name in _REQUIRED:
        if item.get(name) is None:
            advice = "image_from_bytes reads type and size from the image's bytes"
            raise BadInput(f"is missing; {advice}", field=f"{where}.{name}")
    try:
        return Image(**{name: value for name, value in item.items() if value is not None})
    except BadInput as error:
        message = str(error).removeprefix(f"field {error.field!r}: ")
        raise BadInput(message, field=f"{where}.{error.field}") from None


def images_to_json(value: Any) -> list[dict[str, Any]]:
    """A candidate's `images`, checked, as its chunk's metadata holds them."""
    return [image.to_json() for image in parse_images(value)]


def images_of(metadata: Mapping[str, Any]) -> tuple[Image, ...]:
    """The images in a chunk's metadata; none if `images` there has another form.

    Raises `BadInput` for images with wrong fields.
    """
    found = metadata.get(IMAGES)
    if not found or not isinstance(found, list | tuple):
        return ()
    if not all(isinstance(one, Mapping) and ("url" in one or "hash" in one) for one in found):
        return ()
    return parse_images(found) if all("media_type" in one for one in found) else ()


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
